internal import Wire

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

    /// What of an assistant's segment was played.
    private static func heard(_ segment: TranscriptSegment) -> String {
        guard segment.spoken == .interrupted, let count = segment.spokenChars else { return segment.text }
        return String(String.UnicodeScalarView(segment.text.unicodeScalars.prefix(count)))
    }
}
