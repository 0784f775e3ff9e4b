package import Wire

/// Talkspurts, active speakers, silence and connection quality, as measured by the shards.
extension Room {
    mutating func beginTalk(on sid: TrackSID, at start: MediaTime) {
        // A muted or held track does not talk, even if its meter still reports it.
        guard let index = tracks.index(of: sid), isOpen(tracks[at: index]) else { return }
        guard tracks[at: index].talk.begin(at: start, now: now) else { return }
        // An `ahead` track is metered before it plays; its queue reports the playout time.
        if tracks[at: index].info.mode == .live { tracks[at: index].anchor = (start, now) }
        send(.talkStarted(tracks[at: index].info.participant, sid, at: start), to: everyone)
    }

    mutating func endTalk(on sid: TrackSID, at end: MediaTime, _ reason: TalkEnd) {
        guard let index = tracks.index(of: sid), let end = tracks[at: index].talk.end(at: end) else { return }
        send(.talkStopped(tracks[at: index].info.participant, sid, at: end, reason: reason), to: everyone)
    }

    /// Ends a talkspurt because of a decision of the room.
    mutating func interruptTalk(at index: Int, _ reason: TalkEnd) {
        guard let end = tracks[at: index].talk.cutOff(now: now) else { return }
        let info = tracks[at: index].info
        send(.talkStopped(info.participant, info.sid, at: end, reason: reason), to: everyone)
    }

    /// The active speakers as last sent to participants, loudest first.
    package var activeSpeakers: [Speaker] { tracks.speakers.active }

    /// Applies level measurements to active speakers and silence detection.
    mutating func measure(_ measurements: [TrackMeasurement]) {
        for measurement in measurements {
            // A window measured before a mute may arrive after it.
            guard let track = tracks.index(of: measurement.track), isOpen(trackAt: track) else { continue }
            tracks.speakers.update(with: measurement, at: now)
            guard measurement.loudestLevel < Limits.silenceLevel, let publisher = members.index(of: tracks[at: track].publisher)
            else { continue }
            members[at: publisher].status.silence.soundDetected(at: now)
            wakeUp(by: members[at: publisher].status.silence.deadline)
        }
        sendSpeakerChanges()
    }

    mutating func sendSpeakerChanges() {
        let changes = tracks.speakers.changes(at: now)
        if !changes.isEmpty { send(.speakersChanged(changes), to: everyone) }
        wakeUp(by: tracks.speakers.deadline)
    }

    /// Runs silence detection while a participant has an audible track.
    mutating func watchSilence(ofParticipantAt index: Int) {
        let isAudible = members[at: index].tracks.contains { sid in tracks[sid].map(isOpen) ?? false }
        if isAudible {
            members[at: index].status.silence.start(at: now)
            wakeUp(by: members[at: index].status.silence.deadline)
        } else {
            members[at: index].status.silence.stop()
        }
    }

    /// Updates a participant's connection quality and reports a change of level.
    mutating func updateQuality(of handle: ParticipantHandle, by measurement: ConnectionMeasurement) {
        guard let index = members.index(of: handle), let level = members[at: index].status.quality.update(with: measurement) else { return }
        let participant = members[at: index]
        send(.qualityChanged(participant.identity, level), to: members.audience(of: participant))
    }
}
