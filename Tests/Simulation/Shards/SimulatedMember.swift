internal import Engine
internal import Wire

/// A participant whose socket a shard serves, as `Member` of the gateway.
final class SimulatedMember {
    let handle: ParticipantHandle
    let line: Line
    var place = Place.nowhere
    let kind: ParticipantKind
    var outbox: Outbox
    let ageMax: Duration
    var sendWindow = SendWindow()
    var deliveryProbe = DeliveryProbe()
    var log = EventLog()
    var link = Link.up
    var awaitsLog = false
    var successor: ParticipantHandle?
    var owesProof = false
    var resumption: JoinTicket?
    var held: [EncodedEvent] = []
    var wasGreeted = false
    var lastHeard: Instant
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

    enum Place {
        case here(room: Int)
        case on(shard: Int)
        case nowhere
    }

    init(handle: ParticipantHandle, line: Line, kind: ParticipantKind, swarm: Swarm, now: Instant) {
        self.handle = handle
        self.line = line
        self.kind = kind
        ageMax = kind == .agent ? Limits.liveAgeMaxToAgent : Limits.liveAgeMax
        outbox = Outbox(ageMax: ageMax, framesMax: swarm.outboxFramesMax)
        lastHeard = now
        malformed = MalformedMessageCounter(now: now)
    }

    var isReachable: Bool { link == .up && !awaitsLog }
    var isNowhere: Bool { if case .nowhere = place { true } else { false } }

    func take(_ handover: SessionHandover) {
        log = handover.log
        framesSent = handover.framesSent
        framesDropped = handover.framesDropped
        reported = (framesSent, framesDropped)
    }

    /// What keeps media from it, for the trace.
    func obstacle(at shard: SimulatedShard) -> String {
        var deliveryProbe = deliveryProbe
        if line.isCongested { return "congested" }
        if deliveryProbe.isOverdue(at: shard.now, ownLag: shard.recentLag) { return "receipt overdue, lag \(shard.recentLag)" }
        return "\(line.unacknowledgedBytes ?? -1) bytes on the way, \(outbox.frameCount) frames wait, sendWindow \(sendWindow)"
    }
}
