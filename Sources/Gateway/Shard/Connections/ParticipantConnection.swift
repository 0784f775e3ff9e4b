internal import Engine
internal import Sockets
internal import Wire

/// A participant's connection on the shard that serves its socket, and the state that the shard keeps for it.
///
/// A class, because queues and counters are changed in place through the slot table. Only the shard's thread uses it. Properties are
/// read for each frame, hence `@exclusivity(unchecked)`; those that a frame reads come first, because cache misses are most of a frame's cost.
final class ParticipantConnection {
    let socket: Connection
    let handle: ParticipantHandle
    @exclusivity(unchecked) var link = LinkState()
    /// Set while the last messages are flushed before the socket is closed.
    @exclusivity(unchecked) var pendingClose: PendingClose?
    @exclusivity(unchecked) var flow: FlowState
    @exclusivity(unchecked) var outbox: Outbox
    @exclusivity(unchecked) var statistics = DeliveryStatistics()
    /// Indices of the `ahead` tracks that it subscribes to.
    @exclusivity(unchecked) var aheadTracks: [Int] = []
    var requests: RequestLimits
    var session: SessionState

    init(handle: ParticipantHandle, socket: Connection, kind: ParticipantKind, joinStartedAt: Instant, now: Instant) {
        self.handle = handle
        self.socket = socket
        flow = FlowState(now: now)
        outbox = Outbox(ageMax: kind == .agent ? Limits.liveAgeMaxToAgent : Limits.liveAgeMax)
        requests = RequestLimits(now: now)
        session = SessionState(kind: kind, joinStartedAt: joinStartedAt)
    }

    /// Whether events and frames can be written, or queued for writing.
    var isWritable: Bool { socket.phase == .open && pendingClose == nil }

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

struct PendingClose {
    let reason: CloseReason
    /// The socket is closed then, whether its messages are flushed or not.
    let deadline: Instant
}

/// The state that decides whether a frame can be sent now.
struct FlowState {
    var lastReceivedAt: Instant
    var probe = DeliveryProbe()
    var window = SendWindow()
    /// It is on the shard's list of connections with queued messages.
    var isQueued = false
    /// Frames of an `ahead` track are due and wait for capacity.
    var isBehind = false

    init(now: Instant) {
        lastReceivedAt = now
    }
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
