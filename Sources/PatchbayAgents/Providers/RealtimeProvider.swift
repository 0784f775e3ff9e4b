public import Wire

/// A model that hears and speaks: it replaces recognizer, responder and synthesizer. Thread-safe: one instance serves all calls of a process.
public protocol RealtimeProvider: Sendable {
    /// Opens the session of one call. The provider does not detect speech: the pipeline decides when a turn ends.
    ///
    /// - Throws: `ProviderError`, `CancellationError`.
    func open(_ configuration: RealtimeConfiguration) async throws -> any RealtimeSession
}

/// The session of one call with a realtime provider. Audio is mono, 16 bits, at `RealtimeConfiguration.sampleRate`.
public protocol RealtimeSession: Sendable {
    /// Events of the provider, for one reader. The stream ends when the session is closed, and throws `ProviderError` if it is lost.
    ///
    /// The queue is limited: a session whose events are not read ends with `invalidResponse`.
    var events: AsyncThrowingStream<RealtimeEvent, any Error> { get }

    /// Queues a request. May be called from any thread; after the end of the session it does nothing.
    func send(_ request: RealtimeRequest)
    /// Closes the session. To be called once for each session.
    func close()
}

/// A command of a pipeline to a realtime session.
public enum RealtimeRequest: Sendable, Hashable {
    /// Append the user's speech to the input buffer.
    case appendAudio([Int16])
    /// The user's turn has ended: the input buffer, at least 100 ms, becomes an item of the conversation.
    case commitAudio
    /// Discard the input buffer.
    case clearAudio
    /// Append what the user wrote.
    case appendUserText(String)
    /// Append what the assistant said without the provider: a greeting, or its part of an earlier conversation.
    case appendAssistantText(String)
    /// Append the result of a tool; `call` is the `id` of the `ToolCall`.
    case appendToolResult(String, call: String)
    /// Respond to the conversation so far.
    case createResponse
    /// Stop the response in progress, if there is one.
    case cancelResponse
    /// Forget what the user did not hear of an item: what follows `played`, which is at most what was received.
    case truncate(item: String, played: Duration)
}

/// The configuration of a realtime session.
public struct RealtimeConfiguration: Sendable, Hashable {
    /// Hz, in both directions.
    public static let sampleRate = 24_000

    /// The assistant's instructions, then the session's context and earlier summaries.
    public var instructions: String
    /// A product voice or a name that the provider defines.
    public var voice: String
    public var tools: [AssistantTool]
    /// BCP 47 tag; empty if unknown.
    public var language: String
    /// The user's display name; empty if unknown.
    public var userName: String
    /// How to answer, and what is true when the session begins: see `Conversation.briefing`.
    public var briefing: String

    public init(
        instructions: String = "", voice: String, tools: [AssistantTool] = [], language: String = "", userName: String = "",
        briefing: String = ""
    ) {
        self.instructions = instructions
        self.voice = voice
        self.tools = tools
        self.language = language
        self.userName = userName
        self.briefing = briefing
    }
}

/// An event of a realtime session. An item is one message of the conversation.
public enum RealtimeEvent: Sendable, Hashable {
    /// The user's turn became an item.
    case inputCommitted(item: String)
    /// Text that the user said, to be appended to the item's text.
    case userTranscriptDelta(item: String, String)
    /// All that the user said in an item; empty if it was not understood.
    case userTranscript(item: String, String)
    case responseStarted(id: String)
    /// Speech of the assistant, in order.
    case audio(item: String, samples: [Int16])
    /// Text that the assistant says, to be appended to the item's text. Runs ahead of the audio.
    case transcriptDelta(item: String, String)
    /// The result is sent with `appendToolResult`, followed by `createResponse`.
    case toolCall(ToolCall)
    /// The call shall end once everything was spoken.
    case endCall
    /// - Parameter id: empty if `createResponse` was refused.
    case responseDone(id: String, RealtimeOutcome)
    /// Another request was refused. The session goes on.
    case error(ProviderError)
}

/// How a response ended.
public enum RealtimeOutcome: Sendable, Hashable {
    case completed
    /// By `cancelResponse`.
    case cancelled
    case failed(ProviderError)
}
