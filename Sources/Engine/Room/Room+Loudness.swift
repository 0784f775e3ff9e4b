import Wire

extension Room {
    /// What the meters found: who speaks, and who is silent no longer.
    mutating func measure(_ measurements: [TrackMeasurement], at now: Instant, into effects: inout [Effect]) {
        for measurement in measurements {
            // A window that was measured before a mute may come after it.
            guard let track = tracks.index(of: measurement.track), isOpen(trackAt: track) else { continue }
            speakers.take(measurement, at: now)
            guard measurement.loudestLevel < Limits.silenceLevel, let publisher = members.index(of: tracks[at: track].publisher)
            else { continue }
            members[at: publisher].silence.soundDetected(at: now)
            wakeUp.include(members[at: publisher].silence.deadline)
        }
        sendSpeakerChanges(at: now, into: &effects)
    }

    mutating func sendSpeakerChanges(at now: Instant, into effects: inout [Effect]) {
        let changes = speakers.changes(at: now)
        if !changes.isEmpty { send(.speakersChanged(changes), to: everyone, into: &effects) }
        wakeUp.include(speakers.deadline)
    }

    /// Watches a participant for silence as long as something could be heard from it.
    mutating func watchSilence(ofMemberAt index: Int, at now: Instant) {
        let isAudible = members[at: index].tracks.contains { sid in tracks[sid].map(isOpen) ?? false }
        if isAudible {
            members[at: index].silence.start(at: now)
            wakeUp.include(members[at: index].silence.deadline)
        } else {
            members[at: index].silence.stop()
        }
    }

    /// How one participant's connection fares, told if the word for it is another than before.
    mutating func judge(_ handle: ParticipantHandle, by measurement: ConnectionMeasurement, into effects: inout [Effect]) {
        guard let index = members.index(of: handle), let level = members[at: index].quality.take(measurement) else { return }
        let member = members[at: index]
        send(.qualityChanged(member.identity, level), to: audience(of: member), into: &effects)
    }
}
