internal import Engine
internal import Sockets
internal import Wire

/// Changes of the forwarding table that rooms request.
extension MediaRelay {
    func apply(_ change: Room.PatchChange) {
        switch change {
        case .publish(let track, let publisher):
            let index = track.mode == .ahead ? openAhead(track, by: publisher) : nil
            panel.publish(track, by: Int(publisher.slot), aheadIndex: index)
        case .unpublish(let alias, let publisher): unpublish(alias, by: publisher)
        case .move(let track, let old, let new, let gate, let subscribers):
            if track.mode == .live {
                move(track, from: old, to: new, gate, heardBy: subscribers)
            } else {
                moveAhead(track, from: old, to: new, gate, heardBy: subscribers)
            }
        case .gate(let alias, let publisher, let gate): setGate(gate, of: alias, by: publisher)
        case .clear(let alias, let publisher, let epoch):
            if context.isLocal(publisher) { panel.clear(alias, by: Int(publisher.slot), epoch: epoch) }
            if let track = aheads.index(of: alias, by: publisher) { clearAhead(track, epoch: epoch) }
        case .retain(let alias, let publisher, let time):
            if let track = aheads.index(of: alias, by: publisher) { aheads.tracks[track].retain(from: time) }
        case .subscribe(let subscriber, let alias, let publisher, let listening):
            if listening.mode == .live {
                subscribe(subscriber, to: alias, of: publisher, listening.earlier)
            } else if context.isLocal(subscriber) {
                subscribeAhead(subscriber, to: alias, of: publisher, listening)
            } else if panel.add(trunk: subscriber.shard, to: alias, of: Int(publisher.slot)) {
                replayAhead(alias, of: publisher, to: subscriber.shard, listening)
            }
        case .keep(let track, let publisher, let isKept):
            if isKept { keepSpeech(of: track, by: publisher) } else { forgetSpeech(of: track.alias, by: publisher) }
        case .unsubscribe(let subscriber, let alias, let publisher): unsubscribe(subscriber, from: alias, of: publisher)
        }
    }

    /// Empties the forwarding table. Later changes of tracks that are not in it have no effect.
    func forgetTracks() {
        for slot in panel.patches.indices {
            for patch in panel.patches[slot] {
                if let tap = patch.tap { taps.remove(tap) }
                forgetSpeech(of: patch.alias, atSlot: slot)
                panel.unpublish(patch.alias, by: slot)
            }
        }
        for track in aheads.openIndices { closeAhead(track) }
        remoteTracks = RemoteTracks()
    }

    private func unpublish(_ alias: TrackAlias, by publisher: ParticipantHandle) {
        if context.isLocal(publisher) {
            forgetTap(of: alias, by: publisher)
            forgetSpeech(of: alias, by: publisher)
            panel.unpublish(alias, by: Int(publisher.slot))
        }
        if let track = aheads.index(of: alias, by: publisher) {
            closeAhead(track)
        } else if !context.isLocal(publisher) {
            forwardRemaining(of: alias, by: publisher)
            remoteTracks.remove(alias, of: publisher)
        }
    }

    private func setGate(_ gate: Room.Gate, of alias: TrackAlias, by publisher: ParticipantHandle) {
        if context.isLocal(publisher) { panel.setGate(gate, of: alias, by: Int(publisher.slot)) }
        if let track = aheads.index(of: alias, by: publisher) {
            setPaused(gate != .open, track)
        } else if !context.isLocal(publisher) {
            if gate != .open { forwardRemaining(of: alias, by: publisher) }
            remoteTracks.setGate(gate, of: alias, by: publisher)
        }
    }

    private func subscribe(
        _ subscriber: ParticipantHandle, to alias: TrackAlias, of publisher: ParticipantHandle, _ earlier: Room.EarlierSpeechLimit?
    ) {
        let participant = slots.occupant(of: subscriber)
        // Not for assistants: they have no loudspeaker, and late frames are better for them than lost ones.
        if let participant, participant.session.kind != .agent { participant.socket.tcp.tuneForLiveMedia() }
        // Earlier frames come first, then those that arrive from now on.
        if let earlier, context.isLocal(publisher) { sendEarlierSpeech(of: alias, by: publisher, to: subscriber, earlier) }
        switch (context.isLocal(subscriber), context.isLocal(publisher)) {
        case (true, true): panel.add(subscriber: subscriber.slot, to: alias, of: Int(publisher.slot))
        case (true, false):
            guard participant != nil else { return }
            if earlier == nil {
                remoteTracks.add(subscriber: subscriber.slot, to: alias, of: publisher)
            } else {
                remoteTracks.add(awaiting: subscriber.slot, to: alias, of: publisher)
            }
        case (false, _): panel.add(trunk: subscriber.shard, to: alias, of: Int(publisher.slot))
        }
    }

    private func unsubscribe(_ subscriber: ParticipantHandle, from alias: TrackAlias, of publisher: ParticipantHandle) {
        if context.isLocal(subscriber), let track = aheads.index(of: alias, by: publisher) {
            return unsubscribeAhead(subscriber, from: track)
        }
        switch (context.isLocal(subscriber), context.isLocal(publisher)) {
        case (true, true): panel.remove(subscriber: subscriber.slot, from: alias, of: Int(publisher.slot))
        case (true, false): remoteTracks.remove(subscriber: subscriber.slot, from: alias, of: publisher)
        case (false, _):
            if panel.remove(trunk: subscriber.shard, from: alias, of: Int(publisher.slot)) {
                forgetReplay(of: alias, by: publisher, to: subscriber.shard)
            }
        }
    }

    /// A live track's publisher has resumed under another handle, perhaps on another shard: a patch on its old shard becomes a remote
    /// track, and a remote track on its new shard becomes a patch.
    private func move(
        _ track: TrackInfo, from old: ParticipantHandle, to new: ParticipantHandle, _ gate: Room.Gate,
        heardBy subscribers: [ParticipantHandle]
    ) {
        let alias = track.alias
        switch (context.isLocal(old), context.isLocal(new)) {
        case (true, true): panel.move(alias, from: Int(old.slot), to: Int(new.slot))
        case (true, false):
            forgetTap(of: alias, by: old)
            forgetSpeech(of: alias, by: old)
            panel.unpublish(alias, by: Int(old.slot))
            for subscriber in subscribers where context.isLocal(subscriber) {
                remoteTracks.add(subscriber: subscriber.slot, to: alias, of: new)
            }
            remoteTracks.setGate(gate, of: alias, by: new)
        case (false, true):
            forwardRemaining(of: alias, by: old)
            remoteTracks.remove(alias, of: old)
            panel.publish(track, by: Int(new.slot))
            panel.setGate(gate, of: alias, by: Int(new.slot))
            for subscriber in subscribers {
                if context.isLocal(subscriber) {
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
}
