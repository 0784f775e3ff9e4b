internal import Wire

/// Mute and hold. Both close the gates of tracks.
extension Room {
    mutating func mute(_ sid: TrackSID, _ muted: Bool, by requester: Requester, at index: Int) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        if track.publisher != requester.handle {
            guard members[at: index].stay.isRoomAdmin else {
                throw RequestError(.notAllowed, "only a room admin may mute somebody else's track")
            }
            // As in LiveKit: nobody else can unmute a microphone.
            guard muted else { throw RequestError(.notAllowed, "remote unmute not enabled") }
        }
        setMuted(muted, sid, answering: requester)
    }

    /// Mutes or unmutes a track. If nothing changes, only the request is answered.
    mutating func setMuted(_ muted: Bool, _ sid: TrackSID, answering requester: Requester? = nil) {
        guard let index = tracks.index(of: sid), let publisher = members.index(of: tracks[at: index].publisher) else { return }
        let before = tracks[at: index]
        let gate = before.gate(by: members[at: publisher])
        tracks[at: index].info.muted = muted
        if before.info.muted != muted { updateGate(sid, ofParticipantAt: publisher, from: gate) }
        if let requester { reply(to: requester) }
        guard before.info.muted != muted else { return }
        if muted { stopTalk(at: index) }
        let identity = before.info.participant
        send(muted ? .trackMuted(sid, of: identity) : .trackUnmuted(sid, of: identity), to: everyone)
        if muted { sendSpeakerChanges() }
        watchSilence(ofParticipantAt: publisher)
    }

    /// Patches the gate of a track if it differs from before.
    mutating func updateGate(_ sid: TrackSID, ofParticipantAt publisher: Int, from before: Gate) {
        guard let track = tracks[sid] else { return }
        let gate = track.gate(by: members[at: publisher])
        guard gate != before else { return }
        patch(.gate(track.info.alias, by: track.publisher, gate))
    }

    /// Mutes all current and future tracks of a participant, or reverts that. Tracks keep their own mute state.
    mutating func silence(_ silenced: Bool, ofParticipantAt index: Int) {
        let before = members[at: index]
        guard before.callMedia.muted != silenced else { return }
        members[at: index].callMedia.muted = silenced
        for track in before.tracks.compactMap({ tracks[$0] }) {
            updateGate(track.info.sid, ofParticipantAt: index, from: track.gate(by: before))
            if silenced, let index = tracks.index(of: track.info.sid) { stopTalk(at: index) }
        }
        send(silenced ? .callMuted(by: before.identity) : .callUnmuted(by: before.identity), to: members.audience(of: before))
        if silenced { sendSpeakerChanges() }
        watchSilence(ofParticipantAt: index)
    }

    /// Ends talk and speaker state of a track that was muted or held.
    mutating func stopTalk(at index: Int) {
        interruptTalk(at: index, .muted)
        let sid = tracks[at: index].info.sid
        tracks.speakers.resetLevel(of: sid)
        if let playout = tracks.playouts.index(of: sid) { tracks.playouts[at: playout].pause(at: now) }
    }

    /// Puts a participant on hold or resumes it. On hold it neither sends nor receives media; mutes and subscriptions are kept.
    ///
    /// - Parameter requester: nil if the command came from outside the room.
    mutating func hold(_ held: Bool, by requester: Requester?, at index: Int) {
        let before = members[at: index]
        guard before.callMedia.held != held else {
            if let requester { reply(to: requester) }
            return
        }
        updateSubscriptions(index) { $0.callMedia.held = held }
        for sid in before.tracks {
            if let track = tracks[sid] { updateGate(sid, ofParticipantAt: index, from: track.gate(by: before)) }
        }
        if let requester { reply(to: requester) }
        if held {
            for sid in before.tracks {
                if let track = tracks.index(of: sid) { stopTalk(at: track) }
            }
        }
        send(held ? .callHeld(by: before.identity) : .callResumed(by: before.identity), to: members.audience(of: before))
        audit(.held(before.identity, held))
        if held { sendSpeakerChanges() }
        watchSilence(ofParticipantAt: index)
    }

    /// Whether the track's gate is open.
    func isOpen(_ track: Track) -> Bool {
        members.index(of: track.publisher).map { track.gate(by: members[at: $0]) } == .open
    }

    /// The same, in place: avoids a copy of the track.
    mutating func isOpen(trackAt index: Int) -> Bool {
        guard let publisher = members.index(of: tracks[at: index].publisher) else { return false }
        return tracks[at: index].gate(by: members[at: publisher]) == .open
    }
}
