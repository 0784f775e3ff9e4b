internal import Backend
internal import Engine
internal import Logging
internal import Sockets
internal import Wire

/// What rooms homed here tell outside.
extension Shard {
    /// The settings of a room that is made now, with what is to be kept of it.
    func kept(_ settings: RoomSettings, room name: String) -> RoomSettings {
        guard let facts = common.facts else { return settings }
        var settings = settings
        settings.reporting = facts.reporting(name)
        if common.recorder == nil { settings.reporting.records = false }
        return settings
    }

    func record(_ fact: Room.AuditEvent, in room: Room.Snapshot) {
        guard let facts = common.facts else { return }
        let outcome = facts.append(RoomAuditEvent(.room(fact), room: room, at: WallClock.milliseconds))
        guard case .refused(let isFirst) = outcome else { return }
        counters.factsLost += 1
        if isFirst { log.error("facts are lost: whoever keeps records does not keep up", metadata: ["waiting": "\(facts.count)"]) }
    }

    /// The shard stops with rooms that are still open: for whoever keeps records they end here.
    func tellLastFacts() {
        guard common.facts != nil else { return }
        for case let hosted? in rooms {
            var effects: [Room.Effect] = []
            hosted.handle(.administered(.close(.serverShutdown)), at: clock.now, into: &effects)
            for case .record(let fact, let room) in effects { record(fact, in: room) }
        }
    }
}
