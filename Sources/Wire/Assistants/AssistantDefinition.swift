/// The configuration of an assistant: how it speaks, what it may do, and how clients present it.
///
/// Written in YAML or JSON with names in snake_case. Every field except `id` has a default.
public struct AssistantDefinition: Sendable, Hashable, Codable {
    /// 1 to 64 letters, digits, `-` and `_`.
    public var id: String
    /// The display name.
    public var name: String
    /// The system prompt.
    public var instructions: String
    /// One is chosen for each call. `{name}` is replaced by the user's name.
    public var greetings: [String]
    /// One of `voices`.
    public var voice: String
    /// BCP 47 tag.
    public var language: String
    public var providers: AssistantProviders
    public var tools: [AssistantTool]
    /// Phrases that a client offers as buttons; pressing one sends it as text.
    public var quickCommands: [String]
    /// Spoken once to a new user, sentence by sentence.
    public var onboarding: [String]
    /// How long after the end of a user's turn a filler such as "One moment." is spoken if nothing of the response is audible, in milliseconds.
    /// 0 is never; 1,500 by default.
    public var fillerAfterMs: Int
    public var widget: WidgetSettings

    /// The product voices.
    public static let voices = ["alloy", "echo", "fable", "onyx", "nova", "shimmer"]

    public init(
        id: String, name: String = "Assistant", instructions: String = "", greetings: [String] = [], voice: String = "alloy",
        language: String = "en", providers: AssistantProviders = AssistantProviders(), tools: [AssistantTool] = [],
        quickCommands: [String] = [], onboarding: [String] = [], fillerAfterMs: Int = AssistantLimits.fillerAfterMillisecondsDefault,
        widget: WidgetSettings = WidgetSettings()
    ) {
        self.id = id
        self.name = name
        self.instructions = instructions
        self.greetings = greetings
        self.voice = voice
        self.language = language
        self.providers = providers
        self.tools = tools
        self.quickCommands = quickCommands
        self.onboarding = onboarding
        self.fillerAfterMs = fillerAfterMs
        self.widget = widget
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let base = AssistantDefinition(id: try fields.decode(String.self, forKey: .id))
        id = base.id
        name = try fields.decodeIfPresent(String.self, forKey: .name) ?? base.name
        instructions = try fields.decodeIfPresent(String.self, forKey: .instructions) ?? base.instructions
        greetings = try fields.decodeIfPresent([String].self, forKey: .greetings) ?? base.greetings
        voice = try fields.decodeIfPresent(String.self, forKey: .voice) ?? base.voice
        language = try fields.decodeIfPresent(String.self, forKey: .language) ?? base.language
        providers = try fields.decodeIfPresent(AssistantProviders.self, forKey: .providers) ?? base.providers
        tools = try fields.decodeIfPresent([AssistantTool].self, forKey: .tools) ?? base.tools
        quickCommands = try fields.decodeIfPresent([String].self, forKey: .quickCommands) ?? base.quickCommands
        onboarding = try fields.decodeIfPresent([String].self, forKey: .onboarding) ?? base.onboarding
        // Null is never, too.
        let fillerAfter = fields.contains(.fillerAfterMs) ? 0 : base.fillerAfterMs
        fillerAfterMs = try fields.decodeIfPresent(Int.self, forKey: .fillerAfterMs) ?? fillerAfter
        widget = try fields.decodeIfPresent(WidgetSettings.self, forKey: .widget) ?? base.widget
    }
}

/// Attributes of a user's token: the user's choices for the conversations that the token admits to.
public enum SpeechAttribute {
    /// One of `AssistantDefinition.voices`.
    public static let voice = "patchbay.voice"
    /// A BCP 47 tag.
    public static let language = "patchbay.language"
}

/// Which provider performs each stage. Nil is the embedded one.
public struct AssistantProviders: Sendable, Hashable, Codable {
    public var recognizer: ProviderSettings?
    public var responder: ProviderSettings?
    public var synthesizer: ProviderSettings?
    /// Speech to speech: replaces the responder, and the synthesizer except for what the assistant says on its own.
    public var realtime: ProviderSettings?

    public init(
        recognizer: ProviderSettings? = nil, responder: ProviderSettings? = nil, synthesizer: ProviderSettings? = nil,
        realtime: ProviderSettings? = nil
    ) {
        self.recognizer = recognizer
        self.responder = responder
        self.synthesizer = synthesizer
        self.realtime = realtime
    }
}

