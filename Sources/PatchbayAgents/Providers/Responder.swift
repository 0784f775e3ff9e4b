public import Wire

/// Writes an assistant's responses: a language model, or rules. Thread-safe: one instance serves all calls of a process.
public protocol Responder: Sendable {
    /// Responds to the last message of a conversation.
    ///
    /// After `toolCall` parts and the end of the stream, the pipeline runs the tools, appends their results to the conversation and calls
    /// this again. Cancelling the reading task abandons the request.
    ///
    /// - Returns: parts as they become available. The stream throws `ProviderError`.
    func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error>

    /// Whether to request a response as soon as the user pauses, before the end of the turn is decided. It is abandoned if the user
    /// continues. True by default; responders that answer at once need no head start.
    var isWorthPreparing: Bool { get }
}

extension Responder {
    public var isWorthPreparing: Bool { true }
}

/// A part of a response.
public enum ResponsePart: Sendable, Hashable {
    /// Text to be spoken, a few characters or several sentences.
    case text(String)
    /// A tool to be run. Complete: its arguments are not streamed.
    case toolCall(ToolCall)
    /// Says something later, in a turn of its own, as soon as nobody speaks. Takes effect once the turn is audible.
    case schedule(Reminder)
    /// Cancels one of `Conversation.reminders`. Takes effect once the turn is audible.
    case cancelSchedule(String)
    /// The call shall end once everything was spoken.
    case endCall
}

/// A request to run a tool.
public struct ToolCall: Sendable, Hashable, Codable {
    /// Unique within the conversation.
    public var id: String
    public var name: String
    /// A JSON object, unverified.
    public var arguments: String

    public init(id: String, name: String, arguments: String) {
        self.id = id
        self.name = name
        self.arguments = arguments
    }
}

/// The input of a responder.
public struct Conversation: Sendable, Hashable {
    /// The assistant's instructions, then the session's context and earlier summaries.
    public var instructions: String
    /// Oldest first. What an interrupted assistant said contains only what was heard.
    public var messages: [ConversationMessage]
    public var tools: [AssistantTool]
    /// BCP 47 tag.
    public var language: String
    /// The user's display name; empty if unknown.
    public var userName: String
    /// Reminders of this call that are not due yet, soonest first.
    public var reminders: [PendingReminder]
    /// How to answer, and what is true at this moment, for a model: that the answer is spoken, the time, and what was heard of an
    /// interrupted answer.
    public var briefing: String

    public init(
        instructions: String = "", messages: [ConversationMessage] = [], tools: [AssistantTool] = [], language: String = "en",
        userName: String = "", reminders: [PendingReminder] = [], briefing: String = ""
    ) {
        self.instructions = instructions
        self.messages = messages
        self.tools = tools
        self.language = language
        self.userName = userName
        self.reminders = reminders
        self.briefing = briefing
    }
}

/// A message of a conversation.
public enum ConversationMessage: Sendable, Hashable {
    case user(String)
    /// Text that was spoken, and tools that were called.
    case assistant(String, toolCalls: [ToolCall] = [])
    case toolResult(id: String, String)
    /// A key that the user pressed.
    case digits(String)
}
