internal import Foundation
public import Logging
internal import PatchbayClient
public import Wire

/// The providers of a pipeline.
public struct AgentEngines: Sendable {
    public var detector: any VoiceActivityDetectorFactory
    /// Judges by its sound whether an utterance has ended; nil leaves it to the text.
    public var turnDetector: (any TurnDetector)?
    /// Recognizes the users' words for turn-taking and the transcript.
    public var recognizer: any SpeechRecognizer
    /// Unused with `realtime`.
    public var responder: any Responder
    /// With `realtime`, only for what the assistant says on its own: a greeting, a question, an apology.
    public var synthesizer: any SpeechSynthesizer
    public var tools: any ToolRunner
    /// Speaks the assistant's own texts, such as greetings, which are the same in many calls.
    public var announcer: any SpeechSynthesizer
    /// Hears the users and speaks the responses, if set.
    public var realtime: (any RealtimeProvider)?
    /// The languages that the engines support.
    public var languages: EngineLanguages

    /// - Parameter announcer: nil is `synthesizer`.
    public init(
        detector: any VoiceActivityDetectorFactory, turnDetector: (any TurnDetector)? = nil, recognizer: any SpeechRecognizer,
        responder: any Responder, synthesizer: any SpeechSynthesizer, tools: any ToolRunner = NoTools(),
        announcer: (any SpeechSynthesizer)? = nil,
        realtime: (any RealtimeProvider)? = nil, languages: EngineLanguages = EngineLanguages()
    ) {
        self.detector = detector
        self.turnDetector = turnDetector
        self.recognizer = recognizer
        self.responder = responder
        self.synthesizer = synthesizer
        self.tools = tools
        self.announcer = announcer ?? synthesizer
        self.realtime = realtime
        self.languages = languages
    }
}

/// Runs tools for an assistant.
public protocol ToolRunner: Sendable {
    /// Runs a tool and returns its result for the responder.
    func run(_ call: ToolCall, of tool: AssistantTool) async -> ToolOutcome
}

public enum ToolOutcome: Sendable, Hashable {
    case result(String)
    /// - Parameters:
    ///   - message: for the user.
    ///   - retry: whether the same call may succeed later.
    case failed(message: String, retry: Bool)
}

/// The tool runner of assistants without tools.
public struct NoTools: ToolRunner {
    public init() {}

    public func run(_ call: ToolCall, of tool: AssistantTool) async -> ToolOutcome {
        .failed(message: "The tool \(call.name) is not available.", retry: false)
    }
}

/// The embedded engines, loaded once and shared by all calls of a process.
public struct EmbeddedEngines: Sendable {
    private let detector: any VoiceActivityDetectorFactory
    private let turnDetector: (any TurnDetector)?
    private let recognizer: any SpeechRecognizer
    private let synthesizer: any SpeechSynthesizer
    /// The secrets that the assistants' providers may use.
    private let secrets: ProviderSecrets
    /// The speech of greetings and other texts of the assistants' own.
    private(set) var cache = SpeechCache()

    init(
        detector: any VoiceActivityDetectorFactory, turnDetector: (any TurnDetector)? = nil, recognizer: any SpeechRecognizer,
        synthesizer: any SpeechSynthesizer, secrets: ProviderSecrets = ProviderSecrets()
    ) {
        self.detector = detector
        self.turnDetector = turnDetector
        self.recognizer = recognizer
        self.synthesizer = synthesizer
        self.secrets = secrets
    }

    /// Loads the models and warms them up: about two seconds.
    ///
    /// - Parameter secrets: those that the definitions of assistants may use.
    /// - Throws: `ProviderError` with code `unavailable` if a model is missing; its message says how to install it.
    public static func load(
        from models: ModelsFolder = .standard, secrets: ProviderSecrets = ProviderSecrets(),
        logger: Logger = Logger(label: "patchbay.agent")
    ) async throws -> Self {
        if let problem = models.problem { throw ProviderError(.unavailable, problem) }
        let synthesizer = EmbeddedSynthesizer(models: models, logger: logger)
        async let detector = SileroDetectorFactory(models: models)
        async let turnDetector = SmartTurnDetector(models: models)
        async let recognizer = MoonshineRecognizer(models: models)
        // The first synthesis of a process takes a second, which no user should wait for.
        for try await _ in synthesizer.synthesize("Hello.", voice: "alloy") {}
        return Self(
            detector: try await detector, turnDetector: try await turnDetector, recognizer: try await recognizer, synthesizer: synthesizer,
            secrets: secrets)
    }

    /// As those of a process that has just started.
    package var withoutCachedSpeech: Self {
        var engines = self
        engines.cache = SpeechCache()
        return engines
    }

    /// The engines of an assistant: the providers that it names, and the embedded ones for the others. A realtime provider also needs a
    /// recognizer, for turn-taking and transcripts, and a synthesizer, for what the assistant says on its own.
    ///
    /// - Parameter tools: runs the assistant's tools.
    /// - Throws: `ProviderError` if a provider's settings are invalid, or name a secret that the process does not list.
    public func engines(for assistant: AssistantDefinition, tools: any ToolRunner = NoTools()) throws -> AgentEngines {
        let announcer = try announcer(for: assistant)
        let providers = assistant.providers
        return AgentEngines(
            detector: detector, turnDetector: turnDetector,
            recognizer: try providers.recognizer.map { try OpenAIRecognizer($0, secrets: secrets) } ?? recognizer,
            responder: try providers.responder.map { try OpenAIResponder($0, secrets: secrets) } ?? RulesResponder(name: assistant.name),
            synthesizer: announcer.synthesizer, tools: tools, announcer: announcer,
            realtime: try providers.realtime.map { try OpenAIRealtime($0, secrets: secrets) }, languages: EngineLanguages(of: providers))
    }

    private func announcer(for assistant: AssistantDefinition) throws -> CachedSynthesizer {
        let provider = assistant.providers.synthesizer
        return CachedSynthesizer(
            synthesizer: try provider.map { try OpenAISynthesizer($0, secrets: secrets) } ?? synthesizer, provider: provider, cache: cache)
    }

    /// Prepares the speech of a definition's greetings, so that calls need not wait for it.
    ///
    /// Returns when they are prepared, or soon after the task is cancelled. Calls synthesize anything that could not be prepared.
    ///
    /// - Parameter clips: used if the assistant speaks with the embedded synthesizer, whose voices the clips have.
    func prepareGreetings(of assistant: AssistantDefinition, from clips: (any SpeechClipSource)?, logger: Logger) async {
        guard !assistant.greetings.isEmpty, let announcer = try? announcer(for: assistant) else { return }
        let usesClips = assistant.providers.synthesizer == nil
        await GreetingPreparation(synthesizer: announcer, clips: usesClips ? clips : nil, logger: logger).prepare(assistant)
    }
}

/// The configuration that all parts of a pipeline share.
struct PipelineConfiguration: Sendable {
    let speech: ConversationSpeech
    let engines: AgentEngines
    let phrases: AssistantPhrases
    /// The definition's, and the session's context.
    let instructions: String
    let logger: Logger
    let clock: PipelineClock
    /// Receives the metrics of each turn.
    let onMetrics: @Sendable (TurnMetrics) -> Void

    var definition: AssistantDefinition { speech.definition }
}

/// The time of a pipeline. Tests have one of their own, so that a loaded machine does not make users late.
struct PipelineClock: Sendable {
    var now: @Sendable () -> Instant = { MediaClock.now }
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// Date and time zone, for models.
    var moment: @Sendable () -> (date: Date, zone: TimeZone) = { (Date(), TimeZone.current) }
}
