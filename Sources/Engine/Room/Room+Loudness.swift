import Wire

extension Room {
    /// What the meters found: who speaks, and who is silent no longer.
    mutating func measure(_ measurements: [TrackMeasurement], at now: Instant, into effects: inout [Effect]) {
        for measurement in measurements {
            // A window that was measured before a mute may come after it.
            guard let track = tracks.place(of: measurement.track), isOpen(trackAt: track) else { continue }
            speakers.take(measurement, at: now)
            guard measurement.loudestLevel < Limits.silenceLevel, let publisher = members.place(of: tracks[at: track].publisher)
            else { continue }
            members[at: publisher].silence.heardSound(at: now)
            alarm.ring(noLaterThan: members[at: publisher].silence.deadline)
        }
        tellSpeakers(at: now, into: &effects)
    }

    mutating func tellSpeakers(at now: Instant, into effects: inout [Effect]) {
        let changes = speakers.changes(at: now)
        if !changes.isEmpty { send(.speakersChanged(changes), to: everyone, into: &effects) }
        alarm.ring(noLaterThan: speakers.deadline)
    }

    /// Watches a participant for silence as long as something could be heard from it.
    mutating func watchSilence(ofMemberAt place: Int, at now: Instant) {
        let isAudible = members[at: place].tracks.contains { sid in tracks[sid].map(isOpen) ?? false }
        if isAudible {
            members[at: place].silence.turnOn(at: now)
            alarm.ring(noLaterThan: members[at: place].silence.deadline)
        } else {
            members[at: place].silence.turnOff()
        }
    }

    /// How one participant's connection fares, told if the word for it is another than before.
    mutating func judge(_ handle: ParticipantHandle, by measurement: ConnectionMeasurement, into effects: inout [Effect]) {
        guard let place = members.place(of: handle), let level = members[at: place].quality.take(measurement) else { return }
        let member = members[at: place]
        send(.qualityChanged(member.identity, level), to: audience(of: member), into: &effects)
    }
}
