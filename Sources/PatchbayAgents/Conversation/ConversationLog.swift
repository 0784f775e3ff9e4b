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
    /// The part of the assistant's latest speech that was played; nil if it was not interrupted.
    private(set) var interruptedAfter: String?

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
    mutating func append(assistant text: String, toolCalls: [ToolCall] = [], isInterrupted: Bool = false) {
        if toolCalls.isEmpty { interruptedAfter = isInterrupted ? text : nil }
        if !text.isEmpty || !toolCalls.isEmpty { add(.assistant(text, toolCalls: toolCalls)) }
    }

    mutating func append(result: String, of call: ToolCall) {
        add(.toolResult(id: call.id, result))
    }

    mutating func append(_ record: TurnRecord) {
        for message in record.messages { append(message) }
        for entry in record.tools {
            append(assistant: entry.text, toolCalls: entry.calls)
            for (call, result) in zip(entry.calls, entry.results) { append(result: result, of: call) }
        }
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

/// The conversation before this assistant joined, restored from the room's transcript after another worker was lost. A pure value.
struct PastConversation: Sendable {
    private var segments: [TranscriptSegment] = []
    /// When the conversation of a lost assistant is taken over; nil if there is none.
    private var continuesAt: Instant?

    /// Whether the conversation is still to be taken over.
    var isPending: Bool { continuesAt != nil }

    /// Takes the conversation over at a time at which all its segments have arrived.
    mutating func willContinue(at time: Instant) {
        continuesAt = time
    }

    /// - Returns: whether it is time to take the conversation over; true once.
    mutating func continues(at now: Instant) -> Bool {
        guard let time = continuesAt, now >= time else { return false }
        continuesAt = nil
        return true
    }

    /// Takes a segment; a higher revision replaces it.
    mutating func take(_ segment: TranscriptSegment) {
        if let index = segments.firstIndex(where: { $0.id == segment.id }) {
            segments[index] = segment
        } else {
            segments.append(segment)
        }
    }

    /// The conversation up to the last message of a user, and that message: it was not answered, or its answer was cut off.
    func resumed() -> (messages: [(UserMessage?, heard: String)], unanswered: UserMessage?) {
        let said = segments.filter { $0.final || $0.role == .assistant }.filter { !$0.text.isEmpty }
        guard let last = said.lastIndex(where: { $0.role == .user }) else {
            return (said.map { (nil, Self.heard($0)) }, nil)
        }
        let isAnswered = said[last...].dropFirst().last?.spoken == .completed
        let before = isAnswered ? said[...] : said[..<last]
        let messages = before.map { segment -> (UserMessage?, heard: String) in
            segment.role == .user ? (Self.message(segment), "") : (nil, Self.heard(segment))
        }
        return (messages, isAnswered ? nil : Self.message(said[last]))
    }

    private static func message(_ segment: TranscriptSegment) -> UserMessage {
        UserMessage(speaker: segment.participant ?? Identity(text: "user"), text: segment.text, kind: .speech)
    }

    /// The part of an assistant's segment that was played.
    private static func heard(_ segment: TranscriptSegment) -> String {
        guard segment.spoken == .interrupted, let count = segment.spokenChars else { return segment.text }
        return String(String.UnicodeScalarView(segment.text.unicodeScalars.prefix(count)))
    }
}

/// The messages that a turn adds to the conversation when it ends.
struct TurnRecord: Sendable, Hashable {
    var messages: [UserMessage]
    /// Tool calls and their results, in order.
    var tools: [ToolEntry] = []
    /// Said before the response. Not part of the conversation, in which a model would imitate it.
    var filler = ""
    /// Changes of the schedule, until the turn is audible.
    var changes: [Schedule.Change] = []
    /// Those that the turn announces.
    var reminders: [Schedule.Entry] = []
    var isAudible = false

    /// The part of the assistant's speech that is the response.
    func response(in heard: String) -> String {
        filler.hasPrefix(heard) ? "" : heard.hasPrefix(filler) ? String(heard.dropFirst(filler.count)).trimmingSpaces() : heard
    }

    struct ToolEntry: Sendable, Hashable {
        var text: String
        var calls: [ToolCall]
        var results: [String]
    }
}
