internal import Backend
internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Logging
internal import Sockets
internal import Wire

/// Decides who may upgrade to a WebSocket, with an HTTP status for every refusal (docs/protocol/connecting.md, "Rejected connections").
final class ConnectionAdmission {
    static var roomPath: String { "/v1/rtc" }
    static var channelPath: String { "/v1/events" }

    private let context: ShardContext
    private let rooms: RoomHost
    private let channels: Channels
    private let drain: DrainCoordinator
    /// When the coordinator has admitted joins, which follow.
    private var admitted = RecentTable<JoinCheck, Instant>(keeping: 10_000, for: admissionSpan)
    private static let admissionSpan = Duration.seconds(5)

    init(_ context: ShardContext, _ rooms: RoomHost, _ channels: Channels, _ drain: DrainCoordinator) {
        self.context = context
        self.rooms = rooms
        self.channels = channels
        self.drain = drain
    }

    private var gateway: GatewayContext { context.gateway }

    /// Returns nil to admit the connection, after setting its `context`; otherwise the error response.
    func admit(_ received: ReceivedRequest, as connection: Connection) -> HTTPServerResponse? {
        let request = HTTPServerRequest(received, at: context.loop.exactNow)
        do {
            try checkEntrance(received)
            try check(request, subprotocols: received.head.subprotocols)
            if request.path == Self.channelPath {
                connection.context = try verify(request) { token throws(TokenError) in
                    try channels.channel(with: token, host: request.host, nodes: nodes(for: received), on: connection)
                }
                try checkCoordinates()
            } else {
                connection.context = try joinRequest(for: request, nodes: nodes(for: received), forwarder: received.forwarder)
            }
            return nil
        } catch {
            context.counters.joinsRefused[error.code.rawValue, default: 0] += 1
            return refusal(of: request, error)
        }
    }

    /// The join that an upgrade with this request's token would be, or why it would be refused. A token that does not verify counts as a failed
    /// attempt; otherwise nothing changes. The request's port, path and proxy have been checked like those of any HTTP request.
    func validate(_ request: HTTPServerRequest) -> Result<JoinRequest, HTTPError> {
        Result { () throws(HTTPError) in
            // Web pages cannot set the header.
            try check(request, subprotocols: request.headers[.secWebSocketProtocol].map(HeaderList.items) ?? [Self.subprotocol])
            return try joinRequest(for: request)
        }
    }

    /// Where an upgrade with a valid token leads. Nil if the upgrade will be refused. Nothing is counted.
    func destination(of received: ReceivedRequest) -> UpgradeDestination? {
        let request = HTTPServerRequest(received, at: context.loop.exactNow)
        guard received.isSecure, received.source.isTrusted,
            gateway.failures.allowsVerification(from: request.peerAddress, at: context.now), let text = try? Self.token(of: request)
        else { return nil }
        switch request.path {
        case Self.roomPath:
            guard let token = try? TokenVerifier().verify(text, keys: context.keys, now: WallClock.seconds),
                let grant = try? JoinGrant(token)
            else { return nil }
            return UpgradeDestination(room: grant.room, check: JoinCheck(token, grant), resumes: request.query("resume") != nil)
        case Self.channelPath: return channels.admits(text) ? UpgradeDestination(room: RoomHomes.coordinatorRoom) : nil
        default: return nil
        }
    }

    /// The coordinator admits a join, which follows.
    func admit(_ check: JoinCheck) {
        _ = admitted.advance(to: context.now)
        admitted[check] = context.now
    }

    /// Whether the coordinator would have to be asked about a join, and was not.
    private func isUnchecked(_ check: JoinCheck?) -> Bool {
        guard let check, let cluster = gateway.cluster, !cluster.isHome(of: RoomHomes.coordinatorRoom) else { return false }
        return admitted[check].map { context.now - $0 > Self.admissionSpan } ?? true
    }

    /// URLs of other nodes for a client's `hello`, without nodes that drain.
    private func nodes(for received: ReceivedRequest) -> [String]? {
        gateway.cluster?.nodes(forwarded: received.hops > 0 && !drain.isDraining)
    }

    private static var subprotocol: Substring { Substring(ProtocolLimits.subprotocol) }

    private func refusal(of request: HTTPServerRequest, _ error: HTTPError) -> HTTPServerResponse {
        gateway.operatorLog.refused(from: request.peerAddress, at: context.now) {
            let claims = (try? Self.token(of: request)).flatMap(ClaimedNames.init(token:))
            let isKnown = [Self.roomPath, Self.channelPath].contains(request.path)
            return OperatorLog.Refusal(
                reason: error.code.rawValue, status: error.status.code, address: request.peerAddress,
                route: isKnown ? "GET \(request.path)" : "", request: request.context,
                room: claims?.room, identity: claims?.identity, issuer: claims?.issuer)
        }
        var response = HTTPServerResponse(error)
        response.fields[.requestID] = request.requestID
        return response
    }

    private func checkEntrance(_ request: ReceivedRequest) throws(HTTPError) {
        guard request.isSecure else {
            throw HTTPError(.tlsRequired, "this port speaks TLS only; use wss:// or https://")
        }
        guard request.source.isTrusted else { throw .untrustedProxy }
        guard request.source.entrance != .operations else {
            throw HTTPError(.notFound, "this port is for health checks and metrics; connect to the gateway's main port")
        }
        guard request.head.path == Self.roomPath || (request.head.path == Self.channelPath && channels.isAvailable) else {
            throw HTTPError(.notFound, "no WebSocket at this path; rooms are at \(Self.roomPath)")
        }
    }

