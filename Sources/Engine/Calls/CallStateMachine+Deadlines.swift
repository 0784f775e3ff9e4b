internal import DequeModule
internal import Wire

/// The deadlines of all calls, in order of time: each kind has one duration.
struct CallTimers: Sendable {
    /// Invitations that are missed if nobody answers.
    var ringing: Deque<CallTimer> = []
    /// Members that have answered and must join the call's room.
    var arriving: Deque<CallTimer> = []
    /// Ended calls that are forgotten.
    var ended: Deque<CallTimer> = []

    var deadline: Instant? {
        [ringing.first?.at, arriving.first?.at, ended.first?.at].compactMap { $0 }.min()
    }
}

/// A deadline of a call or of one member.
struct CallTimer: Sendable {
    var at: Instant
    var call: CallID
    /// Nil means the whole call.
    var party: CallParty?
    /// The member's stamp when the timer was set; a different one means it no longer matters.
    var stamp: UInt64 = 0
}

extension CallStateMachine {
    mutating func awaitAnswer(at index: Int, of call: Call, from now: Instant) {
        let member = call.members[index]
        timers.ringing.append(CallTimer(at: now + settings.ringTime, call: call.id, party: member.info.party, stamp: member.stamp))
    }

    mutating func awaitArrival(at index: Int, of call: Call, from now: Instant) {
        let member = call.members[index]
        guard let span = settings.arrivalTime, member.state == .joined, !member.isInRoom else { return }
        timers.arriving.append(CallTimer(at: now + span, call: call.id, party: member.info.party, stamp: member.stamp))
    }

    mutating func processDeadlines(at now: Instant, into effects: inout [Effect]) {
        while let timer = timers.ringing.first, timer.at <= now {
            timers.ringing.removeFirst()
            guard let party = timer.party, member(of: timer)?.state == .invited else { continue }
            // Missed calls of users carry no reason.
            let reason = party.isAssistant ? "the assistant did not answer in time" : nil
            leave(party, of: timer.call, as: .timeout, .missed, reason: reason, at: now, into: &effects)
        }
        while let timer = timers.arriving.first, timer.at <= now {
            timers.arriving.removeFirst()
            guard let party = timer.party, isAwaited(timer) else { continue }
            leave(party, of: timer.call, as: .failed, .failed, reason: "did not join the room in time", at: now, into: &effects)
        }
        while let timer = timers.ended.first, timer.at <= now {
            timers.ended.removeFirst()
            removeCall(timer.call)
        }
    }

    /// Drops timers that no longer matter.
    mutating func dropSettledTimers() {
        while let timer = timers.ringing.first, member(of: timer)?.state != .invited { timers.ringing.removeFirst() }
        while let timer = timers.arriving.first, !isAwaited(timer) { timers.arriving.removeFirst() }
    }

    private func isAwaited(_ timer: CallTimer) -> Bool {
        member(of: timer).map { $0.state == .joined && !$0.isInRoom } ?? false
    }

    /// The member that a timer was set for, unless it was invited again or has answered since.
    private func member(of timer: CallTimer) -> Call.Member? {
        guard let call = calls[timer.call], !call.isOver, let index = timer.party.flatMap(call.index) else { return nil }
        return call.members[index].stamp == timer.stamp ? call.members[index] : nil
    }
}
