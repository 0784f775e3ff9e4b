import Wire

/// What a call learns from its room.
extension CallStateMachine {
    mutating func ring(_ party: CallParty, in id: CallID, at now: Instant, into effects: inout [Effect]) {
        guard var call = calls[id], !call.isOver, let place = call.place(of: party) else { return }
        guard call.members[place].info.status == .started else { return }
        call.begin()
        call.ring(at: place)
        commit(call, at: now, into: &effects)
    }

    mutating func arrive(_ party: CallParty, in id: CallID, at now: Instant, into effects: inout [Effect]) {
        guard var call = calls[id], !call.isOver, let place = call.place(of: party) else { return }
        if case .assistant = party, call.members[place].state == .invited {
            let isFirst = call.status != .answered
            call.begin()
            call.answer(at: place, on: nil)
            call.setInRoom(at: place)
            commit(call, at: now, into: &effects)
            if isFirst, let caller = call.place(of: call.caller) { awaitArrival(at: caller, of: call, from: now) }
        } else if call.members[place].state == .joined {
            call.setInRoom(at: place)
            calls[id] = call
        }
    }

    mutating func depart(_ party: CallParty, from id: CallID, at now: Instant, into effects: inout [Effect]) {
        if var call = calls[id], !call.isOver, let place = call.place(of: party), call.members[place].isMoving {
            call.awaitMove(at: place)
            calls[id] = call
            return awaitArrival(at: place, of: call, from: now)
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
        guard var call = calls[id], !call.isOver, let place = call.place(of: party) else { return }
        let state = call.members[place].state
        guard ifJoined ? state == .joined : state != .left else { return }
        call.begin()
        call.leave(at: place, as: outcome, kind, reason: reason)
        commit(call, at: now, into: &effects)
    }

    mutating func awaitArrival(at place: Int, of call: Call, from now: Instant) {
        let member = call.members[place]
        guard let span = settings.arrivalTime, member.state == .joined, !member.isInRoom else { return }
        arrivals.append(CallTimer(at: now + span, call: call.id, party: member.info.party, stamp: member.stamp))
    }
}
