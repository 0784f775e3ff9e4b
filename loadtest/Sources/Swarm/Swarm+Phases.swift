import Sockets

/// From ramp-up to leaving: when one stage is over and the next begins.
extension Swarm {
    /// How long the last joins may take, and what is on its way at the end, in nanoseconds.
    private static let patience: UInt64 = 25_000_000_000
    private static let drainTime: UInt64 = 2_000_000_000

    func changePhase(_ now: UInt64) {
        let spent = now &- timeline.phaseBegan
        switch phase {
        case .ramping:
            if Interruption.isAsked { return enter(.leaving, now) }
            guard firstRoundLeft == 0 else { return }
            let areJoining = calls.contains { $0.phase == .joining }
            // Where calls come and go somebody is always joining.
            if !areJoining || scenario.meanCallSeconds != nil || now &- nextStart > Self.patience && now > nextStart {
                enter(calls.contains { $0.phase == .talking } || scenario.meanCallSeconds != nil ? .warming : .leaving, now)
            }
        case .warming:
            if spent >= UInt64(scenario.warmupSeconds * 1e9) { enter(.measuring, now) }
        case .measuring:
            let isOver = scenario.totalCalls.map { total.callsEnded >= $0 } ?? (spent >= UInt64(scenario.seconds * 1e9))
            let isHopeless = calls.allSatisfy { $0.phase == .vacant } && startable.isEmpty
            if isOver || isHopeless || Interruption.isAsked { enter(.draining, now) }
        case .draining:
            if spent >= Self.drainTime || allHasArrived { enter(.leaving, now) }
        case .leaving:
            if spent >= Self.drainTime || calls.allSatisfy({ $0.open == 0 }) { enter(.done, now) }
        case .done: break
        }
    }

    private var allHasArrived: Bool {
        calls.indices.allSatisfy { call in
            guard calls[call].phase == .talking || calls[call].phase == .ending else { return true }
            return members(of: call).allSatisfy { slot in
                let hears = slots[slot].hears
                return hears < 0 || slots[slot].reception.missing(before: slots[hears].sequence) == 0
            }
        }
    }

    private func enter(_ next: RunPhase, _ now: UInt64) {
        phase = next
        timeline.phaseBegan = now
        switch next {
        case .measuring:
            tally = Tally()
            // Read anew: in this turn frames have been sent already.
            measuredFrom = clock
            for slot in slots.indices { slots[slot].measuredFrom = slots[slot].sequence }
            total.callsEnded = 0
            timeline.measure(from: now, server: ProcessSample(pid: serverPid), own: ProcessSample(pid: nil), calls: liveCalls)
            if let storm = scenario.reconnectStorm { nextStorm = now + UInt64(min(2, storm.everySeconds) * 1e9) }
        case .draining:
            timeline.measured(to: now, server: ProcessSample(pid: serverPid), own: ProcessSample(pid: nil), tally: tally)
        case .leaving:
            for call in calls.indices where calls[call].phase != .vacant {
                if calls[call].phase == .talking || calls[call].phase == .ending { settle(call) }
                leave(call, now)
            }
        case .done: loop.stop()
        default: break
        }
    }

    var liveCalls: Int {
        calls.reduce(into: 0) { $0 += $1.phase == .talking ? 1 : 0 }
    }

    func sampleEverySecond(_ now: UInt64) {
        guard now >= timeline.nextSample else { return }
        timeline.sample(
            at: now, calls: liveCalls, phase: phase, tally: tally, server: ProcessSample(pid: serverPid),
            own: ProcessSample(pid: nil))
        progress?.show(timeline.points.last, phase: phase, tally: tally, total: total, scenario: scenario)
    }
}
