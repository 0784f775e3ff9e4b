internal import Engine
internal import Sockets
internal import Wire

/// Parses participants' text messages and passes their requests to the home of their room.
final class RequestReader {
    private let context: ShardContext
    private let slots: SlotTable<ParticipantConnection>
    private let rooms: RoomHost

    init(_ context: ShardContext, _ slots: SlotTable<ParticipantConnection>, _ rooms: RoomHost) {
        self.context = context
        self.slots = slots
        self.rooms = rooms
    }

    func received(_ message: UnsafeRawBufferPointer, from connection: Connection) {
        guard let participant = slots[connection.slot], participant.countReceived() else { return }
        let incoming = IncomingRequest(parsing: Array(message))
        switch incoming.content {
        case .failure(let error):
            participant.refuse(error, id: incoming.id)
            if error.code == .malformed { participant.countMalformed() }
        case .success(let request):
            guard allows(request, bytes: message.count, from: participant) else {
                return participant.refuse(RequestLimits.exceeded, id: incoming.id)
            }
            pass(request, id: incoming.id, from: participant)
        }
    }

    /// Reports of unusual length are limited like other requests.
    private func allows(_ request: Request, bytes: Int, from participant: ParticipantConnection) -> Bool {
        if request.isReport, bytes <= Self.reportBytesMax { return participant.requests.allowsReport(at: context.now) }
        return participant.requests.allowsRequest(at: context.now)
    }

    private static var reportBytesMax: Int { 1_024 }

    private func pass(_ request: Request, id: UInt64?, from participant: ParticipantConnection) {
        if case .ping(let time) = request {
            // Answered by the shard without the room.
            if let id { participant.send(reply: EncodedReply.bytes(of: .pong(time), re: id)) }
            return
        }
        let input = Room.Input.request(request, id: id, from: participant.handle)
        guard case .remote(let home) = participant.session.room else { return rooms.submit(input, from: participant) }
        let message = ShardMessage.input(input, from: participant.handle)
        guard context.gateway.mailboxes[home].post(message, unlessMoreThan: Self.queuedRequestsMax) else {
            let error = RequestError(.limitExceeded, "the gateway has more requests than it can answer now; try again later")
            return participant.refuse(error, id: id)
        }
    }

    /// Messages in the mailbox of a room's home beyond which requests from other shards are refused.
    private static var queuedRequestsMax: Int { 10_000 }
}

/// Limits on the requests of one participant.
///
/// Requests are limited by rate where the socket is, and by cost where the room is (`CostBudget`). A refused request is answered with
/// `limit_exceeded`; the connection stays open. `ping` and `playout.progress`, which clients send periodically, have a bucket of their
/// own, so that they do not fail because of other requests or many `ahead` tracks.
struct RequestLimits {
    private var requests = TokenBucket(perSecond: Limits.requestsPerSecond, burst: Limits.requestBurst)
    private var reports = TokenBucket(perSecond: Limits.reportsPerSecond, burst: Limits.reportBurst)
    /// Used where the room is homed on the shard of the socket.
    var cost = CostBudget()

    mutating func allowsRequest(at now: Instant) -> Bool { requests.take(at: now) }
    mutating func allowsReport(at now: Instant) -> Bool { reports.take(at: now) }

    static let exceeded = RequestError(
        .limitExceeded, "too many requests or too much data for others; send fewer per second", retryable: true)
}

/// The cost budget of one participant's requests, in bytes of the events they cause: event size times recipients.
///
/// A budget that refills at `Limits.requestCostPerSecond`. The cost is known only when a request has been executed, so a request is allowed
/// while there is any budget left, and may overdraw it once.
struct CostBudget: Sendable {
    /// When the budget is full again; not in the past once used.
    private var fullAt: UInt64 = 0

    private static var nanosecondsWhenEmpty: UInt64 {
        UInt64(Limits.requestCostBurst) * 1_000_000_000 / UInt64(Limits.requestCostPerSecond)
    }

    func hasAny(at now: Instant) -> Bool {
        fullAt <= now.nanoseconds + Self.nanosecondsWhenEmpty
    }

    mutating func spend(_ bytes: Int, at now: Instant) {
        fullAt = max(fullAt, now.nanoseconds) + UInt64(bytes) * 1_000_000_000 / UInt64(Limits.requestCostPerSecond)
    }
}

extension Request {
    /// Sent periodically by clients.
    var isReport: Bool {
        switch self {
        case .ping, .playoutProgress: true
        default: false
        }
    }
}
