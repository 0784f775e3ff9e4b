package import Wire

/// Calls that another process has left, as they were stored.
extension CallStateMachine {
    /// Continues calls that have not ended. Invitations ring for the usual time from now on. Joined members must be seen in the call's room
    /// within `arrivalTime`, as after an answer; the devices of all are expected to connect again.
    ///
    /// Call before any input.
    package mutating func restore(_ infos: [CallInfo], at now: Instant) {
        for info in infos where !info.status.isOver && calls[info.id] == nil && liveCount < Limits.callsMax {
            let call = Call(restoring: info)
            calls[call.id] = call
            liveCount += 1
            for (index, member) in call.members.enumerated() where member.state != .left {
                link(call, to: member.info.party)
                if member.state == .joined {
                    awaitArrival(at: index, of: call, from: now)
                } else {
                    awaitAnswer(at: index, of: call, from: now)
                }
            }
        }
    }

    /// Brings hold and mute of a member into agreement with the call's room. The member's latest request to this state machine decides.
    /// Without one the room does, because a stored call may lack these changes, and the member may have requested them in the room.
    mutating func adopt(_ media: CallMediaState, of party: CallParty, in id: CallID, at now: Instant, into effects: inout [Effect]) {
        guard var call = calls[id], !call.isOver, let index = call.index(of: party), call.members[index].state == .joined else { return }
        call.begin(at: wallClock)
        call.adopt(media, at: index)
        let decided = call.members[index].info
        if decided.held != media.held { effects.append(.hold(party, in: id, decided.held)) }
        if decided.muted != media.muted { effects.append(.mute(party, in: id, decided.muted)) }
        if !call.changes.isEmpty { commit(call, at: now, into: &effects) }
    }
}
