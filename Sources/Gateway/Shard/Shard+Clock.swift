internal import Engine
internal import Sockets
internal import Wire

/// What happens by the clock. One timer; the work that repeats is dealt out over the ticks, so that no tick is long.
extension Shard {
    /// While somebody waits for frames.
    private static var waitingTick: Duration { .milliseconds(10) }
    /// While somebody is here.
    private static var busyTick: Duration { .milliseconds(20) }
    private static var idleTick: Duration { .milliseconds(500) }
    /// A room's meters are read in every 20th tick (400 ms), a publisher's talkspurts looked at in every 5th.
    private static var measureTicks: Int { 20 }
    private static var talkTicks: Int { 5 }
    /// A member is looked after in every 50th tick (1 s).
    private static var careTicks: Int { 50 }

    /// Sees to it that the timer rings in time for what has just come up.
    func scheduleTick() {
        let pause = waiting.isEmpty ? (isBusy ? Self.busyTick : Self.idleTick) : Self.waitingTick
        let due = clock.now + pause
        if let nextTick, nextTick <= due { return }
        nextTick = due
        loop.wake(at: due)
    }

    private var isBusy: Bool { counters.participants > 0 || !guests.isEmpty }

    func timerRang() {
        if let nextTick {
            let lag = max(.zero, loop.exactNow - nextTick)
            recentLag = max(.nanoseconds(recentLag.inNanoseconds / 2), lag)
            counters.loopLagSeconds.add(Double(lag.inNanoseconds) / 1e9)
        }
        nextTick = nil
        pumpWaiting()
        releaseActive()
        // With somebody waiting the timer rings twice as often; the rest keeps its pace by the clock and not by the count.
        let tick = Int(clock.now.nanoseconds / 20_000_000)
        if tick != ticks {
            if ticks == 0 || tick - ticks > 50 { ticks = tick - 1 }
            while ticks < tick {
                ticks += 1
                everyTick(ticks)
            }
        }
        checkDrain()
        scheduleTick()
    }

    private func everyTick(_ tick: Int) {
        for slot in stride(from: tick % Self.talkTicks, to: panel.patches.count, by: Self.talkTicks) { watchTalk(of: slot) }
        for room in stride(from: tick % Self.measureTicks, to: rooms.count, by: Self.measureTicks) { measure(room: room) }
        if common.mailboxes.count > 1 {
            for slot in stride(from: tick % Self.measureTicks, to: panel.patches.count, by: Self.measureTicks) { measure(slot: slot) }
        }
        for room in roomDeadlines.indices {
            if let deadline = roomDeadlines[room], deadline <= clock.now { perform(.deadlinePassed, in: room) }
        }
        for slot in stride(from: tick % Self.careTicks, to: slots.count, by: Self.careTicks) {
            if let member = slots[slot] { look(after: member, second: tick / Self.careTicks) }
        }
        guard tick % Self.careTicks == 0 else { return }
        lookAfterDevices()
        publishMetrics()
    }

    private func watchTalk(of slot: Int) {
        for (track, edge) in panel.endTalk(of: slot, at: clock.now) {
            if let publisher = slots[slot] { talk(edge, of: track, publishedBy: publisher) }
        }
    }

    /// All of a room's publishers here together: who stops and who begins is told in one event.
    private func measure(room: Int) {
        guard let hosted = rooms[room] else { return }
        var measurements: [TrackMeasurement] = []
        for slot in hosted.slots { panel.takeMeasurements(of: slot, into: &measurements) }
        if !measurements.isEmpty { perform(.measured(measurements), in: room) }
    }

    /// One whose room is on another shard.
    private func measure(slot: Int) {
        guard let publisher = slots[slot], case .on = publisher.place else { return }
        var measurements: [TrackMeasurement] = []
        panel.takeMeasurements(of: slot, into: &measurements)
        if !measurements.isEmpty { tell(.measured(measurements), roomOf: publisher) }
    }

    /// Signs of life, statistics and quality of one member, once a second.
    private func look(after member: Member, second: Int) {
        guard member.connection.phase == .open else { return }
        let silent = clock.now - member.lastHeard
        if silent >= .milliseconds(ProtocolLimits.pingTimeoutMilliseconds) {
            close(member, .pingTimeout)
            return
        }
        let turn = second + Int(member.handle.slot)
        if turn.isMultiple(of: 10), member.deliveryProbe.isDue(at: clock.now) { sendProbe(from: member) }
        if turn.isMultiple(of: 5), clock.now - member.connection.openedAt >= .seconds(4) {
            report(to: member, isSilent: silent > .seconds(10))
        }
    }

    private func report(to member: Member, isSilent: Bool) {
        guard let path = member.connection.tcp.path else { return }
        let sent = member.framesSent - member.reported.sent
        let dropped = member.framesDropped - member.reported.dropped
        member.reported = (member.framesSent, member.framesDropped)
        let late = member.lateness.takeP99(direct: sent)
        send(
            .stats(
                ConnectionStats(
                    rttMs: Double(path.roundTrip.inNanoseconds / 10_000) / 100, sent: member.framesSent, dropped: member.framesDropped,
                    lateP99Ms: late)), to: member)
        let loss = sent + dropped == 0 ? 0 : Double(dropped) * 100 / Double(sent + dropped)
        tell(
            .connectionMeasured(
                member.handle,
                ConnectionMeasurement(
                    roundTrip: path.roundTrip, jitter: path.roundTripVariation, lossPercent: loss, isSilent: isSilent)),
            roomOf: member)
    }
}

extension Shard {
    /// Logs that a listener paused, at most once every ten seconds; `patchbay_accept_failures_total` counts all pauses.
    func acceptFailed(_ error: AcceptError) {
        guard loop.now >= nextAcceptWarning else { return }
        nextAcceptWarning = loop.now + .seconds(10)
        log.error(
            "cannot accept connections; raise the limit of open files (`ulimit -n`, LimitNOFILE=)", metadata: ["reason": "\(error)"])
    }
}
