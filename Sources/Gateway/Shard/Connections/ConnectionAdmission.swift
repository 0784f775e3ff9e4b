internal import Backend
internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Logging
internal import Sockets
internal import Wire

/// Decides who may upgrade to a WebSocket, with an HTTP status for every refusal (PROTOCOL, "Rejected connections").
final class ConnectionAdmission {
    static var roomPath: String { "/v1/rtc" }
    static var channelPath: String { "/v1/events" }

    private let context: ShardContext
    private let rooms: RoomHost
    private let channels: UserChannels
    private let drain: DrainCoordinator

    init(_ context: ShardContext, _ rooms: RoomHost, _ channels: UserChannels, _ drain: DrainCoordinator) {
        self.context = context
        self.rooms = rooms
        self.channels = channels
        self.drain = drain
    }

    private var gateway: GatewayContext { context.gateway }

    /// Returns nil to admit the connection, after setting its `context`; otherwise the error response.
    func admit(_ request: UpgradeRequest, as connection: Connection) -> HTTPServerResponse? {
        do {
            try checkEntrance(request)
            try check(request)
            if request.path == Self.channelPath {
                connection.context = try verify(request) { text throws(TokenError) in try channels.ticket(for: text, host: request.host) }
            } else {
                connection.context = try joinRequest(for: request)
            }
            return nil
        } catch {
            context.counters.joinsRefused[error.code, default: 0] += 1
            return refusal(of: request, error)
        }
    }

    /// The join that an upgrade with this request's token would be, or why it would be refused. A token that does not verify counts as a failed
    /// attempt; otherwise nothing changes.
    func validate(_ request: ValidationRequest) -> Result<JoinRequest, HTTPError> {
        Result { () throws(HTTPError) in
            try check(request)
            return try joinRequest(for: request)
        }
    }

    private func refusal(of request: UpgradeRequest, _ error: HTTPError) -> HTTPServerResponse {
        let id = RequestID.chosen(byClient: request.requestID)
        gateway.operatorLog.refused(from: request.peerAddress, at: context.now) {
            let claims = Self.token(of: request).flatMap(ClaimedNames.init(token:))
            let isKnown = [Self.roomPath, Self.channelPath].contains(request.path)
            return OperatorLog.Refusal(
                reason: error.code, status: error.status.code, address: request.peerAddress,
                route: isKnown ? "GET \(request.path)" : "", request: id,
                room: claims?.room, identity: claims?.identity, issuer: claims?.issuer)
        }
        var response = HTTPServerResponse(error)
        response.fields[.requestID] = id
        return response
    }

    /// The request's token, which may be invalid; nil if there is none.
    private static func token(of request: UpgradeRequest) -> String? {
        try? RequestToken.extract(
            authorization: request.authorization, subprotocols: request.subprotocols, query: request.query("access_token"))
    }

    private func checkEntrance(_ request: UpgradeRequest) throws(HTTPError) {
        guard request.isSecure else {
            throw HTTPError(.badRequest, "tls_required", "this port speaks TLS only; use wss:// or https://")
        }
        guard request.source.isTrusted else { throw .untrustedProxy }
        guard !request.isPathCutOff else { throw .lineEndInPath }
        guard request.source.entrance != .operations else {
            throw HTTPError(.notFound, "not_found", "this port is for health checks and metrics; connect to the gateway's main port")
        }
        guard request.path == Self.roomPath || (request.path == Self.channelPath && channels.isAvailable) else {
            throw HTTPError(.notFound, "not_found", "no WebSocket at this path; rooms are at \(Self.roomPath)")
        }
    }

    private func check(_ request: some AdmissionRequest) throws(HTTPError) {
        guard gateway.origins.admits(request.origin, to: request.host) else {
            throw HTTPError(
                .forbidden, "origin_not_allowed", "web pages of this origin may not connect; its operator can add it to `allowed_origins`")
        }
        guard !drain.isDraining else {
            throw .draining
        }
        guard request.subprotocols.contains(Substring(ProtocolLimits.subprotocol)) else {
            throw HTTPError(.badRequest, "subprotocol_required", "offer the WebSocket subprotocol \(ProtocolLimits.subprotocol)")
        }
    }

    /// Finds the request's token and verifies it. Failures are limited per address (`AuthFailureLimiter`); a request without a token does not count as a failure.
    private func verify<Claims>(
        _ request: some AdmissionRequest, _ verify: (String) throws(TokenError) -> Claims
    ) throws(HTTPError) -> Claims {
        let token: String
        do throws(TokenError) {
            token = try RequestToken.extract(
                authorization: request.authorization, subprotocols: request.subprotocols, query: request.query("access_token"))
        } catch {
            throw failure(error, from: request.peerAddress)
        }
        guard gateway.failures.allowsVerification(from: request.peerAddress, at: context.now) else { throw HTTPError.tooManyAttempts }
        do throws(TokenError) {
            return try verify(token)
        } catch {
            throw failure(error, from: request.peerAddress)
        }
    }

