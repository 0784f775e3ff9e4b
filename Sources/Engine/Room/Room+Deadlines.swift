import Wire

extension Room {
    /// Does all that is due, and finds the next time at which something will be. Linear in participants and tracks.
    mutating func processDeadlines(at now: Instant, into effects: inout [Effect]) {
        if emptyRoomTimeout.isOver(at: now) {
            close(.roomClosed, at: now, into: &effects)
            return
        }
        expireReconnectWindows(at: now, into: &effects)
        expireProcedures(at: now, into: &effects)
        checkPlayouts(at: now, into: &effects)
        for index in 0..<members.count {
            if let milliseconds = members[at: index].silence.check(at: now) {
                send(.silence(members[at: index].identity, milliseconds: milliseconds), to: everyone, into: &effects)
            }
            tellHeldBackSpeaking(ofMemberAt: index, at: now, into: &effects)
            processProfileDeadlines(ofMemberAt: index, at: now, into: &effects)
        }
        sendSpeakerChanges(at: now, into: &effects)

        wakeUp.clear()
        wakeUp.include(emptyRoomTimeout.deadline)
        wakeUp.include(procedures.deadline)
        wakeUp.include(speakers.deadline)
        for index in 0..<playouts.count { wakeUp.include(playouts[at: index].deadline(after: now)) }
        for index in 0..<members.count {
            wakeUp.include(members[at: index].activity.deadline)
            wakeUp.include(members[at: index].silence.deadline)
            wakeUp.include(members[at: index].refreshAt)
            wakeUp.include(members[at: index].updateBudget.updateDueAt)
            wakeUp.include(members[at: index].reconnectWindow?.until)
        }
    }
}
