internal import Engine
internal import Sockets
internal import Wire

/// A participant's connection on the shard that serves its socket, and the state that the shard keeps for it.
///
/// A class, because queues and counters are changed in place through the slot table. Only the shard's thread uses it. Properties are
/// read for each frame, hence `@exclusivity(unchecked)`; those that a frame reads come first, because cache misses are most of a frame's cost.
final class ParticipantConnection: ControlConnection {
    let handle: ParticipantHandle
    @exclusivity(unchecked) var link = LinkState()
    @exclusivity(unchecked) var flow = FlowState()
    @exclusivity(unchecked) var statistics = DeliveryStatistics()
    /// Indices of the `ahead` tracks that it subscribes to.
    @exclusivity(unchecked) var aheadTracks: [Int] = []
    let sender: FrameSender
    var requests = RequestLimits()
    var session: SessionState
    /// The node through which the client reaches this one; nil for a connection of its own.
    let forwarder: String?

    init(
        _ context: ShardContext, _ sender: FrameSender, handle: ParticipantHandle, socket: Connection, session: SessionState,
        forwarder: String?
    ) {
        self.handle = handle
        self.forwarder = forwarder
        self.sender = sender
        self.session = session
        let ageMax = session.kind == .agent ? Limits.liveAgeMaxToAgent : Limits.liveAgeMax
        super.init(context, socket: socket, outbox: Outbox(ageMax: ageMax))
    }

    override func flushLater() { sender.startWaiting(self) }

    /// Sends `bye` with the reason before it closes the connection.
    override func close(_ reason: CloseReason) {
        guard isWritable else { return }
        if reason != .slowConsumer { send(EncodedEvent(.bye(reason.disconnectReason, retryable: reason.isRetryable))) }
        finish(reason)
    }

    /// Continues the numbers and the event log of the slot that it resumes.
    func take(_ handover: SessionHandover) {
        session.log = handover.log
        statistics.continueFrom(sent: handover.framesSent, dropped: handover.framesDropped)
    }
}

/// Whether the participant can be reached.
struct LinkState {
    /// False once the socket is lost; events are still logged for a successor.
    var isUp = true
    /// The event log of the slot that it resumes is on its way; until then no frames are sent and events are held.
    var awaitsHandover = false

    var isReachable: Bool { isUp && !awaitsHandover }
}

/// The state that decides whether a frame can be sent now.
struct FlowState {
    var probe = DeliveryProbe()
    var window = SendWindow()
    /// It is on the shard's list of connections with queued messages.
    var isQueued = false
    /// Frames of an `ahead` track are due and wait for capacity.
    var isBehind = false
}

/// The location of a participant's room.
enum RoomLocation {
    /// Homed on this shard, with its index.
    case local(Int)
    /// Homed on another shard.
    case remote(shard: Int)
    /// In no room (yet, or any more).
    case none
}

/// The resumable part of a connection: its room, its event log, and what is pending around `hello`.
struct SessionState {
    let kind: ParticipantKind
    /// When the upgrade was requested, for the join histogram.
    let joinStartedAt: Instant
    var room = RoomLocation.none
    /// The last events and their numbers.
    var log = EventLog()
    /// Its first event was sent: `hello`, or the error that prevents the join.
    var isGreeted = false
    /// It has resumed, and no pong has proved yet that it received the new resume token.
    var needsResumeConfirmation = false
    /// The request to resume, until its outcome is known.
    var resumeRequest: JoinRequest?
    /// The slot that resumes this one, to which the handover is passed on when it arrives.
    var successor: ParticipantHandle?
    /// Events that wait for the handover, whose events come first.
    var heldEvents: [EncodedEvent] = []
    /// Replies to requests received before `hello` was sent.
    var repliesBeforeHello: [[UInt8]] = []

    init(kind: ParticipantKind, joinStartedAt: Instant) {
        self.kind = kind
        self.joinStartedAt = joinStartedAt
    }

    var isInRoom: Bool { if case .none = room { false } else { true } }
}

/// Frames sent to and dropped for one participant, and how long they waited.
struct DeliveryStatistics {
    var framesSent: UInt64 = 0
    var framesDropped: UInt64 = 0
    var lateness = LatenessWindow()
    /// The totals at the last report.
    private var reported: (sent: UInt64, dropped: UInt64) = (0, 0)

    /// Continues another connection's totals. Frames dropped while there was no socket are not counted for the new one.
    mutating func continueFrom(sent: UInt64, dropped: UInt64) {
        (framesSent, framesDropped) = (sent, dropped)
        reported = (sent, dropped)
    }

    /// Frames since the last call.
    mutating func takeInterval() -> (sent: UInt64, dropped: UInt64) {
        defer { reported = (framesSent, framesDropped) }
        return (framesSent - reported.sent, framesDropped - reported.dropped)
    }
}

/// A histogram of how long frames waited in the gateway, with buckets of doubling width, so that recording is one increment.
struct LatenessWindow {
    /// Bucket 0 is below 1 ms, bucket n below 2ⁿ ms.
    private var buckets: InlineArray<13, UInt32> = .init(repeating: 0)

    mutating func record(_ wait: Duration) {
        let milliseconds = UInt64(max(0, wait.inMilliseconds))
        let bucket = min(12, UInt64.bitWidth - milliseconds.leadingZeroBitCount)
        buckets[bucket] += 1
    }

    /// Takes an upper bound of the 99th percentile, in milliseconds, and empties the window.
    ///
    /// - Parameter sent: all frames of the window, including those that did not wait.
    mutating func takeP99(sent: UInt64) -> Double {
        defer { buckets = .init(repeating: 0) }
        var queued: UInt64 = 0
        for bucket in buckets.indices { queued += UInt64(buckets[bucket]) }
        let total = max(sent, queued)
        guard queued > 0 else { return 0 }
        var above: UInt64 = 0
        for bucket in buckets.indices.reversed() {
            above += UInt64(buckets[bucket])
            if above * 100 > total { return bucket == 0 ? 1 : Double(1 << bucket) }
        }
        return 0
    }
}
