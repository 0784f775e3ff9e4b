internal import Engine
internal import Wire

/// Moving tracks to a resumed publisher, as in the gateway's `MediaRelay+Patches`.
extension SimulatedShard {
    func move(
        _ track: TrackInfo, from old: ParticipantHandle, to new: ParticipantHandle, _ gate: Room.Gate,
        subscribers: [ParticipantHandle]
    ) {
        guard track.mode == .live else { return moveAhead(track, from: old, to: new, gate, subscribers: subscribers) }
        let alias = track.alias
        switch (isHere(old), isHere(new)) {
        case (true, true): panel.move(alias, from: Int(old.slot), to: Int(new.slot))
        case (true, false):
            forgetSpeech(of: alias, by: old)
            panel.unpublish(alias, by: Int(old.slot))
            for subscriber in subscribers where isHere(subscriber) { remoteTracks.add(subscriber: subscriber.slot, to: alias, of: new) }
            remoteTracks.setGate(gate, of: alias, by: new)
        case (false, true):
            forwardRemaining(of: alias, by: old)
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
            forwardRemaining(of: alias, by: old)
            remoteTracks.move(alias, from: old, to: new)
        }
    }

    private func moveAhead(
        _ track: TrackInfo, from old: ParticipantHandle, to new: ParticipantHandle, _ gate: Room.Gate,
        subscribers: [ParticipantHandle]
    ) {
        let aheadIndex = aheads.index(of: track.alias, by: old)
        if let aheadIndex { aheads.rename(aheadIndex, to: new) }
        switch (isHere(old), isHere(new)) {
        case (true, true): panel.move(track.alias, from: Int(old.slot), to: Int(new.slot))
        case (true, false):
            panel.unpublish(track.alias, by: Int(old.slot))
            guard let aheadIndex else { return }
            post(.takeAhead(aheads.tracks[aheadIndex].handOver()), to: Int(new.shard))
            if aheads.tracks[aheadIndex].subscriptions == 0 { closeAhead(aheadIndex) }
        case (false, true):
            let aheadIndex = aheadIndex ?? openAhead(track, by: new)
            aheads.tracks[aheadIndex].becomeReference(track.sid)
            panel.publish(track, by: Int(new.slot), aheadIndex: aheadIndex)
            panel.setGate(gate, of: track.alias, by: Int(new.slot))
            for subscriber in subscribers where !isHere(subscriber) {
                panel.add(trunk: subscriber.shard, to: track.alias, of: Int(new.slot))
            }
        case (false, false): break
        }
    }

    func takeAhead(_ track: AheadTrack) {
        guard let aheadIndex = aheads.index(of: track.alias, by: track.publisher) else { return }
        aheads.takeOver(aheadIndex, track)
    }
}
