internal import Engine
internal import Wire

/// Speech before an agent's arrival, as in the gateway's `MediaRelay+Earlier`.
extension SimulatedShard {
    func keepSpeech(of track: TrackInfo, by publisher: ParticipantHandle) {
        let slot = Int(publisher.slot)
        guard let patch = panel.index(of: track.alias, publishedBy: slot), panel.patches[slot][patch].kept == nil else { return }
        if let evicted = earlier.evicted {
            panel.forgetKept(evicted)
            _ = earlier.end(evicted)
        }
        panel.setKept(earlier.begin(track), of: track.alias, by: slot)
    }

    func forgetSpeech(of alias: TrackAlias, by publisher: ParticipantHandle) {
        let slot = Int(publisher.slot)
        guard let patch = panel.index(of: alias, publishedBy: slot), let kept = panel.patches[slot][patch].kept else { return }
        panel.setKept(nil, of: alias, by: slot)
        _ = earlier.end(kept)
    }

    func sendEarlierSpeech(
        of alias: TrackAlias, by publisher: ParticipantHandle, to agent: ParticipantHandle, _ limit: Room.EarlierSpeechLimit
    ) {
        let slot = Int(publisher.slot)
        let kept = panel.index(of: alias, publishedBy: slot).flatMap { panel.patches[slot][$0].kept }
        let frames = kept.flatMap { earlier[$0] }
        let span = frames?.span(since: limit.instant)
        world.log("shard \(index) sends \(span?.frames ?? 0) earlier frames to \(agent)")
        if !isHere(agent) {
            EarlierRecord.forEach(of: frames, since: limit.instant, alias, to: agent) { bytes, isRequired in
                world.meanwhile(besides: index)
                let (_, needsWake) = world.trunk(from: index, to: Int(agent.shard)).append(bytes, from: publisher, evenIfFull: isRequired)
                if needsWake { world.shards[Int(agent.shard)].wakeSoon() }
            }
        } else if let frames, let span, let member = member(at: agent) {
            let event = Event.talkEarlier(frames.track.participant, frames.track.sid, from: span.start, live: span.end)
            send(EncodedEvent(event), isReplay: false, to: member)
            frames.forEach(since: limit.instant) { forward(Array($0), of: alias, to: [agent.slot]) }
        }
        guard let kept, let span else { return }
        earlier.markSent(kept)
        world.counts.earlier += span.frames
    }

    func take(_ record: EarlierRecord, _ trunkFrame: SimulatedTrunk.Frame) {
        guard remoteTracks.isAwaiting(record, of: trunkFrame.publisher), let member = member(at: record.agent)
        else {
            return
        }
        trunkFrame.frame.withUnsafeBytes { bytes in
            let payload = EarlierRecord.payload(of: bytes)
            switch record.kind {
            case .announcement: send(EncodedEvent(EarlierRecord.event(in: payload)), isReplay: false, to: member)
            case .frame: forward(Array(payload), of: record.alias, to: [record.agent.slot])
            case .end: remoteTracks.add(subscriber: record.agent.slot, to: record.alias, of: trunkFrame.publisher)
            }
        }
    }
}
