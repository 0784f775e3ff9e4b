import Wire

/// What a call learns from its room.
extension CallStateMachine {
    mutating func ring(_ party: CallParty, in id: CallID, at now: Instant, into effects: inout [Effect]) {
        guard var call = calls[id], !call.isOver, let index = call.index(of: party) else { return }
        guard call.members[index].info.status == .started else { return }
        call.begin()
        call.ring(at: index)
        commit(call, at: now, into: &effects)
    }

    mutating func arrive(_ party: CallParty, in id: CallID, at now: Instant, into effects: inout [Effect]) {
        guard var call = calls[id], !call.isOver, let index = call.index(of: party) else { return }
        if case .assistant = party, call.members[index].state == .invited {
            let isFirst = call.status != .answered
            call.begin()
            call.answer(at: index, on: nil)
            call.setInRoom(at: index)
            commit(call, at: now, into: &effects)
            if isFirst, let caller = call.index(of: call.caller) { awaitArrival(at: caller, of: call, from: now) }
        } else if call.members[index].state == .joined {
            call.setInRoom(at: index)
            calls[id] = call
        }
    }

    mutating func depart(_ party: CallParty, from id: CallID, at now: Instant, into effects: inout [Effect]) {
        if var call = calls[id], !call.isOver, let index = call.index(of: party), call.members[index].isMoving {
            call.awaitMove(at: index)
            calls[id] = call
            return awaitArrival(at: index, of: call, from: now)
        }
        leave(party, of: id, as: .completed, .left, ifJoined: true, at: now, into: &effects)
    }

    mutating func fail(_ party: CallParty, in id: CallID, _ reason: String, at now: Instant, into effects: inout [Effect]) {
        leave(party, of: id, as: .failed, .failed, reason: reason, at: now, into: &effects)
    }

    mutating func endRoom(of id: CallID, at now: Instant, into effects: inout [Effect]) {
        guard var call = calls[id], !call.isOver else { return }
        call.begin()
        call.end()
        commit(call, at: now, into: &effects)
    }

    /// Somebody is out by no request of its own.
    mutating func leave(
        _ party: CallParty, of id: CallID, as outcome: CallStatus, _ kind: CallEvent.Kind, ifJoined: Bool = false, reason: String? = nil,
        at now: Instant, into effects: inout [Effect]
    ) {
        guard var call = calls[id], !call.isOver, let index = call.index(of: party) else { return }
        let state = call.members[index].state
        guard ifJoined ? state == .joined : state != .left else { return }
        call.begin()
        call.leave(at: index, as: outcome, kind, reason: reason)
        commit(call, at: now, into: &effects)
    }

    mutating func awaitArrival(at index: Int, of call: Call, from now: Instant) {
        let member = call.members[index]
        guard let span = settings.arrivalTime, member.state == .joined, !member.isInRoom else { return }
        arrivals.append(CallTimer(at: now + span, call: call.id, party: member.info.party, stamp: member.stamp))
    }
}
