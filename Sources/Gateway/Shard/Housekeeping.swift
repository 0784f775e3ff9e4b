internal import Backend
internal import Engine
internal import Logging
internal import Sockets
internal import Wire

/// Periodic work of a shard. One timer; work is spread over the ticks, so that no tick takes long.
final class Housekeeping {
    private let context: ShardContext
    private let slots: SlotTable<ParticipantConnection>
    private let sender: FrameSender
    private let media: MediaRelay
    private let rooms: RoomHost
    private let channels: Channels
    /// The last 20 ms period whose work was done; 0 before the first.
    private var lastPeriod = 0
    private var pauses = PauseDetector()
    private var busyRatio = BusyRatio()
    private var nextAcceptWarning = Instant(nanoseconds: 0)

    /// The pause between ticks while there are participants.
    static var busyInterval: Duration { .milliseconds(20) }
    private static var idleInterval: Duration { .milliseconds(500) }
    private static var periodNanoseconds: UInt64 { 20_000_000 }
    /// After a pause of more periods than these, the missed ones are skipped.
    private static var missedPeriodsMax: Int { 50 }
    /// Intervals, in periods, at which room meters (400 ms), publishers' talkspurts (100 ms) and participants (1 s) are checked.
    private static var measurementPeriods: Int { 20 }
    private static var talkspurtPeriods: Int { 5 }
    private static var participantPeriods: Int { 50 }
    /// Seconds between two statistics reports, and between two delivery probes while no media is sent.
    private static var reportSeconds: Int { 5 }
    private static var probeSeconds: Int { 10 }

    init(
        _ context: ShardContext, _ slots: SlotTable<ParticipantConnection>, _ sender: FrameSender, _ media: MediaRelay,
        _ rooms: RoomHost, _ channels: Channels
    ) {
        self.context = context
        self.slots = slots
        self.sender = sender
        self.media = media
        self.rooms = rooms
        self.channels = channels
    }

    func scheduleNext() {
        let isBusy = context.counters.participants > 0 || rooms.hasRemoteParticipants
        let hasQueues = !sender.waitingSlots.isEmpty
        context.wake(within: hasQueues ? FrameSender.queueInterval : isBusy ? Self.busyInterval : Self.idleInterval)
    }

    func tick() {
        if let due = context.takeTick() {
            notePause(since: due)
            let lag = max(.zero, context.loop.exactNow - due)
            sender.recentLag = max(.nanoseconds(sender.recentLag.inNanoseconds / 2), lag)
            context.counters.loopLagSeconds.add(Double(lag.inNanoseconds) / 1e9)
        }
        media.flushWaiting()
        media.releaseDue()
        measureBusyRatio()
        // Ticks may come more often than periods; periodic work follows the clock and not the number of ticks.
        let period = Int(context.now.nanoseconds / Self.periodNanoseconds)
        if lastPeriod == 0 || period - lastPeriod > Self.missedPeriodsMax { lastPeriod = period - 1 }
        while lastPeriod < period {
            lastPeriod += 1
            work(in: lastPeriod)
        }
    }

    /// The process may have stood still since the timer was due. Then clients are probed first and have the usual time to answer, and windows
    /// to resume go on.
    private func notePause(since due: Instant) {
        guard let pause = pauses.timerFired(at: context.now, dueAt: due) else { return }
        context.log.warning(
            "the gateway stood still; clients have time to answer",
            metadata: ["seconds": "\(Double(pause.inMilliseconds) / 1_000)", "participants": "\(context.counters.participants)"])
        rooms.applyToAll(.paused(pause))
    }

    /// Measures once a second and publishes the counters. By the clock, because an overloaded shard skips periods.
    private func measureBusyRatio() {
        guard busyRatio.isDue(at: context.now), let time = BusyRatio.threadTime else { return }
        busyRatio.measured(cpuTime: time, at: context.now)
        context.counters.busyRatio = busyRatio.value
        publishMetrics()
    }