    private func failure(_ error: TokenError, from address: String) -> HTTPError {
        let unauthorized = HTTPError(.unauthorized, error.code, error.message)
        guard error != .missing else { return unauthorized }
        return gateway.failures.recordFailure(from: address, at: context.now) ? .tooManyAttempts : unauthorized
    }

    // MARK: Rooms

    private func joinRequest(for request: some AdmissionRequest) throws(HTTPError) -> JoinRequest {
        let started = context.loop.exactNow
        let token = try verify(request) { text throws(TokenError) in
            try TokenVerifier().verify(text, keys: context.keys, now: WallClock.seconds)
        }
        let grant: JoinGrant
        do throws(GrantError) {
            grant = try JoinGrant(token)
        } catch {
            throw HTTPError(.forbidden, error.code, error.message)
        }
        if let error = gateway.auditEvents?.joinError(grant.room, grant.identity) { throw error }
        if let error = gateway.dispatch?.registry.joinError(attributes: token.attributes) { throw error }
        let settings = try roomSettings(for: token, grant)
        var admission = Admission(
            token, grant, autoSubscribe: request.query("auto_subscribe") != "false", server: gateway.serverInfo, now: WallClock.seconds)
        admission.resuming = request.query("resume")
        admission.briefing = gateway.auditEvents?.briefing(grant.room)
        guard !isFull(grant.room, for: admission) else {
            throw HTTPError(.conflict, "room_full", "the room has as many participants as it may have")
        }
        return JoinRequest(
            admission: admission, lastSeq: request.query("last_seq").flatMap(UInt64.init), room: grant.room, settings: settings,
            startedAt: started)
    }

    private func isFull(_ name: String, for admission: Admission) -> Bool {
        if let room = rooms.room(named: name) { return room.admissionError(for: admission) == .roomFull }
        return !admission.kind.isDependent && gateway.directory.isFull(name, for: admission.identity)
    }

    /// The settings with which the room is created if it does not exist.
    private func roomSettings(for token: AccessToken, _ grant: JoinGrant) throws(HTTPError) -> RoomSettings {
        let mayCreate = gateway.settings.createsRooms || token.video?.roomCreate == true
        guard mayCreate || gateway.directory.home(of: grant.room) != nil else {
            throw HTTPError(.notFound, "room_not_found", "the room does not exist, and joining does not create rooms on this gateway")
        }
        return RoomSettings(token.roomSettings, over: gateway.settings.room)
    }
}

/// The parts of a request that admission checks: of an upgrade, or of a request to `/v1/rtc/validate`.
protocol AdmissionRequest {
    var origin: String? { get }
    var host: String? { get }
    var peerAddress: String { get }
    var authorization: String? { get }
    var subprotocols: [Substring] { get }
    func query(_ name: String) -> String?
}

extension UpgradeRequest: AdmissionRequest {}

/// A request to `/v1/rtc/validate`. Its port, path and proxy have been checked like those of any HTTP request.
struct ValidationRequest: AdmissionRequest {
    private let request: HTTPServerRequest

    init(_ request: HTTPServerRequest) {
        self.request = request
    }

    var origin: String? { request.headers[.origin] }
    var host: String? { request.host }
    var peerAddress: String { request.peerAddress }
    var authorization: String? { request.headers[.authorization] }
    /// `patchbay.v1` if the header is missing, which web pages cannot set.
    var subprotocols: [Substring] {
        request.headers[.secWebSocketProtocol].map(HeaderList.items) ?? [Substring(ProtocolLimits.subprotocol)]
    }
    func query(_ name: String) -> String? { request.query(name) }
}

/// The verified data of an upgrade request that is needed after the upgrade.
final class JoinRequest: Sendable {
    let admission: Admission
    /// The last event that a resuming client has received; nil if not given.
    let lastSeq: UInt64?
    let room: String
    let settings: RoomSettings
    let startedAt: Instant

    init(admission: Admission, lastSeq: UInt64?, room: String, settings: RoomSettings, startedAt: Instant) {
        self.admission = admission
        self.lastSeq = lastSeq
        self.room = room
        self.settings = settings
        self.startedAt = startedAt
    }

    /// The same join without the attempt to resume; `hello` says that nothing was resumed.
    var withoutResume: JoinRequest {
        var admission = admission
        admission.resuming = ""
        return JoinRequest(admission: admission, lastSeq: nil, room: room, settings: settings, startedAt: startedAt)
    }
}

extension HTTPError {
    /// A join during a drain.
    static let draining = HTTPError(.serviceUnavailable, "draining", "this gateway is shutting down; connect to another one")
}
