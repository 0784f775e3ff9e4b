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
        for playout in playouts.values { alarm.ring(noLaterThan: playout.deadline(after: now)) }
        for member in members.values {
            alarm.ring(noLaterThan: member.activity.deadline)
            alarm.ring(noLaterThan: member.silence.deadline)
            alarm.ring(noLaterThan: member.refreshAt)
            alarm.ring(noLaterThan: member.absence?.until)
        }
    }
}