    private func work(in period: Int) {
        let publishers = media.panel.patches.count
        for slot in stride(from: period % Self.talkspurtPeriods, to: publishers, by: Self.talkspurtPeriods) {
            media.endTalkspurts(ofSlot: slot)
        }
        for room in stride(from: period % Self.measurementPeriods, to: rooms.table.indices.count, by: Self.measurementPeriods) {
            rooms.measure(room)
        }
        if context.shardIndices.count > 1 {
            for slot in stride(from: period % Self.measurementPeriods, to: publishers, by: Self.measurementPeriods) {
                measureForRemoteRoom(slot)
            }
        }
        rooms.applyDeadlines()
        for slot in stride(from: period % Self.participantPeriods, to: slots.count, by: Self.participantPeriods) {
            if let participant = slots[slot] { check(participant, second: period / Self.participantPeriods) }
        }
        guard period % Self.participantPeriods == 0 else { return }
        channels.check(pauses)
        media.expireEarlierSpeech()
        context.gateway.operatorLog.noteSuppressedRefusals(at: context.now)
    }

    /// Measures the tracks of a publisher whose room is homed on another shard.
    private func measureForRemoteRoom(_ slot: Int) {
        guard let publisher = slots[slot], case .remote = publisher.session.room else { return }
        let measurements = media.takeMeasurements(ofSlots: [slot])
        if !measurements.isEmpty { rooms.submit(.measured(measurements), from: publisher) }
    }

    /// Checks that a participant is alive, and reports its statistics. Once a second.
    private func check(_ participant: ParticipantConnection, second: Int) {
        guard participant.socket.phase == .open, let silence = participant.checkLiveness(pauses) else { return }
        // Spread over participants.
        let turn = second + Int(participant.handle.slot)
        // Each is checked once within the second after a pause.
        let needsProbe = turn.isMultiple(of: Self.probeSeconds) || pauses.hasEnded(within: .seconds(1), at: context.now)
        if needsProbe, participant.flow.probe.isDue(at: context.now) { sender.sendProbe(to: participant) }
        if turn.isMultiple(of: Self.reportSeconds), context.now - participant.session.joinStartedAt >= .seconds(4) {
            reportStatistics(of: participant, isSilent: silence > .seconds(10))
        }
    }

    private func reportStatistics(of participant: ParticipantConnection, isSilent: Bool) {
        guard let path = participant.socket.tcp.path else { return }
        let interval = participant.statistics.takeInterval()
        let stats = ConnectionStats(
            rttMs: Double(path.roundTrip.inNanoseconds / 10_000) / 100, sent: participant.statistics.framesSent,
            dropped: participant.statistics.framesDropped, lateP99Ms: participant.statistics.lateness.takeP99(sent: interval.sent))
        participant.send(EncodedEvent(.stats(stats)))
        let total = interval.sent + interval.dropped
        let loss = total == 0 ? 0 : Double(interval.dropped) * 100 / Double(total)
        let measurement = ConnectionMeasurement(
            roundTrip: path.roundTrip, jitter: path.roundTripVariation, lossPercent: loss, isSilent: isSilent)
        rooms.submit(.connectionMeasured(participant.handle, measurement), from: participant)
    }

    /// Logs that a listener paused, at most once every ten seconds; `patchbay_accept_failures_total` counts all pauses.
    func logAcceptFailure(_ error: AcceptError) {
        guard context.now >= nextAcceptWarning else { return }
        nextAcceptWarning = context.now + .seconds(10)
        context.log.error(
            "cannot accept connections; raise the limit of open files (`ulimit -n`, LimitNOFILE=)", metadata: ["reason": "\(error)"])
    }

    func publishMetrics() {
        context.counters.rooms = rooms.table.openCount
        context.counters.channels = channels.count
        context.counters.tracks = media.panel.count
        context.counters.framesHeld = sender.storedFrames
        context.counters.earlierTracks = media.earlier.count
        context.counters.aheadTracks = media.aheads.count
        context.counters.aheadBytesHeld = media.aheads.storedBytes
        context.counters.loop = context.loop.counters
        context.gateway.metrics.publish(context.counters, ofShard: context.index)
    }
}
