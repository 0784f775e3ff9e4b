internal import Engine
internal import Sockets
internal import Wire

/// A participant whose socket this shard serves.
///
/// A class because queues and counters are changed in place by whoever looks it up by slot; only the shard has references.
final class Member {
    // What each frame looks at stands together: memory that is not at hand is the most that a frame costs here.
    let connection: Connection
    let handle: ParticipantHandle
    @exclusivity(unchecked) var link = Link.up
    /// The log of the slot whose place it has taken is on its way.
    @exclusivity(unchecked) var awaitsLog = false
    /// Whether it is on the shard's list of those for whom something waits.
    @exclusivity(unchecked) var isWaiting = false
    @exclusivity(unchecked) var lastHeard: Instant
    /// It is to be closed for this reason once its control messages are out, or by this time.
    @exclusivity(unchecked) var pendingClose: (reason: CloseReason, deadline: Instant)?
    @exclusivity(unchecked) var deliveryProbe = DeliveryProbe()
    @exclusivity(unchecked) var sendWindow = SendWindow()
    @exclusivity(unchecked) var framesSent: UInt64 = 0
    @exclusivity(unchecked) var outbox: Outbox

    /// Where its room is.
    @exclusivity(unchecked) var place = Place.nowhere
    let kind: ParticipantKind
    /// The last events and their numbers.
    var log = EventLog()
    /// The slot that is to have that log instead, for its place has been taken meanwhile.
    var successor: ParticipantHandle?
    /// It is back, and has not shown yet that it knows.
    @exclusivity(unchecked) var owesProof = false
    /// What it wanted to take back, until it is known what becomes of that.
    var resumption: JoinTicket?
    /// Events that wait for the log that comes before them.
    var held: [EncodedEvent] = []
    /// It was told something: `hello`, or why it may not come in.
    var wasGreeted = false
    /// Places of the `ahead` tracks that it hears.
    var aheadIndices: [Int] = []
    /// Something of them is due and waits for room.
    @exclusivity(unchecked) var isBehind = false
    @exclusivity(unchecked) var framesDropped: UInt64 = 0
    @exclusivity(unchecked) var lateness = LatenessWindow()
    /// Frames sent and dropped up to the last report of statistics.
    var reported: (sent: UInt64, dropped: UInt64) = (0, 0)
    var malformed: MalformedMessageCounter

    /// When it asked to be let in.
    let joinStartedAt: Instant
    /// What was asked before `hello` came from the room's home, and is answered after it.
    var answersBeforeHello: [[UInt8]] = []

    enum Link {
        case up
        /// The socket is gone; events are logged for the one that may come.
        case lost
    }

    enum Place {
        /// The shard's number for the room.
        case here(room: Int)
        case on(shard: Int)
        /// Out of it, or not yet in.
        case nowhere
    }

    init(handle: ParticipantHandle, connection: Connection, kind: ParticipantKind, joinStartedAt: Instant, now: Instant) {
        self.handle = handle
        self.connection = connection
        self.kind = kind
        outbox = Outbox(ageMax: kind == .agent ? Limits.liveAgeMaxToAgent : Limits.liveAgeMax)
        self.joinStartedAt = joinStartedAt
        lastHeard = now
        malformed = MalformedMessageCounter(now: now)
    }

    /// Where it is in memory.
    var address: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }
    /// Whether frames may go to it.
    var isReachable: Bool { link == .up && !awaitsLog }
    var isNowhere: Bool { if case .nowhere = place { true } else { false } }

    /// Goes on where the old slot was.
    func take(_ handover: SessionHandover) {
        log = handover.log
        framesSent = handover.framesSent
        framesDropped = handover.framesDropped
        // What was dropped while there was no socket says nothing about the new one.
        reported = (framesSent, framesDropped)
    }
}

/// How long frames waited in the gateway, over a window: buckets of doubling width, so that noting one is an increment.
struct LatenessWindow {
    /// Bucket 0 is under 1 ms, bucket n under 2ⁿ ms.
    private var buckets: InlineArray<13, UInt32> = .init(repeating: 0)

    mutating func note(waited: Duration) {
        let milliseconds = UInt64(max(0, waited.inMilliseconds))
        let bucket = min(12, UInt64.bitWidth - milliseconds.leadingZeroBitCount)
        buckets[bucket] += 1
    }

    /// An upper bound of the 99th percentile, in milliseconds; `direct` frames did not wait at all. Empties the window.
    mutating func takeP99(direct: UInt64) -> Double {
        defer { buckets = .init(repeating: 0) }
        var queued: UInt64 = 0
        for bucket in buckets.indices { queued += UInt64(buckets[bucket]) }
        // Frames that waited are in `direct` too, once they were sent.
        let total = max(direct, queued)
        guard queued > 0 else { return 0 }
        var above: UInt64 = 0
        for bucket in buckets.indices.reversed() {
            above += UInt64(buckets[bucket])
            if above * 100 > total { return bucket == 0 ? 1 : Double(1 << bucket) }
        }
        return 0
    }
}
