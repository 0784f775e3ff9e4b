import Sockets

/// One place for a connection: who sits there publishes a track, or hears one, or both. Kept when calls end and new ones take their place.
struct Slot {
    enum State {
        case empty, connecting
        /// `hello` has come.
        case joined
        /// Its track is published, or it has none to publish.
        case ready
        case leaving
    }

    let call: Int
    /// 0 is the user, or the one who speaks to many.
    let member: Int
    let publishes: Bool
    /// The slot whose track is heard here; -1 for none.
    let hears: Int
    /// Stops reading from time to time.
    let isSlow: Bool

    var state = State.empty
    var connection: Connection?
    var connectStarted: UInt64 = 0
    var leavingSince: UInt64 = 0

    /// As the gateway named the track.
    var alias: UInt16 = 0
    /// As we number it: unique in the run, also over reconnections.
    var track: UInt32 = 0
    /// The next to send. Starts shortly before the 16 bits on the wire wrap, so that every run crosses that.
    var sequence: UInt32 = 65_536 - 100
    /// `sequence` when measuring began: what was lost before does not count.
    var measuredFrom: UInt32 = 0
    var isTalking = false

    var reception = Reception()
    var isStopped = false
}

/// One room and those in it.
struct Call {
    enum Phase {
        /// Nobody is there.
        case vacant
        case joining
        case talking
        /// Nothing is sent any more; what is on its way may arrive.
        case ending
        case leaving
        /// All connections were broken off; they come back.
        case cut
    }

    var phase = Phase.vacant
    /// Unique in the run: the room's name.
    var number = 0
    /// Slots that are not ready yet.
    var awaited = 0
    /// Slots with a connection that is not closed.
    var open = 0
    var endsAt = UInt64.max
    var settlesAt = UInt64.max
    /// When its connections were cut; 0 if they were not.
    var cutAt: UInt64 = 0
    /// Round of the grid in which it began to talk, and the one for which `now` holds.
    var firstRound: UInt64 = 0
    var round: UInt64 = 0
    var conversation: Conversation?
    /// In this round and the one after.
    var now = Talk.both
    var next = Talk.both
    /// When the user broke in on an assistant that is to give way and has not yet; 0 if not.
    var brokeInAt: UInt64 = 0

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

    /// Goes on to a round of 20 ms. The conversation is one round ahead, so that a talkspurt's last frame is known as such.
    mutating func advance(to round: UInt64) {
        guard conversation != nil, round > self.round else { return }
        self.round = round
        now = next
        let time = Double(round &- firstRound + 1) * 20
        conversation?.advance(to: time)
        guard let conversation else { return }
        next = Talk(user: conversation.userTalks, assistant: conversation.assistantTalks, isBargeIn: conversation.isBargeIn)
    }

    /// The assistant has heard the user break in.
    mutating func assistantYields() {
        conversation?.assistantYields(at: Double(round &- firstRound + 1) * 20)
        next.assistant = false
        next.user = conversation?.userTalks ?? next.user
    }
}
