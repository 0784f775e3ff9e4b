import Wire

extension Room {
    mutating func mute(
        _ sid: TrackSID, _ muted: Bool, by requester: Requester, at place: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        if track.publisher != requester.handle {
            guard members[at: place].isRoomAdmin else {
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
        guard let place = tracks.place(of: sid), let publisher = members.place(of: tracks[at: place].publisher) else { return }
        let before = tracks[at: place]
        let gate = before.gate(by: members[at: publisher])
        tracks[at: place].info.muted = muted
        if before.info.muted != muted { regate(sid, ofMemberAt: publisher, from: gate, into: &effects) }
        if let requester { reply(to: requester, into: &effects) }
        guard before.info.muted != muted else { return }
        if muted { fallSilent(at: place, now: now, into: &effects) }
        let identity = before.info.participant
        send(muted ? .trackMuted(sid, of: identity) : .trackUnmuted(sid, of: identity), to: everyone, into: &effects)
        if muted { tellSpeakers(at: now, into: &effects) }
        watchSilence(ofMemberAt: publisher, at: now)
    }

    /// Patches a track's gate if what it lets through is another than before.
    func regate(_ sid: TrackSID, ofMemberAt publisher: Int, from before: Gate, into effects: inout [Effect]) {
        guard let track = tracks[sid] else { return }
        let gate = track.gate(by: members[at: publisher])
        guard gate != before else { return }
        patch(.gate(track.info.alias, by: track.publisher, gate), into: &effects)
    }

    /// Mutes all that somebody publishes, or may publish later, or lets it be heard again as far as its tracks are not muted themselves.
    mutating func silence(_ silenced: Bool, ofMemberAt place: Int, at now: Instant, into effects: inout [Effect]) {
        let before = members[at: place]
        guard before.isSilenced != silenced else { return }
        members[at: place].isSilenced = silenced
        for track in before.tracks.compactMap({ tracks[$0] }) {
            regate(track.info.sid, ofMemberAt: place, from: track.gate(by: before), into: &effects)
            if silenced, let place = tracks.place(of: track.info.sid) { fallSilent(at: place, now: now, into: &effects) }
        }
        send(silenced ? .callMuted(by: before.identity) : .callUnmuted(by: before.identity), to: audience(of: before), into: &effects)
        if silenced { tellSpeakers(at: now, into: &effects) }
        watchSilence(ofMemberAt: place, at: now)
    }

    /// A track lets nothing through from now on: it does not talk, and its publisher does not speak through it.
    mutating func fallSilent(at place: Int, now: Instant, into effects: inout [Effect]) {
        cutOffTalk(at: place, .muted, now: now, into: &effects)
        let sid = tracks[at: place].info.sid
        speakers.quieten(sid)
        if let playout = playouts.place(of: sid) { playouts[at: playout].pause(at: now) }
    }
}
