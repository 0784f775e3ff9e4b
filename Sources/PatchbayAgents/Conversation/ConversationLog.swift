internal import Wire

/// The messages of a conversation, as the responder receives them. A pure value.
///
/// Bounded: the oldest messages are omitted, never the instructions.
struct ConversationLog: Sendable, Hashable {
    static let messagesMax = 200
    static let charactersMax = 24_000

    private(set) var messages: [ConversationMessage] = []
    /// Users who said something. With more than one, messages name their speaker.
    private var names: [Identity: String] = [:]
    private var speakers: [Identity] = []

    mutating func setName(_ name: String, of user: Identity) {
        names[user] = name.isEmpty ? nil : name
    }

    func name(of user: Identity) -> String? { names[user] }

    mutating func append(_ message: UserMessage) {
        if !speakers.contains(message.speaker) { speakers.append(message.speaker) }
        if message.kind == .digits { return add(.digits(message.text)) }
        let text = speakers.count > 1 ? "\(names[message.speaker] ?? message.speaker.text): \(message.text)" : message.text
        // Consecutive utterances are one message: models expect users and assistants to alternate.
        if case .user(let before)? = messages.last {
            messages[messages.count - 1] = .user(before + "\n" + text)
        } else {
            add(.user(text))
        }
    }

    /// Appends the heard part of the assistant's speech. A message without text is kept only if it has tool calls.
    mutating func append(assistant text: String, toolCalls: [ToolCall] = []) {
        if !text.isEmpty || !toolCalls.isEmpty { add(.assistant(text, toolCalls: toolCalls)) }
    }

    mutating func append(result: String, of call: ToolCall) {
        add(.toolResult(id: call.id, result))
    }

    private mutating func add(_ message: ConversationMessage) {
        messages.append(message)
        var size = messages.reduce(0) { $0 + $1.count }
        while messages.count > 1, messages.count > Self.messagesMax || size > Self.charactersMax {
            size -= messages.removeFirst().count
            // A tool's result without its call is meaningless to a model.
            while case .toolResult? = messages.first { size -= messages.removeFirst().count }
        }
    }
}

extension ConversationMessage {
    /// Characters.
    fileprivate var count: Int {
        switch self {
        case .user(let text), .digits(let text), .toolResult(_, let text): text.count
        case .assistant(let text, let calls): text.count + calls.reduce(0) { $0 + $1.arguments.count }
        }
    }
}
