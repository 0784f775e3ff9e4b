import Sockets

/// One connection of a call: publishes a track, subscribes to one, or both. Reused by later calls.
struct Slot {
    enum State {
        case empty, connecting
        /// `hello` was received.
        case joined
        /// Its track is published, if it publishes one.
        case ready
        case leaving
    }

    let call: Int
    /// 0 is the user, or the publisher of a fan-out room.
    let member: Int
    let publishes: Bool
    /// Index of the slot whose track this one subscribes to; -1 for none.
    let subscribesTo: Int
    /// Stops reading periodically (`Scenario.SlowListeners`).
    let isSlow: Bool

    var state = State.empty
    var connection: Connection?
    var connectStarted: UInt64 = 0
    var leavingSince: UInt64 = 0

    /// The gateway's alias for the track.
    var alias: UInt16 = 0
    /// Our own track number, unique in the run; a new one after each reconnection.
    var track: UInt32 = 0
    /// Next sequence number. Starts shortly before 16 bits wrap, so every run covers the wrap.
    var sequence: UInt32 = 65_536 - 100
    /// `sequence` when measuring began; earlier losses are not counted.
    var measuredFrom: UInt32 = 0
    var isTalking = false

    var reception = Reception()
    var isPaused = false
}

/// One room and its connections.
struct Call {
    enum Phase {
        /// Not in use.
        case vacant
        case joining
        case talking
        /// Sends nothing; frames in transit may still arrive.
        case ending
        case leaving
        /// All connections were aborted and will reconnect.
        case disconnected
    }

    var phase = Phase.vacant
    /// Unique in the run; part of the room's name.
    var number = 0
    /// Number of slots that are not ready yet.
    var pendingSlots = 0
    /// Number of slots with an open connection.
    var openConnections = 0
    var endsAt = UInt64.max
    var drainedAt = UInt64.max
    /// When its connections were aborted; 0 if they were not.
    var disconnectedAt: UInt64 = 0
    /// The round of the send grid in which it began to talk, and the one that `now` describes.
    var firstRound: UInt64 = 0
    var round: UInt64 = 0
    var conversation: Conversation?
    /// The talking participants in this round and in the next.
    var now = Talk.both
    var next = Talk.both
    /// When the user interrupted an assistant that has not yet stopped; 0 otherwise.
    var bargeInAt: UInt64 = 0

    struct Talk {
        var user: Bool
        var assistant: Bool
        var isBargeIn = false

        static let both = Talk(user: true, assistant: true)
    }

    /// Whether `member` talks in this round, and in the next.
    func talks(_ member: Int) -> (now: Bool, next: Bool) {
        guard phase == .talking else { return (false, false) }
        return member == 0 ? (now.user, next.user) : (now.assistant, next.assistant)
    }

    /// Advances to a round of 20 ms. The conversation is one round ahead, so that the last frame of a talkspurt can be flagged.
    mutating func advance(to round: UInt64) {
        guard conversation != nil, round > self.round else { return }
        self.round = round
        now = next
        let time = Double(round &- firstRound + 1) * 20
        conversation?.advance(to: time)
        guard let conversation else { return }
        next = Talk(user: conversation.userTalks, assistant: conversation.assistantTalks, isBargeIn: conversation.isBargeIn)
    }

    /// The assistant received the user's interruption.
    mutating func assistantYields() {
        conversation?.assistantYields(at: Double(round &- firstRound + 1) * 20)
        next.assistant = false
        next.user = conversation?.userTalks ?? next.user
    }
}
