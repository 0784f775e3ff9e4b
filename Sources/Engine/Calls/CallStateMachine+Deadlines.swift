import Wire

extension CallStateMachine {
    mutating func processDeadlines(at now: Instant, into effects: inout [Effect]) {
        while let timer = rings.first, timer.at <= now {
            rings.removeFirst()
            guard let party = timer.party, member(of: timer)?.state == .invited else { continue }
            // A person who did not answer needs no explanation.
            let reason = party.isAssistant ? "the assistant did not answer in time" : nil
            leave(party, of: timer.call, as: .timeout, .missed, reason: reason, at: now, into: &effects)
        }
        while let timer = arrivals.first, timer.at <= now {
            arrivals.removeFirst()
            guard let party = timer.party, isAwaited(timer) else { continue }
            leave(party, of: timer.call, as: .failed, .failed, reason: "did not come to the room in time", at: now, into: &effects)
        }
        while let timer = over.first, timer.at <= now {
            over.removeFirst()
            forget(timer.call)
        }
    }

    /// Nobody is woken for what is settled.
    mutating func dropSettledTimers() {
        while let timer = rings.first, member(of: timer)?.state != .invited { rings.removeFirst() }
        while let timer = arrivals.first, !isAwaited(timer) { arrivals.removeFirst() }
    }

    private func isAwaited(_ timer: CallTimer) -> Bool {
        member(of: timer).map { $0.state == .joined && !$0.isInRoom } ?? false
    }

    /// The member that a timer was set for, unless it was invited anew or has answered since.
    private func member(of timer: CallTimer) -> Call.Member? {
        guard let call = calls[timer.call], !call.isOver, let index = timer.party.flatMap(call.index) else { return nil }
        return call.members[index].stamp == timer.stamp ? call.members[index] : nil
    }
}
