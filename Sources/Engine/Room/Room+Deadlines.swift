import Wire

extension Room {
    /// Does all that is due, and finds the next time at which something will be. Linear in participants and tracks.
    mutating func meetDeadlines(at now: Instant, into effects: inout [Effect]) {
        if lifetime.isOver(at: now) {
            close(.roomClosed, at: now, into: &effects)
            return
        }
        expireAbsences(at: now, into: &effects)
        expireProcedures(at: now, into: &effects)
        lookAtPlayouts(at: now, into: &effects)
        for place in 0..<members.count {
            if let milliseconds = members[at: place].silence.check(at: now) {
                send(.silence(members[at: place].identity, milliseconds: milliseconds), to: everyone, into: &effects)
            }
            tellHeldBackSpeaking(ofMemberAt: place, at: now, into: &effects)
            if members[at: place].refreshAt <= now { mintToken(forMemberAt: place, re: nil, at: now, into: &effects) }
        }
        tellSpeakers(at: now, into: &effects)

        alarm.clear()
        alarm.ring(noLaterThan: lifetime.deadline)
        alarm.ring(noLaterThan: procedures.deadline)
        alarm.ring(noLaterThan: speakers.deadline)
        for place in 0..<playouts.count { alarm.ring(noLaterThan: playouts[at: place].deadline(after: now)) }
        for place in 0..<members.count {
            alarm.ring(noLaterThan: members[at: place].activity.deadline)
            alarm.ring(noLaterThan: members[at: place].silence.deadline)
            alarm.ring(noLaterThan: members[at: place].refreshAt)
            alarm.ring(noLaterThan: members[at: place].absence?.until)
        }
    }
}
