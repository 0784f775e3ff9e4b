public import Wire

/// The providers of a pipeline.
public struct AgentEngines: Sendable {
    public var detector: any VoiceActivityDetectorFactory
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

    /// - Parameter announcer: nil is `synthesizer`.
    public init(
        detector: any VoiceActivityDetectorFactory, recognizer: any SpeechRecognizer, responder: any Responder,
        synthesizer: any SpeechSynthesizer, tools: any ToolRunner = NoTools(), announcer: (any SpeechSynthesizer)? = nil,
        realtime: (any RealtimeProvider)? = nil
    ) {
        self.detector = detector
        self.recognizer = recognizer
        self.responder = responder
        self.synthesizer = synthesizer
        self.tools = tools
        self.announcer = announcer ?? synthesizer
        self.realtime = realtime
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

/// What an assistant says on its own, in its language.
public struct AssistantPhrases: Sendable, Hashable {
    public var question = "Are you still there?"
    public var apology = "Sorry, something went wrong. Could you try that again?"
    public var notUnderstood = "Sorry, I didn't catch that. Could you say it again?"
    /// When a tool has failed and the responder says nothing about it.
    public var toolFailed = "Sorry, that didn't work."

    public init() {}

    func text(of phrase: AssistantPhrase) -> String {
        switch phrase {
        case .question: question
        case .apology: apology
        case .notUnderstood: notUnderstood
        }
    }
}
