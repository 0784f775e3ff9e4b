internal import Backend
internal import Engine
internal import Logging
internal import Wire

/// Audit events of the rooms homed here, for the log, services and webhooks.
extension RoomHost {
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

    func report(_ presence: AgentPresence, of agent: Identity, in index: Int) {
        guard let name = table[index]?.name, CallParty(agent).isAssistant else { return }
        context.gateway.dispatch?.post(.agent(agent, in: name, presence))
    }

    func record(_ event: Room.AuditEvent, in room: Room.Snapshot, of hosted: HostedRoom) {
        hosted.log.append(event, at: WallClock.milliseconds)
        record(event, in: room, isReported: hosted.isReported)
    }

    private func record(_ event: Room.AuditEvent, in room: Room.Snapshot, isReported: Bool) {
        context.gateway.operatorLog.record(event, in: room)
        guard isReported, let queue = context.gateway.auditEvents else { return }
        let outcome = queue.append(RoomAuditEvent(.room(event), room: room, at: WallClock.milliseconds))
        guard case .refused(let isFirst) = outcome else { return }
        context.counters.auditEventsLost += 1
        if isFirst {
            context.log.error("audit events are lost: their reader does not keep up", metadata: ["queued": "\(queue.count)"])
        }
    }

    /// The shard stops while rooms are open: reports them as finished.
    func reportOpenRoomsAsFinished() {
        for hosted in table.open {
            var effects: [Room.Effect] = []
            hosted.handle(.administered(.close(.serverShutdown)), at: context.now, into: &effects)
            for case .record(let event, let room) in effects { record(event, in: room, isReported: hosted.isReported) }
        }
    }
}
