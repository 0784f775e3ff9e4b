internal import Engine
internal import HTTPServer
internal import Identity
internal import LiveKitProtocol
internal import Synchronization
internal import Wire

/// LiveKit's RoomService: data and remote procedure calls from the server.
final class DataMethods: Sendable {
    private let rooms: RoomService
    private let service: TwirpService
    private let nonces = Mutex(RecentNonces())

    private static let nonceBytes = 16

    init(rooms: RoomService, service: TwirpService) {
        self.rooms = rooms
        self.service = service
    }

    var routes: [Route] {
        [
            service.method(
                "SendData", "Sends data to participants", RoomServiceMethods.administer, grant: { .administer(room: $0.room) },
                perform: { [self] request, _ in try await sendData(request) }),
            service.method(
                "PerformRpc", "Calls a method of a participant", RoomServiceMethods.administer, grant: { .administer(room: $0.room) },
                perform: { [self] request, _ in try await performRPC(request) }),
        ]
    }

    private func sendData(_ request: LiveKitSendDataRequest) async throws -> LiveKitSendDataResponse {
        guard request.nonce.isEmpty || request.nonce.count == Self.nonceBytes else {
            throw TwirpError(
                argument: "nonce", "nonce should be \(Self.nonceBytes)-bytes or not present, got: \(request.nonce.count) bytes")
        }
        guard request.data.count <= ProtocolLimits.dataBytesMax else {
            throw TwirpError(argument: "data", "data has at most \(ProtocolLimits.dataBytesMax) bytes")
        }
        guard request.topic.utf8.count <= Limits.topicBytesMax else {
            throw TwirpError(argument: "topic", "a topic has at most \(Limits.topicBytesMax) bytes")
        }
        guard try await rooms.isOpen(request.room) else { throw RoomService.roomNotFound }
        let recipients = try await recipients(of: request)
        // Participants that are not there are no error. An empty list would mean everybody.
        guard recipients != [] else { return LiveKitSendDataResponse() }
        let message = DataMessage(topic: request.topic, payload: .base64(Base64.standard.encode(request.data)), to: recipients)
        let nonce = Array(request.nonce)
        guard nonces.withLock({ $0.insert(nonce, of: request.room) }) else { return LiveKitSendDataResponse() }
        do {
            try await rooms.perform(.sendData(message), in: request.room)
        } catch {
            nonces.withLock { $0.remove(nonce, of: request.room) }
            throw error
        }
        return LiveKitSendDataResponse()
    }

    /// Nil: everybody.
    private func recipients(of request: LiveKitSendDataRequest) async throws -> [Identity]? {
        var identities = request.destinationIdentities.map { Identity(text: $0) }
        if !request.destinationSids.isEmpty {
            let sids = Set(request.destinationSids)
            identities += try await rooms.detail(of: request.room).participants.filter { sids.contains($0.sid.text) }.map(\.identity)
        }
        return request.destinationIdentities.isEmpty && request.destinationSids.isEmpty ? nil : identities
    }

    private func performRPC(_ request: LiveKitPerformRpcRequest) async throws -> LiveKitPerformRpcResponse {
        guard !request.destinationIdentity.isEmpty else {
            throw TwirpError(argument: "destination_identity", "destination identity is required")
        }
        var call = ProcedureCall(to: Identity(text: request.destinationIdentity), method: request.method, payload: request.payload)
        if request.responseTimeoutMs > 0 { call.timeoutMs = Int(request.responseTimeoutMs) }
        do {
            var response = LiveKitPerformRpcResponse()
            response.payload = try await rooms.callProcedure(call, in: request.room)
            return response
        } catch let error as ProcedureError {
            throw TwirpError(error)
        }
    }
}

extension TwirpError {
    /// LiveKit's codes of failed remote procedure calls. The number is in `meta`, because an application chooses its own.
    fileprivate init(_ error: ProcedureError) {
        let code: Code =
            switch error.code {
            case 1400, 1402: .invalidArgument
            case 1401: .notFound
            case 1501, 1502: .canceled
            case 1503: .unavailable
            case 1403, 1404: .unimplemented
            default: .internal
            }
        self.init(code, error.message)
        meta = ["rpc_error_code": String(error.code)]
    }
}

/// The nonces of data that was sent lately, so that a repeated request sends it once. Old ones are forgotten first.
struct RecentNonces: Sendable {
    private struct Key: Hashable {
        let room: String
        let nonce: [UInt8]
    }

    static let countMax = 10_000

    private var known: Set<Key> = []
    private var order: [Key] = []
    private var oldest = 0

    /// - Returns: false if the room has had this nonce. An empty one is always new.
    mutating func insert(_ nonce: [UInt8], of room: String) -> Bool {
        guard !nonce.isEmpty else { return true }
        let key = Key(room: room, nonce: nonce)
        guard known.insert(key).inserted else { return false }
        guard order.count == Self.countMax else {
            order.append(key)
            return true
        }
        known.remove(order[oldest])
        order[oldest] = key
        oldest = (oldest + 1) % Self.countMax
        return true
    }

    /// Forgets a nonce whose data was not sent.
    mutating func remove(_ nonce: [UInt8], of room: String) {
        known.remove(Key(room: room, nonce: nonce))
    }
}
