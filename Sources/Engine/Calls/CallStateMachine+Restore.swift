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
                    ringTimers.append(CallTimer(at: now + settings.ringTime, call: call.id, party: member.info.party, stamp: member.stamp))
                }
            }
        }
    }
}
