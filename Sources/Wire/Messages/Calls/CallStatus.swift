/// How far a call is, and how far it is for one of its members.
public enum CallStatus: String, Sendable, Codable, CaseIterable {
    /// Made; no device of a callee has heard of it yet.
    case started
    /// A device of a callee rings.
    case ringing
    case answered
    /// Answered once, and over.
    case completed
    /// Withdrawn before it was answered.
    case cancelled
    case rejected
    /// The callee talks to somebody else.
    case busy
    /// Rung out.
    case timeout
    /// Somebody could not be reached, or did not get as far as the room.
    case failed

    public var isOver: Bool {
        switch self {
        case .started, .ringing, .answered: false
        case .completed, .cancelled, .rejected, .busy, .timeout, .failed: true
        }
    }
}

/// Where a member stands.
public enum CallMemberState: String, Sendable, Codable, CaseIterable {
    case invited, joined, left
}
