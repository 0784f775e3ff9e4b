internal import Engine
internal import Wire

/// Periodic work, as in the gateway's `Housekeeping`.
extension SimulatedShard {
    private static var talkTicks: Int { 5 }
    private static var measureTicks: Int { 20 }
    private static var livenessTicks: Int { 50 }

    func scheduleTick() {
        let isBusy = participants > 0 || !guests.isEmpty
        let due = now + (waiting.isEmpty ? (isBusy ? .milliseconds(20) : .milliseconds(500)) : .milliseconds(10))
        if let nextTick, nextTick <= due { return }
        nextTick = due
        world.schedule.add(.turn(shard: index), at: max(due, world.now))
    }

    func timerFired() {
        if let nextTick { recentLag = max(recentLag / 2, max(.zero, world.now - nextTick)) }
        nextTick = nil
        pumpWaiting()
        releaseActive()
        world.pacing.checkAfterTick(self, in: world)
        let tick = Int(now.nanoseconds / 20_000_000)
        if tick != ticks {
            if ticks == 0 || tick - ticks > 50 { ticks = tick - 1 }
            while ticks < tick {
                ticks += 1
                everyTick(ticks)
            }
        }
        scheduleTick()
    }

    private func everyTick(_ tick: Int) {
        for slot in stride(from: tick % Self.talkTicks, to: panel.patches.count, by: Self.talkTicks) { endTalk(of: slot) }
        for room in stride(from: tick % Self.measureTicks, to: rooms.count, by: Self.measureTicks) { measure(room: room) }
        for slot in stride(from: tick % Self.measureTicks, to: panel.patches.count, by: Self.measureTicks) { measure(slot: slot) }
        for room in rooms.indices {
            if let deadline = rooms[room]?.status.deadline, deadline <= now { perform(.deadlinePassed, in: room) }
        }
        for slot in stride(from: tick % Self.livenessTicks, to: slots.count, by: Self.livenessTicks) {
            if let member = slots[slot] { checkLiveness(of: member, second: tick / Self.livenessTicks) }
        }
    }

    private func endTalk(of slot: Int) {
        for (track, edge) in panel.endTalk(of: slot, at: now) {
            if let publisher = slots[slot] { talk(edge, of: track, publishedBy: publisher) }
        }
    }

    private func measure(room: Int) {
        guard let hosted = rooms[room] else { return }
        var measurements: [TrackMeasurement] = []
        for slot in hosted.slots { panel.takeMeasurements(of: slot, into: &measurements) }
        if !measurements.isEmpty { perform(.measured(measurements), in: room) }
    }

    private func measure(slot: Int) {
        guard let publisher = slots[slot], case .on = publisher.location else { return }
        var measurements: [TrackMeasurement] = []
        panel.takeMeasurements(of: slot, into: &measurements)
        if !measurements.isEmpty { report(.measured(measurements), roomOf: publisher) }
    }

    private func checkLiveness(of member: SimulatedMember, second: Int) {
        guard member.connection.phase == .open else { return }
        let silent = now - member.lastReceived
        if silent >= .milliseconds(ProtocolLimits.pingTimeoutMilliseconds) { return close(member, .pingTimeout) }
        let turn = second + Int(member.handle.slot)
        if turn.isMultiple(of: 10), member.deliveryProbe.isDue(at: now) { sendProbe(from: member) }
        if turn.isMultiple(of: 5), now - member.connection.openedAt >= .seconds(4) { report(to: member, isSilent: silent > .seconds(10)) }
    }

    private func report(to member: SimulatedMember, isSilent: Bool) {
        let sent = member.framesSent - member.reported.sent
        let dropped = member.framesDropped - member.reported.dropped
        member.reported = (member.framesSent, member.framesDropped)
        let roundTrip = member.connection.latency * 2
        send(
            .stats(
                ConnectionStats(
                    rttMs: Double(roundTrip.inMilliseconds), sent: member.framesSent, dropped: member.framesDropped, lateP99Ms: 0)),
            to: member)
        let loss = sent + dropped == 0 ? 0 : Double(dropped) * 100 / Double(sent + dropped)
        let measurement = ConnectionMeasurement(
            roundTrip: roundTrip, jitter: member.connection.jitter, lossPercent: loss, isSilent: isSilent)
        report(.connectionMeasured(member.handle, measurement), roomOf: member)
    }
}
