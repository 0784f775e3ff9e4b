internal import Engine
internal import Wire

/// A participant connected to a shard, as the gateway's `ParticipantConnection`.
final class SimulatedMember {
    let handle: ParticipantHandle
    let connection: SimulatedConnection
    var location = Location.nowhere
    let kind: ParticipantKind
    var outbox: Outbox
    let ageMax: Duration
    var sendWindow = SendWindow()
    var deliveryProbe = DeliveryProbe()
    var log = EventLog()
    var link = Link.up
    var awaitsLog = false
    var successor: ParticipantHandle?
    var awaitsProof = false
    var resumption: JoinTicket?
    var held: [EncodedEvent] = []
    var sentHello = false
    var lastReceived: Instant
    var pendingClose: (reason: CloseReason, deadline: Instant)?
    var isWaiting = false
    var aheadIndices: [Int] = []
    var isBehind = false
    var framesSent: UInt64 = 0
    var framesDropped: UInt64 = 0
    var reported: (sent: UInt64, dropped: UInt64) = (0, 0)
    var malformed: MalformedMessageCounter
    var answersBeforeHello: [[UInt8]] = []

    enum Link { case up, lost }

    enum Location {
        case here(room: Int)
        case on(shard: Int)
        case nowhere
    }

    init(handle: ParticipantHandle, connection: SimulatedConnection, kind: ParticipantKind, swarm: Swarm, now: Instant) {
        self.handle = handle
        self.connection = connection
        self.kind = kind
        ageMax = kind == .agent ? Limits.liveAgeMaxToAgent : Limits.liveAgeMax
        outbox = Outbox(ageMax: ageMax, framesMax: swarm.outboxFramesMax)
        lastReceived = now
        malformed = MalformedMessageCounter(now: now)
    }

    var isReachable: Bool { link == .up && !awaitsLog }
    var isNowhere: Bool { if case .nowhere = location { true } else { false } }

    func take(_ handover: SessionHandover) {
        log = handover.log
        framesSent = handover.framesSent
        framesDropped = handover.framesDropped
        reported = (framesSent, framesDropped)
    }

    /// Why frames are not sent to it, for the trace.
    func obstacle(at shard: SimulatedShard) -> String {
        var deliveryProbe = deliveryProbe
        if connection.isCongested { return "congested" }
        if deliveryProbe.isOverdue(at: shard.now, ownLag: shard.recentLag) { return "probe overdue, lag \(shard.recentLag)" }
        return "\(connection.unacknowledgedBytes ?? -1) bytes in flight, \(outbox.frameCount) frames queued, sendWindow \(sendWindow)"
    }
}
