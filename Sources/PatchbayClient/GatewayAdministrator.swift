internal import NIOHTTP1
public import Wire

/// Administration of a gateway over HTTPS.
///
///     let administrator = try GatewayAdministrator(url: "https://127.0.0.1:7880", token: token, trust: .authority(path: "ca.cert.pem"))
///     for room in try await administrator.rooms() { print(room.name, room.numParticipants) }
///
/// Each call uses a connection of its own. All throw `AdministrationError`.
public struct GatewayAdministrator: Sendable {
    private let address: GatewayAddress
    private let token: String
    private let trust: TLSTrust
    private let timeout: Duration
    /// Sent with each request, if set (W3C Trace Context).
    package var traceparent: String?

    /// - Parameters:
    ///   - url: `https://host[:port]` or `wss://host[:port]`; the port defaults to 443.
    ///   - token: an access token (JWT) with the grants that the calls name.
    ///   - timeout: how long each call may take.
    /// - Throws: `AdministrationError.unreachable` for an invalid URL.
    public init(url: String, token: String, trust: TLSTrust = .system, timeout: Duration = .seconds(15)) throws(AdministrationError) {
        do throws(ConnectError) { address = try GatewayAddress(url) } catch { throw .unreachable(error) }
        self.token = token
        self.trust = trust
        self.timeout = timeout
    }

    /// All open rooms. Needs the grant `roomList`.
    public func rooms() async throws(AdministrationError) -> [RoomSummary] { try await send(.rooms) }

    /// A room with its participants and tracks. Needs `roomAdmin` for it.
    public func room(_ name: String) async throws(AdministrationError) -> RoomDetail { try await send(.room(name)) }

    /// Closes a room and disconnects its participants. Needs `roomCreate`.
    public func deleteRoom(_ name: String) async throws(AdministrationError) { try await send(.deleteRoom(name)) }

    /// Disconnects a participant, whose client does not reconnect. Needs `roomAdmin` for the room.
    public func remove(_ participant: Identity, from room: String) async throws(AdministrationError) {
        try await send(.remove(participant, from: room))
    }

    /// Mutes or unmutes a track. Needs `roomAdmin` for the room.
    public func mute(_ track: TrackSID, in room: String, muted: Bool = true) async throws(AdministrationError) {
        try await send(.mute(track, in: room, muted: muted))
    }

    /// Sends an assistant to a room, which need not be open. Needs `roomAdmin` for the room, or `roomCreate`.
    ///
    /// - Returns: the new job, or the active job of that assistant in that room.
    @discardableResult
    public func dispatch(_ assistant: String, to room: String, metadata: String = "") async throws(AdministrationError) -> JobInfo {
        try await send(.dispatch(assistant, to: room, metadata: metadata))
    }

    /// The jobs of a room, up to two minutes after their end. Needs `roomAdmin` for the room, or `roomCreate`.
    public func jobs(in room: String) async throws(AdministrationError) -> [JobInfo] { try await send(.jobs(in: room)) }

    /// Ends a job and removes its assistant from the room. Needs `roomAdmin` for the room, or `roomCreate`.
    @discardableResult
    public func endJob(_ id: JobID, in room: String) async throws(AdministrationError) -> JobInfo {
        try await send(.endJob(id, in: room))
    }

    package func send<Value>(_ request: AdministrationRequest<Value>) async throws(AdministrationError) -> Value {
        try request.decode(try await exchange(request.method, request.target(), body: request.body))
    }

    /// The words of a `curl` command that makes the request, token included.
    ///
    /// `--cacert` replaces the system's authorities, whereas `TLSTrust.authority` adds to them.
    package func curl<Value>(_ request: AdministrationRequest<Value>) throws(AdministrationError) -> [String] {
        var words = ["curl", "-sS", "--fail-with-body"]
        switch trust {
        case .system: break
        case .authority(let path): words += ["--cacert", path]
        case .anybody: words.append("--insecure")
        }
        if request.method != .GET { words += ["-X", request.method.rawValue] }
        words += ["-H", "Authorization: Bearer \(token)"]
        if !request.body.isEmpty {
            words += ["-H", "Content-Type: application/json", "--data-raw", String(decoding: request.body, as: UTF8.self)]
        }
        return words + ["https://\(address.hostField)\(try request.target())"]
    }

    /// Sends a JSON body to a path of the gateway, with the token.
    package func post(_ target: String, body: [UInt8]) async throws(AdministrationError) -> (status: Int, body: [UInt8]) {
        let response = try await exchange(.POST, target, body: body)
        return (response.status, response.body)
    }

    /// Gets a path of the gateway, with the token.
    package func get(_ target: String) async throws(AdministrationError) -> (status: Int, body: [UInt8]) {
        let response = try await exchange(.GET, target, body: [])
        return (response.status, response.body)
    }

    private func exchange(_ method: HTTPMethod, _ target: String, body: [UInt8]) async throws(AdministrationError) -> HTTPExchangeResponse {
        var headers: HTTPHeaders = ["Authorization": "Bearer \(token)"]
        if !body.isEmpty { headers.add(name: "Content-Type", value: "application/json") }
        if let traceparent { headers.add(name: "traceparent", value: traceparent) }
        do throws(ConnectError) {
            try ConnectError.check(token: token)
            return try await HTTPExchange.send(
                method, to: address, target: target, headers: headers, body: body, trust: trust, timeout: timeout)
        } catch {
            throw .unreachable(error)
        }
    }
}

/// Why an administration call failed.
public enum AdministrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of a room or participant cannot be part of an HTTP path (docs/protocol/http-api.md, "Room administration").
    case unaddressable(String)
    /// There was no response.
    case unreachable(ConnectError)
    /// The gateway refused it: HTTP status, error code, message.
    case refused(status: Int, code: String, message: String)
    /// The response is not a gateway's, or one of another version.
    case badAnswer(status: Int)

    public var description: String {
        switch self {
        case .unaddressable(let name):
            "\"\(name)\" cannot be part of an HTTP path; use names without `/` (the room closes by itself when its participants have left)"
        case .unreachable(let error): error.description
        case .refused(let status, let code, let message): "\(message) (HTTP \(status), \(code))"
        case .badAnswer(let status): "the response (HTTP \(status)) is not that of a gateway; check the URL"
        }
    }
}

/// A room in the list of open rooms.
public struct RoomSummary: Sendable, Hashable, Codable {
    public var sid: RoomSID
    public var name: String
    public var metadata: String
    /// Seconds since 1970.
    public var createdAt: Int64
    /// 0 means no limit.
    public var maxParticipants: Int
    public var numParticipants: Int
    public var numTracks: Int
}

/// A room and its participants.
public struct RoomDetail: Sendable, Hashable, Codable {
    public var room: RoomInfo
    public var participants: [ParticipantInfo]
}
