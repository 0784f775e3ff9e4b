internal import Backend
internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Logging
internal import Sockets
internal import Wire

/// Who may come in: before the upgrade, with an HTTP status for every refusal (PROTOCOL section 2).
extension Shard {
    static var socketPath: String { "/v1/rtc" }

    func admit(_ request: UpgradeRequest, as connection: Connection) -> HTTPServerResponse? {
        do {
            try check(request)
            connection.context = request.path == Self.devicePath ? try deviceTicket(for: request) : try ticket(for: request)
            return nil
        } catch {
            counters.joinsRefused[error.code, default: 0] += 1
            log.debug("join refused", metadata: ["code": "\(error.code)", "address": "\(request.peerAddress)"])
            return HTTPServerResponse(error)
        }
    }

    private func check(_ request: UpgradeRequest) throws(HTTPError) {
        guard request.isSecure else {
            throw HTTPError(.badRequest, "tls_required", "this port speaks TLS only; use wss:// or https://")
        }
        guard !request.isPathCutOff else { throw .lineEndInPath }
        guard request.path == Self.socketPath || (request.path == Self.devicePath && common.calls != nil) else {
            throw HTTPError(.notFound, "not_found", "there is no WebSocket here; the gateway's is at \(Self.socketPath)")
        }
        guard drain == nil else {
            throw HTTPError(.serviceUnavailable, "draining", "this gateway is about to stop; connect to another one")
        }
        guard common.failures.allows(request.peerAddress, at: clock.now) else {
            throw HTTPError(.tooManyRequests, "too_many_attempts", "too many failed attempts from this address; wait a minute")
        }
        guard request.subprotocols.contains(Substring(ProtocolLimits.subprotocol)) else {
            throw HTTPError(.badRequest, "subprotocol_required", "offer the WebSocket subprotocol \(ProtocolLimits.subprotocol)")
        }
    }

    private func ticket(for request: UpgradeRequest) throws(HTTPError) -> JoinTicket {
        let started = loop.exactNow
        let (token, grant) = try identify(request)
        if let refusal = common.facts?.joinError(grant.room, grant.identity) { throw refusal }
        let room = try settingsOfRoom(for: token, grant)
        var admission = Admission(
            token, grant, autoSubscribe: request.query("auto_subscribe") != "false", server: common.serverInfo, now: WallClock.seconds)
        admission.resuming = request.query("resume")
        admission.briefing = common.facts?.briefing(grant.room)
        guard !isFull(grant.room, for: admission) else {
            throw HTTPError(.conflict, "room_full", "as many participants are in the room as it takes")
        }
        return JoinTicket(
            admission: admission, lastSeq: request.query("last_seq").flatMap(UInt64.init), room: grant.room, settings: room,
            startedAt: started)
    }

    /// What `verify` makes of the request's token. A bad one counts as a failed attempt of its address.
    func token<Claims>(
        of request: UpgradeRequest, _ verify: (String) throws(TokenError) -> Claims
    ) throws(HTTPError) -> Claims {
        do throws(TokenError) {
            return try verify(
                try RequestToken.extract(
                    authorization: request.authorization, subprotocols: request.subprotocols, query: request.query("access_token")))
        } catch {
            common.failures.recordFailure(from: request.peerAddress, at: clock.now)
            throw HTTPError(.unauthorized, error.code, error.message)
        }
    }

    private func identify(_ request: UpgradeRequest) throws(HTTPError) -> (AccessToken, JoinGrant) {
        let token = try token(of: request) { text throws(TokenError) in
            try TokenVerifier().verify(text, keys: keys, now: WallClock.seconds)
        }
        do throws(GrantError) {
            return (token, try JoinGrant(token))
        } catch {
            throw HTTPError(.forbidden, error.code, error.message)
        }
    }

    private func isFull(_ name: String, for admission: Admission) -> Bool {
        if let room = roomByName[name].flatMap({ rooms[$0]?.room }) { return room.admissionError(for: admission) == .roomFull }
        return !admission.kind.isDependent && common.directory.isFull(name, for: admission.identity)
    }

    /// The settings that a room gets if it is made now.
    private func settingsOfRoom(for token: AccessToken, _ grant: JoinGrant) throws(HTTPError) -> RoomSettings {
        let mayCreate = common.settings.createsRooms || token.video?.roomCreate == true
        guard mayCreate || common.directory.home(of: grant.room) != nil else {
            throw HTTPError(.notFound, "room_not_found", "the room does not exist, and this gateway makes none for who joins")
        }
        return RoomSettings(token.roomSettings, over: common.settings.room)
    }

    func opened(_ connection: Connection) {
        if let ticket = connection.context as? DeviceTicket { return openedDevice(connection, ticket) }
        guard let ticket = connection.context as? JoinTicket else { return connection.abort() }
        connection.context = nil
        let handle = takeSlot()
        let member = Member(
            handle: handle, connection: connection, kind: ticket.admission.kind, joinStartedAt: ticket.startedAt, now: clock.now)
        slots[Int(handle.slot)] = member
        connection.slot = Int(handle.slot)
        counters.connections += 1
        counters.participants += 1
        if ticket.admission.resuming == nil { counters.joins += 1 } else { member.resumption = ticket }
        join(member, ticket)
        scheduleTick()
        // The first round trip is known before the first frame is.
        sendProbe(from: member)
    }

    func refused(_ reason: CloseReason, on connection: Connection) {
        counters.closed[reason.code, default: 0] += 1
    }

    func closed(_ connection: Connection, _ end: ConnectionEnd) {
        guard connection.slot >= 0, let member = slots[connection.slot], member.connection === connection else {
            return closedDevice(connection)
        }
        connection.slot = -1
        counters.connections -= 1
        // Who was about to be closed when its socket broke was closed.
        let end = member.pendingClose.map { ConnectionEnd.closed($0.reason) } ?? end
        let reason: DisconnectReason =
            switch end {
            case .closed(let reason): reason.disconnectReason
            case .lost: connection.wasClosedByPeer ? .clientInitiated : .signalClose
            }
        member.outbox.removeAll { dropped in
            store.release(dropped)
            drop(.left)
        }
        if isLoss(end, of: member) {
            loseLink(of: member, reason)
        } else {
            counters.participants -= 1
            leaveRoom(member, reason)
        }
        finishDrainIfEmpty()
    }
}

/// What was found out before the upgrade, for the moment after it.
final class JoinTicket: Sendable {
    let admission: Admission
    /// The last event that whoever wants to resume has got; nil if it did not say.
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

    /// The same for who has to join anew: it takes nobody's place back, and is told so.
    var withoutClaim: JoinTicket {
        var admission = admission
        admission.resuming = ""
        return JoinTicket(admission: admission, lastSeq: nil, room: room, settings: settings, startedAt: startedAt)
    }
}

extension Connection {
    /// In good order, by who wanted to go (RFC 6455 section 7.4.1: 1001 is a browser's page that was left).
    var wasClosedByPeer: Bool { peerCloseCode == 1000 || peerCloseCode == 1001 }
}
