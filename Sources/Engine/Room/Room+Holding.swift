import Wire

extension Room {
    /// Puts somebody's call on hold or takes it back: it neither hears nor is heard, and remembers what was muted and
    /// subscribed.
    ///
    /// - Parameter requester: nil where the word came from outside the room.
    mutating func hold(_ held: Bool, by requester: Requester?, at index: Int, now: Instant, into effects: inout [Effect]) {
        let before = members[at: index]
        guard before.isHeld != held else {
            if let requester { reply(to: requester, into: &effects) }
            return
        }
        updateSubscriptions(index, at: now, into: &effects) { $0.isHeld = held }
        for sid in before.tracks {
            if let track = tracks[sid] { updateGate(sid, ofMemberAt: index, from: track.gate(by: before), into: &effects) }
        }
        if let requester { reply(to: requester, into: &effects) }
        if held {
            for sid in before.tracks {
                if let track = tracks.index(of: sid) { stopTalk(at: track, now: now, into: &effects) }
            }
        }
        send(held ? .callHeld(by: before.identity) : .callResumed(by: before.identity), to: audience(of: before), into: &effects)
        tell(.held(before.identity, held), into: &effects)
        if held { sendSpeakerChanges(at: now, into: &effects) }
        watchSilence(ofMemberAt: index, at: now)
    }
}
