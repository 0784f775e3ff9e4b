import Wire

extension Room {
    mutating func mute(
        _ sid: TrackSID, _ muted: Bool, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        if track.publisher != requester.handle {
            guard members[at: index].isRoomAdmin else {
                throw RequestError(.notAllowed, "only a room admin may mute somebody else's track")
            }
            // LiveKit's rule: nobody's microphone is opened from afar.
            guard muted else { throw RequestError(.notAllowed, "remote unmute not enabled") }
        }
        setMuted(muted, sid, answering: requester, at: now, into: &effects)
    }

    /// Mutes or unmutes, whoever wants it. Says nothing more than the answer if it is so already.
    mutating func setMuted(
        _ muted: Bool, _ sid: TrackSID, answering requester: Requester? = nil, at now: Instant, into effects: inout [Effect]
    ) {
        guard let index = tracks.index(of: sid), let publisher = members.index(of: tracks[at: index].publisher) else { return }
        let before = tracks[at: index]
        let gate = before.gate(by: members[at: publisher])
        tracks[at: index].info.muted = muted
        if before.info.muted != muted { updateGate(sid, ofMemberAt: publisher, from: gate, into: &effects) }
        if let requester { reply(to: requester, into: &effects) }
        guard before.info.muted != muted else { return }
        if muted { stopTalk(at: index, now: now, into: &effects) }
        let identity = before.info.participant
        send(muted ? .trackMuted(sid, of: identity) : .trackUnmuted(sid, of: identity), to: everyone, into: &effects)
        if muted { sendSpeakerChanges(at: now, into: &effects) }
        watchSilence(ofMemberAt: publisher, at: now)
    }

    /// Patches a track's gate if what it lets through is another than before.
    func updateGate(_ sid: TrackSID, ofMemberAt publisher: Int, from before: Gate, into effects: inout [Effect]) {
        guard let track = tracks[sid] else { return }
        let gate = track.gate(by: members[at: publisher])
        guard gate != before else { return }
        patch(.gate(track.info.alias, by: track.publisher, gate), into: &effects)
    }

    /// Mutes all that somebody publishes, or may publish later, or lets it be heard again as far as its tracks are not muted themselves.
    mutating func silence(_ silenced: Bool, ofMemberAt index: Int, at now: Instant, into effects: inout [Effect]) {
        let before = members[at: index]
        guard before.isMutedByAdmin != silenced else { return }
        members[at: index].isMutedByAdmin = silenced
        for track in before.tracks.compactMap({ tracks[$0] }) {
            updateGate(track.info.sid, ofMemberAt: index, from: track.gate(by: before), into: &effects)
            if silenced, let index = tracks.index(of: track.info.sid) { stopTalk(at: index, now: now, into: &effects) }
        }
        send(silenced ? .callMuted(by: before.identity) : .callUnmuted(by: before.identity), to: audience(of: before), into: &effects)
        if silenced { sendSpeakerChanges(at: now, into: &effects) }
        watchSilence(ofMemberAt: index, at: now)
    }

    /// A track lets nothing through from now on: it does not talk, and its publisher does not speak through it.
    mutating func stopTalk(at index: Int, now: Instant, into effects: inout [Effect]) {
        interruptTalk(at: index, .muted, now: now, into: &effects)
        let sid = tracks[at: index].info.sid
        speakers.resetLevel(of: sid)
        if let playout = playouts.index(of: sid) { playouts[at: playout].pause(at: now) }
    }
}
