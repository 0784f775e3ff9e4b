internal import Engine
internal import HTTPServer
internal import Logging
internal import Sockets
internal import Wire

/// A drain under way.
struct Drain {
    let deadline: Instant
    /// Set when everybody has been sent away.
    var endsAt: Instant?
}

/// Ending in good order: nobody new, everybody told, then home when the rooms are empty or the time is over.
extension Shard {
    func startDraining(until span: Duration, wallClock: Int64) {
        if drain != nil {
            // Asked a second time: whoever asks does not want to wait.
            sendEverybodyAway()
            return
        }
        drain = Drain(deadline: clock.now + span)
        log.info("draining", metadata: ["participants": "\(counters.participants)"])
        for index in rooms.indices { perform(.draining(deadline: wallClock), in: index) }
        finishDrainIfEmpty()
        scheduleTick()
    }

    func checkDrain() {
        guard let drain else { return }
        if let endsAt = drain.endsAt, clock.now >= endsAt { return loop.stop() }
        if drain.endsAt == nil, clock.now >= drain.deadline { return sendEverybodyAway() }
        finishDrainIfEmpty()
    }

    /// Tells all shards once nobody is here any more, and nobody elsewhere is in a room that is. They end together: as long as there is
    /// a call, whoever asks is answered.
    func finishDrainIfEmpty() {
        guard drain != nil, counters.participants == 0, guests.isEmpty, openRequests.isEmpty, devices.isEmpty, !emptied.contains(index)
        else { return }
        for shard in common.mailboxes.indices { post(.emptied(shard: index), to: shard) }
    }

    func noteEmptied(_ shard: Int) {
        emptied.insert(shard)
        if drain != nil, emptied.count == common.mailboxes.count { loop.stop() }
    }

    private func sendEverybodyAway() {
        guard drain?.endsAt == nil else { return }
        // As long as a close handshake may take.
        drain?.endsAt = clock.now + .seconds(2)
        for case let member? in slots { close(member, .serverShutdown) }
        for device in devices.values { close(device, .serverShutdown) }
        finishDrainIfEmpty()
        scheduleTick()
    }
}
