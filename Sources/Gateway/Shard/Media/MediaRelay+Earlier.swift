internal import Engine
internal import Wire

/// Speech before an agent's arrival. The shard of a track's publisher keeps its latest frames while an agent is on its way, and sends them to
/// the agent when it subscribes, before live frames. Tracks that are not kept pay nothing: one branch decides about all targets besides
/// subscribers.
///
/// To an agent on another shard they go through the trunk, as `EarlierRecord`s among the frames. There the agent waits for the end of them
/// before it gets live frames, because other subscribers of its shard may be receiving those already.
extension MediaRelay {
    func keepSpeech(of track: TrackInfo, by publisher: ParticipantHandle) {
        let slot = Int(publisher.slot)
        // A track that has moved between slots of this shard is kept already.
        guard let patch = panel.index(of: track.alias, publishedBy: slot), panel.patches[slot][patch].kept == nil else { return }
        if let evicted = earlier.evicted {
            panel.forgetKept(evicted)
            endKeeping(evicted)
        }
        panel.setKept(earlier.begin(track), of: track.alias, by: slot)
    }

    /// No agent is on its way any more, or the track has ended or is published on another shard from now on.
    func forgetSpeech(of alias: TrackAlias, by publisher: ParticipantHandle) {
        forgetSpeech(of: alias, atSlot: Int(publisher.slot))
    }

    func forgetSpeech(of alias: TrackAlias, atSlot slot: Int) {
        guard let patch = panel.index(of: alias, publishedBy: slot), let kept = panel.patches[slot][patch].kept else { return }
        panel.setKept(nil, of: alias, by: slot)
        endKeeping(kept)
    }

    private func endKeeping(_ kept: Int) {
        context.counters.earlier.discarded += UInt64(earlier.end(kept))
    }

    func keep(_ frame: UnsafeRawBufferPointer, _ header: FrameHeader, on kept: Int, at now: Instant) {
        context.counters.earlier.kept += 1
        context.counters.earlier.replaced += UInt64(earlier.append(frame, at: header.timestamp, to: kept, arrived: now))
    }

    /// Drops frames that are too old. Once a second.
    func expireEarlierSpeech() {
        context.counters.earlier.replaced += UInt64(earlier.expire(at: context.now))
    }

    // MARK: To an agent

    /// Sends an agent what was kept of a track that is published here.
    func sendEarlierSpeech(
        of alias: TrackAlias, by publisher: ParticipantHandle, to agent: ParticipantHandle, _ limit: Room.EarlierSpeechLimit
    ) {
        let slot = Int(publisher.slot)
        let kept = panel.index(of: alias, publishedBy: slot).flatMap { panel.patches[slot][$0].kept }
        let frames = kept.flatMap { earlier[$0] }
        let span = frames?.span(since: limit.instant)
        if !context.isLocal(agent) {
            // Without the end the agent would wait for live frames forever.
            EarlierRecord.forEach(of: frames, since: limit.instant, alias, to: agent) { bytes, isRequired in
                bytes.withUnsafeBytes { send($0, from: publisher, to: Int(agent.shard), evenIfFull: isRequired) }
            }
        } else if let frames, let span, let participant = slots.occupant(of: agent) {
            participant.send(EncodedEvent(.talkEarlier(frames.track.participant, frames.track.sid, from: span.start, live: span.end)))
            frames.forEach(since: limit.instant) { sendEarlier($0, of: alias, to: participant) }
        }
        guard let kept, let span else { return }
        earlier.markSent(kept)
        context.counters.earlier.sent += UInt64(span.frames)
    }

    private func sendEarlier(_ frame: UnsafeRawBufferPointer, of alias: TrackAlias, to agent: ParticipantConnection) {
        var staged = sender.stage(frame, of: alias, endsTurn: false, isEarlier: true)
        sender.send(&staged, to: agent, at: context.now)
    }

    /// Takes a part of earlier speech for an agent here, from the publisher's shard.
    func take(_ record: EarlierRecord, _ payload: UnsafeRawBufferPointer, from publisher: ParticipantHandle) {
        // It has left or unsubscribed, or the track has ended or moved meanwhile.
        guard remoteTracks.isAwaiting(record, of: publisher), let agent = slots.occupant(of: record.agent) else {
            return
        }
        switch record.kind {
        case .announcement: agent.send(EncodedEvent(EarlierRecord.event(in: payload)))
        case .frame: sendEarlier(payload, of: record.alias, to: agent)
        case .end: remoteTracks.add(subscriber: record.agent.slot, to: record.alias, of: publisher)
        }
    }
}