    private func check(_ request: HTTPServerRequest, subprotocols: [Substring]) throws(HTTPError) {
        guard gateway.origins.admits(request.headers[.origin], to: request.host) else {
            throw HTTPError(
                .originNotAllowed, "web pages of this origin may not connect; its operator can add it to `allowed_origins`")
        }
        guard !drain.isDraining || gateway.cluster != nil else { throw .draining }
        guard subprotocols.contains(Self.subprotocol) else {
            throw HTTPError(.subprotocolRequired, "offer the WebSocket subprotocol \(Self.subprotocol)")
        }
    }

    /// A draining node of a cluster serves its rooms until they have moved.
    private func checkServes(_ room: String) throws(HTTPError) {
        if drain.isDraining, gateway.cluster?.isHome(of: room) != true { throw .draining }
    }

    /// Another node may have become the coordinator since the upgrade was held.
    private func checkCoordinates() throws(HTTPError) {
        try checkServes(RoomHomes.coordinatorRoom)
        if gateway.cluster?.isHome(of: RoomHomes.coordinatorRoom) == false { throw .homeUnavailable }
    }

    // MARK: Tokens

    /// The request's token, which may be invalid.
    static func token(of request: HTTPServerRequest) throws(TokenError) -> String {
        try RequestToken.extract(
            authorization: request.headers[.authorization],
            subprotocols: request.headers[.secWebSocketProtocol].map(HeaderList.items) ?? [], query: request.query("access_token"))
    }

    /// Finds the request's token and verifies it. Failures are limited per address (`AuthFailures`); a request without a token does not
    /// count as a failure.
    private func verify<Claims>(
        _ request: HTTPServerRequest, _ verify: (String) throws(TokenError) -> Claims
    ) throws(HTTPError) -> Claims {
        let token: String
        do throws(TokenError) {
            token = try Self.token(of: request)
        } catch {
            throw failure(error, from: request.peerAddress)
        }
        guard gateway.failures.allowsVerification(from: request.peerAddress, at: context.now) else { throw .tooManyAttempts }
        do throws(TokenError) {
            return try verify(token)
        } catch {
            throw failure(error, from: request.peerAddress)
        }
    }

    private func failure(_ error: TokenError, from address: String) -> HTTPError {
        guard error != .missing, gateway.failures.recordFailure(from: address, at: context.now) else { return error.httpError }
        return .tooManyAttempts
    }

    // MARK: Rooms

    private func joinRequest(
        for request: HTTPServerRequest, nodes: [String]? = nil, forwarder: String? = nil
    ) throws(HTTPError) -> JoinRequest {
        let token = try verify(request) { text throws(TokenError) in
            try TokenVerifier().verify(text, keys: context.keys, now: WallClock.seconds)
        }
        let grant: JoinGrant
        do throws(GrantError) {
            grant = try JoinGrant(token)
        } catch {
            throw error.httpError
        }
        try checkServes(grant.room)
        if let error = gateway.auditEvents?.joinError(grant.room, grant.identity) { throw error }
        if let error = gateway.dispatch?.registry.joinError(job: DispatchRegistry.job(in: token.attributes)) { throw error }
        let settings = try roomSettings(for: token, grant)
        let check = JoinCheck(token, grant)
        var admission = Admission(
            token, grant, autoSubscribe: request.query("auto_subscribe") != "false", server: gateway.settings.serverInfo,
            now: WallClock.seconds)
        admission.nodes = nodes
        admission.resuming = request.query("resume")
        admission.briefing = gateway.auditEvents?.briefing(grant.room)
        guard !isFull(grant.room, for: admission) else {
            throw HTTPError(.roomFull, "the room has as many participants as it may have")
        }
        return JoinRequest(
            admission: admission, lastSeq: request.query("last_seq").flatMap(UInt64.init), room: grant.room, settings: settings,
            startedAt: request.receivedAt, forwarder: forwarder, check: check, resumesOnly: isUnchecked(check))
    }

    private func isFull(_ name: String, for admission: Admission) -> Bool {
        if let room = rooms.room(named: name) { return room.admissionError(for: admission) == .roomFull }
        return !admission.kind.isDependent && gateway.directory.isFull(name, for: admission.identity)
    }

    /// The settings with which the room is created if it does not exist.
    private func roomSettings(for token: AccessToken, _ grant: JoinGrant) throws(HTTPError) -> RoomSettings {
        let mayCreate = gateway.settings.createsRooms || token.video?.roomCreate == true
        guard mayCreate || gateway.directory.home(of: grant.room) != nil else {
            throw HTTPError(.roomNotFound, "the room does not exist, and joining does not create rooms on this gateway")
        }
        return RoomSettings(token.roomSettings.map { RoomOpening($0) } ?? RoomOpening(), over: gateway.settings.room)
    }
}

extension HTTPError {
    /// A join during a drain.
    static let draining = HTTPError(.draining, "this gateway is shutting down; connect to another one")
}
