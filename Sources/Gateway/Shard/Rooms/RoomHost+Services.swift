internal import Backend
internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Logging
internal import Wire

/// Queries and administrative commands of HTTP handlers and services (`RoomService`), and what they learn of rooms: audit events for the log,
/// services and webhooks, and the presence of agents for dispatch.
extension RoomHost {
    // MARK: Queries

    func answer(_ query: RoomQuery, _ reply: QueryReply<RoomQueryResult>) {
        do throws(HTTPError) {
            if let result = try result(of: query, reply) { reply(result) }
        } catch {
            reply(.error(error))
        }
    }

    /// Nil if the result follows later, with the outcome of a procedure call.
    private func result(of query: RoomQuery, _ reply: QueryReply<RoomQueryResult>) throws(HTTPError) -> RoomQueryResult? {
        switch query {
        case .rooms: return .rooms(table.open.map { RoomListEntry($0.room, homePort: homePort) })
        case .snapshots: return .snapshots(table.open.map(\.room.snapshot))
        case .counters: return .done
        case .connections(let limit):
            return .connections(
                table.open.reduce(into: RoomConnections(limit: limit)) { $0.append($1.room.connections, in: $1.name) })
        case .room(let name): return .room(try view(of: name))
        case .open(let name, let opening):
            let home = try open(name, opening)
            return home == context.index ? .room(try view(of: name)) : .homed(onShard: home)
        case .log(let name): return .log(try hostedRoom(name).hosted.log.view)
        case .command(let command, let name):
            let (index, hosted) = try hostedRoom(name)
            try check(command, in: hosted.room)
            note(command, in: hosted)
            apply(.administered(command), to: index)
            return .done
        case .callProcedure(let call, let name):
            let (index, _) = try hostedRoom(name)
            apply(.administered(.callProcedure(call, number: administrativeCalls.begin(reply))), to: index)
            return nil
        }
    }

    private func view(of name: String) throws(HTTPError) -> RoomView {
        RoomView(try hostedRoom(name).hosted.room, homePort: homePort, at: context.now)
    }

    /// Administrators' procedure calls that await an outcome, by the numbers under which the rooms know them.
    struct AdministrativeCalls {
        private var replies: [UInt64: QueryReply<RoomQueryResult>] = [:]
        private var lastNumber: UInt64 = 0

        mutating func begin(_ reply: QueryReply<RoomQueryResult>) -> UInt64 {
            lastNumber += 1
            replies[lastNumber] = reply
            return lastNumber
        }

        mutating func end(_ number: UInt64, _ outcome: Result<String, RequestError>) {
            replies.removeValue(forKey: number)?(.procedureEnded(outcome))
        }
    }

    private var homePort: Int? {
        let ports = context.gateway.shardPorts
        return ports.isEmpty ? nil : ports[context.index]
    }

    /// Muting is no audit event, so the room's log would not show who was muted from outside.
    private func note(_ command: Room.AdminCommand, in hosted: HostedRoom) {
        guard case .mute(let track, let muted) = command else { return }
        let publisher = hosted.room.participants.first { $0.tracks?.contains { $0.sid == track } == true }
        hosted.log.append(muted: muted, track, of: publisher?.identity, at: WallClock.milliseconds)
    }

    /// Checks that what a command names exists, and that the room does not refuse it.
    private func check(_ command: Room.AdminCommand, in room: Room) throws(HTTPError) {
        switch command {
        case .remove(let who), .giveUp(let who), .updatePermission(let who, _), .hold(let who, _), .muteParticipant(let who, _),
            .updateParticipant(let who, _, _):
            try checkPresence(of: who, in: room)
        case .mute(let track, _): try checkTracks([track], in: room)
        case .subscribe(let who, let tracks, _):
            try checkPresence(of: who, in: room)
            try checkTracks(tracks, in: room)
        case .startRecording:
            guard context.gateway.recorder != nil else {
                throw HTTPError(.unsupported, "recording is not configured on this gateway")
            }
        case .callProcedure:
            throw HTTPError(.invalidArgument, "a call is a query of its own, which waits for the outcome")
        case .delete, .close, .updateMetadata, .sendData, .stopRecording, .agentWaiting, .agentExpected: break
        }
        do throws(RequestError) {
            try room.check(command)
        } catch {
            throw HTTPError(error)
        }
    }

    private func checkPresence(of identity: Identity, in room: Room) throws(HTTPError) {
        guard room.handle(of: identity) != nil else {
            throw HTTPError(.participantNotFound, "no participant of that identity is in the room")
        }
    }

    private func checkTracks(_ tracks: [TrackSID], in room: Room) throws(HTTPError) {
        let published = Set(room.participants.flatMap { $0.tracks ?? [] }.map(\.sid))
        guard published.isSuperset(of: tracks) else { throw HTTPError(.trackNotFound, "no track of that sid is in the room") }
    }

    private func hostedRoom(_ name: String) throws(HTTPError) -> (index: Int, hosted: HostedRoom) {
        guard let index = table.index(named: name), let hosted = table[index] else { throw RoomService.roomNotFound }
        return (index, hosted)
    }

    // MARK: Reports

    /// The reporting settings of a new room, and whether its audit events go to the services.
    ///
    /// Every room reports them, if only for its own log.
    func reporting(of name: String) -> (settings: RoomReporting, isReported: Bool) {
        var settings = context.gateway.auditEvents?.reporting(name) ?? .nothing
        if context.gateway.recorder == nil { settings.records = false }
        settings.reportsAgents = context.gateway.dispatch != nil
        let isReported = settings.reportsEvents
        settings.reportsEvents = true
        return (settings, isReported)
    }

    func notifyDispatch(of presence: AgentPresence, of agent: Identity, in index: Int) {
        guard let dispatch = context.gateway.dispatch, let hosted = table[index], CallParty(agent).isAssistant else { return }
        dispatch.post(.agent(agent, in: hosted.name, presence, epoch: epoch(of: hosted)))
    }

    func record(_ event: Room.AuditEvent, in room: Room.Snapshot, of hosted: HostedRoom) {
        hosted.log.append(event, at: WallClock.milliseconds)
        report(event, in: room, of: hosted)
    }

    private func report(_ event: Room.AuditEvent, in room: Room.Snapshot, of hosted: HostedRoom) {
        context.gateway.operatorLog.record(event, in: room)
        guard hosted.isReported, let queue = context.gateway.auditEvents else { return }
        var reported = RoomAuditEvent(.room(event), room: room, at: WallClock.milliseconds)
        reported.epoch = epoch(of: hosted)
        let outcome = queue.append(reported)
        guard case .refused(let isFirst) = outcome else { return }
        context.counters.auditEventsLost += 1
        if isFirst {
            context.log.error("audit events are lost: their reader does not keep up", metadata: ["queued": .stringConvertible(queue.count)])
        }
    }

    /// The shard stops while rooms are open: reports them as finished, and ends their procedure calls.
    func reportOpenRoomsAsFinished() {
        for hosted in table.open {
            var effects: [Room.Effect] = []
            hosted.handle(.administered(.close(.serverShutdown)), at: context.now, into: &effects)
            for effect in effects {
                switch effect {
                case .record(let event, let room): report(event, in: room, of: hosted)
                case .procedureEnded(let number, let outcome): administrativeCalls.end(number, outcome)
                default: break
                }
            }
        }
    }
}
