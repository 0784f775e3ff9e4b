internal import Engine
internal import Wire

/// Tracks whose publisher has another handle, perhaps on another shard (`Shard+Resuming`).
extension Shard {
    /// The patch becomes an remote track where it was, and the remote track a patch where it is now.
    func move(
        _ track: TrackInfo, from old: ParticipantHandle, to new: ParticipantHandle, _ gate: Room.Gate,
        heardBy subscribers: [ParticipantHandle]
    ) {
        guard track.mode == .live else { return moveAhead(track, from: old, to: new, gate, heardBy: subscribers) }
        let alias = track.alias
        switch (isHere(old), isHere(new)) {
        case (true, true): panel.move(alias, from: Int(old.slot), to: Int(new.slot))
        case (true, false):
            forgetTap(of: alias, by: old)
            panel.unpublish(alias, by: Int(old.slot))
            for subscriber in subscribers where isHere(subscriber) { remoteTracks.add(subscriber: subscriber.slot, to: alias, of: new) }
            remoteTracks.setGate(gate, of: alias, by: new)
        case (false, true):
            carryLastWords(of: alias, by: old)
            remoteTracks.remove(alias, of: old)
            panel.publish(track, by: Int(new.slot))
            panel.setGate(gate, of: alias, by: Int(new.slot))
            for subscriber in subscribers {
                if isHere(subscriber) {
                    panel.add(subscriber: subscriber.slot, to: alias, of: Int(new.slot))
                } else {
                    panel.add(trunk: subscriber.shard, to: alias, of: Int(new.slot))
                }
            }
        case (false, false):
            carryLastWords(of: alias, by: old)
            remoteTracks.move(alias, from: old, to: new)
        }
    }

    /// What was published and has not been heard goes along: to the new publisher's shard, whose queue is what is told to the room.
    private func moveAhead(
        _ track: TrackInfo, from old: ParticipantHandle, to new: ParticipantHandle, _ gate: Room.Gate,
        heardBy subscribers: [ParticipantHandle]
    ) {
        let place = aheads.index(of: track.alias, by: old)
        if let place { aheads.rename(place, to: new) }
        switch (isHere(old), isHere(new)) {
        case (true, true): panel.move(track.alias, from: Int(old.slot), to: Int(new.slot))
        case (true, false):
            forgetTap(of: track.alias, by: old)
            panel.unpublish(track.alias, by: Int(old.slot))
            guard let place else { return }
            post(.takeAhead(aheads.tracks[place].handOver()), to: Int(new.shard))
            if aheads.tracks[place].subscriptions == 0 { closeAhead(place) }
        case (false, true):
            let place = place ?? openAhead(track, by: new)
            aheads.tracks[place].becomeReference(track.sid)
            panel.publish(track, by: Int(new.slot), aheadIndex: place)
            panel.setGate(gate, of: track.alias, by: Int(new.slot))
            for subscriber in subscribers where !isHere(subscriber) { panel.add(trunk: subscriber.shard, to: track.alias, of: Int(new.slot)) }
        case (false, false): break
        }
    }

    /// The queue from where the track was published before.
    func takeAhead(_ track: AheadTrack) {
        guard let place = aheads.index(of: track.alias, by: track.publisher) else { return }
        aheads.takeOver(place, track)
    }
}