/// An OpenAI-compatible server.
public struct ProviderSettings: Sendable, Hashable, Codable {
    /// For example `https://api.openai.com/v1`; `wss://` for realtime.
    public var baseUrl: String
    /// The name of the secret with the API key, one of those that the agent process lists. Nil sends none.
    public var apiKeyEnv: String?
    public var model: String
    /// The server's name for the voice. Nil sends the assistant's voice.
    public var voice: String?
    /// From the request until the answer begins, with all repetitions, and the longest pause within it. In milliseconds; 10,000 by default.
    public var timeoutMs: Int?
    /// Repetitions after a retryable failure; 2 by default.
    public var retries: Int?
    /// Of a recognizer: whether it is asked for partial results while the user speaks; false by default.
    public var partialResults: Bool?
    /// Of a responder: whether it is asked when the user pauses, before the end of the turn is decided; true by default. An answer is
    /// discarded if the user continues, so a responder that is asked early gets more requests.
    public var askEarly: Bool?

    public init(
        baseUrl: String, apiKeyEnv: String? = nil, model: String, voice: String? = nil, timeoutMs: Int? = nil, retries: Int? = nil,
        partialResults: Bool? = nil, askEarly: Bool? = nil
    ) {
        self.baseUrl = baseUrl
        self.apiKeyEnv = apiKeyEnv
        self.model = model
        self.voice = voice
        self.timeoutMs = timeoutMs
        self.retries = retries
        self.partialResults = partialResults
        self.askEarly = askEarly
    }
}

/// A function that an assistant may call.
public struct AssistantTool: Sendable, Hashable, Codable {
    /// 1 to 64 letters, digits, `-` and `_`.
    public var name: String
    /// For the language model.
    public var description: String
    /// The JSON Schema of the arguments, as JSON text. `{}` allows any object.
    public var parameters: String
    /// Called by the gateway with a signed POST.
    public var url: String
    /// Until the last byte of the answer, in milliseconds; 10,000 by default, 60,000 at most.
    public var timeoutMs: Int?

    public init(name: String, description: String = "", parameters: String = "{}", url: String, timeoutMs: Int? = nil) {
        self.name = name
        self.description = description
        self.parameters = parameters
        self.url = url
        self.timeoutMs = timeoutMs
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try fields.decode(String.self, forKey: .name),
            description: try fields.decodeIfPresent(String.self, forKey: .description) ?? "",
            parameters: try fields.decodeIfPresent(String.self, forKey: .parameters) ?? "{}",
            url: try fields.decode(String.self, forKey: .url), timeoutMs: try fields.decodeIfPresent(Int.self, forKey: .timeoutMs))
    }
}

/// How a client presents an assistant.
public struct WidgetSettings: Sendable, Hashable, Codable {
    /// The label of the button that starts a conversation.
    public var startText: String?
    public var logoUrl: String?
    /// `light`, `dark` or `auto`.
    public var theme: String?
    /// `verdant`, `twilight`, `bloom`, `mystic`, `flare` or `glacier`.
    public var visualizerColor: String?
    public var visualizerPreset: String?
    /// Shown while the assistant thinks.
    public var thinkingText: String?
    /// Shown while the assistant speaks: how to interrupt it.
    public var interruptText: String?
    /// `collapsed` or `expanded`.
    public var startState: String?
    /// Links to the user's earlier conversations and to a feedback form.
    public var historyUrl: String?
    public var feedbackUrl: String?

    public init(
        startText: String? = nil, logoUrl: String? = nil, theme: String? = nil, visualizerColor: String? = nil,
        visualizerPreset: String? = nil, thinkingText: String? = nil, interruptText: String? = nil, startState: String? = nil,
        historyUrl: String? = nil, feedbackUrl: String? = nil
    ) {
        self.startText = startText
        self.logoUrl = logoUrl
        self.theme = theme
        self.visualizerColor = visualizerColor
        self.visualizerPreset = visualizerPreset
        self.thinkingText = thinkingText
        self.interruptText = interruptText
        self.startState = startState
        self.historyUrl = historyUrl
        self.feedbackUrl = feedbackUrl
    }
}
