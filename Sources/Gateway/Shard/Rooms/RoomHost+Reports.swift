internal import Backend
internal import Engine
internal import Logging
internal import Wire

/// Audit events of the rooms homed here, for services and webhooks.
extension RoomHost {
    /// A new room's settings, with what is to be reported and recorded of it.
    func reporting(_ settings: RoomSettings, of name: String) -> RoomSettings {
        var settings = settings
        if let queue = context.gateway.auditEvents {
            settings.reporting = queue.reporting(name)
            if context.gateway.recorder == nil { settings.reporting.records = false }
        }
        settings.reporting.reportsAgents = context.gateway.dispatch != nil
        return settings
    }

    func report(_ presence: AgentPresence, of agent: Identity, in index: Int) {
        guard let name = table[index]?.name, CallParty(agent).isAssistant else { return }
        context.gateway.dispatch?.post(.agent(agent, in: name, presence))
    }

    func record(_ event: Room.AuditEvent, in room: Room.Snapshot) {
        guard let queue = context.gateway.auditEvents else { return }
        let outcome = queue.append(RoomAuditEvent(.room(event), room: room, at: WallClock.milliseconds))
        guard case .refused(let isFirst) = outcome else { return }
        context.counters.auditEventsLost += 1
        if isFirst {
            context.log.error("audit events are lost: their reader does not keep up", metadata: ["queued": "\(queue.count)"])
        }
    }

    /// The shard stops while rooms are open: reports them as finished.
    func reportOpenRoomsAsFinished() {
        guard context.gateway.auditEvents != nil else { return }
        for hosted in table.open {
            var effects: [Room.Effect] = []
            hosted.handle(.administered(.close(.serverShutdown)), at: context.now, into: &effects)
            for case .record(let event, let room) in effects { record(event, in: room) }
        }
    }
}
