internal import Engine
internal import Sockets
internal import Wire

/// Parses participants' text messages and passes their requests to the home of their room.
final class RequestReader {
    private let context: ShardContext
    private let slots: SlotTable<ParticipantConnection>
    private let control: ControlWriter
    private let rooms: RoomHost

    init(_ context: ShardContext, _ slots: SlotTable<ParticipantConnection>, _ control: ControlWriter, _ rooms: RoomHost) {
        self.context = context
        self.slots = slots
        self.control = control
        self.rooms = rooms
    }

    func received(_ message: UnsafeRawBufferPointer, from connection: Connection) {
        guard let participant = slots[connection.slot], participant.pendingClose == nil else { return }
        participant.flow.lastReceivedAt = context.now
        context.counters.controlIn += 1
        guard String(validating: message, as: UTF8.self) != nil else { return control.close(participant, .invalidText) }
        let incoming = IncomingRequest(parsing: Array(message))
        switch incoming.content {
        case .failure(let error):
            control.refuse(error, id: incoming.id, to: participant)
            if error.code == .malformed { control.countMalformed(from: participant) }
        case .success(let request):
            guard allows(request, bytes: message.count, from: participant) else {
                return control.refuse(RequestLimits.exceeded, id: incoming.id, to: participant)
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
            if let id { control.send(reply: EncodedReply.bytes(of: .pong(time), re: id), to: participant) }
            return
        }
        let input = Room.Input.request(request, id: id, from: participant.handle)
        guard case .remote(let home) = participant.session.room else { return rooms.report(input, of: participant) }
        let message = ShardMessage.input(input, from: participant.handle)
        guard context.gateway.mailboxes[home].post(message, unlessMoreThan: Self.queuedRequestsMax) else {
            let error = RequestError(.limitExceeded, "the gateway has more requests than it can answer now; try again later")
            return control.refuse(error, id: id, to: participant)
        }
    }

    /// Messages in the mailbox of a room's home beyond which requests from other shards are refused.
    private static var queuedRequestsMax: Int { 10_000 }
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
