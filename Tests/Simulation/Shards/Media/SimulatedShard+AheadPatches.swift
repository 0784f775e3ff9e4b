internal import Engine
internal import Wire

/// As the gateway's `MediaRelay+AheadPatches`.
extension SimulatedShard {
    func openAhead(_ track: TrackInfo, by publisher: ParticipantHandle) -> Int {
        aheads.open(
            AheadTrack(track.sid, alias: track.alias, by: publisher, epoch: track.epoch, frameMilliseconds: track.frameMs, at: now))
    }

    func closeAhead(_ aheadIndex: Int) {
        var track = aheads.tracks[aheadIndex]
        for index in 0..<track.subscriberCount { slots[Int(track.slot(ofSubscriber: index))]?.aheadIndices.removeAll { $0 == aheadIndex } }
        aheads.close(aheadIndex)
        world.pacing.forgotten(aheadIndex, at: index)
    }

    func pauseAhead(_ aheadIndex: Int, _ pauses: Bool) {
        aheads.tracks[aheadIndex].setPaused(pauses, at: now)
        aheads.activate(aheadIndex)
        sendReports(of: aheadIndex)
        guard !pauses else { return }
        for pending in aheads.tracks[aheadIndex].takePendingReplays() { replay(aheadIndex, to: pending, from: nil) }
    }

    func clearAhead(_ aheadIndex: Int, epoch: UInt8) {
        _ = aheads.tracks[aheadIndex].clear(epoch: epoch, at: now)
        // A gap at the first frame of an epoch is no loss (docs/protocol/media.md, "Frames and bundles").
        if let sid = aheads.tracks[aheadIndex].sid { world.gapBefore.remove(sid) }
        aheads.activate(aheadIndex)
        sendReports(of: aheadIndex)
    }

    // MARK: Subscribers

    func subscribeAhead(
        _ alias: TrackAlias, of publisher: ParticipantHandle, by subscriber: ParticipantHandle, _ options: Room.SubscriptionOptions
    ) {
        let aheadIndex =
            aheads.index(of: alias, by: publisher)
            ?? aheads.open(
                AheadTrack(
                    nil, alias: alias, by: publisher, epoch: options.epoch, frameMilliseconds: options.frameMilliseconds,
                    awaiting: options.number, at: now))
        aheads.tracks[aheadIndex].subscriptions += 1
        guard let member = member(at: subscriber) else { return }
        aheads.tracks[aheadIndex].add(subscriber: subscriber.slot, from: options.from, at: now)
        world.pacing.resubscribed(subscriber, to: alias)
        if !member.aheadIndices.contains(aheadIndex) { member.aheadIndices.append(aheadIndex) }
        aheads.activate(aheadIndex)
    }

    func unsubscribeAhead(_ aheadIndex: Int, by subscriber: ParticipantHandle) {
        aheads.tracks[aheadIndex].subscriptions -= 1
        aheads.tracks[aheadIndex].remove(subscriber: subscriber.slot)
        member(at: subscriber)?.aheadIndices.removeAll { $0 == aheadIndex }
        if aheads.tracks[aheadIndex].subscriptions == 0, aheads.tracks[aheadIndex].sid == nil { closeAhead(aheadIndex) }
    }

    func replayAhead(_ alias: TrackAlias, of publisher: ParticipantHandle, to shard: UInt16, _ options: Room.SubscriptionOptions) {
        guard let aheadIndex = aheads.index(of: alias, by: publisher) else { return }
        let pending = AheadTrack.PendingReplay(shard: shard, number: options.number)
        if aheads.tracks[aheadIndex].isPaused {
            aheads.tracks[aheadIndex].deferReplay(pending)
        } else {
            replay(aheadIndex, to: pending, from: options.from)
        }
    }

    func forgetReplay(of alias: TrackAlias, by publisher: ParticipantHandle, to shard: UInt16) {
        guard let aheadIndex = aheads.index(of: alias, by: publisher) else { return }
        aheads.tracks[aheadIndex].cancelReplay(to: shard)
    }

    private func replay(_ aheadIndex: Int, to pending: AheadTrack.PendingReplay, from: MediaTime?) {
        let publisher = aheads.tracks[aheadIndex].publisher
        var frames: [[UInt8]] = []
        aheads.tracks[aheadIndex].replay(from: from, at: now) { frames.append(Array($0)) }
        send(aheads.tracks[aheadIndex].marker(ofReplay: pending.number).bytes, from: publisher, to: Int(pending.shard), evenIfFull: true)
        for frame in frames { send(frame, from: publisher, to: Int(pending.shard)) }
    }

    // MARK: Reports to the room

    func sendReports(of aheadIndex: Int) {
        guard aheads.tracks[aheadIndex].hasReports, let track = aheads.tracks[aheadIndex].sid else { return }
        let publisher = aheads.tracks[aheadIndex].publisher
        for queueReport in aheads.tracks[aheadIndex].takeReports() { playoutQueueReports.append((publisher, track, queueReport)) }
    }

    func flushPlayoutReports() {
        guard performing == 0, !isFlushingReports, !playoutQueueReports.isEmpty else { return }
        isFlushingReports = true
        while !playoutQueueReports.isEmpty {
            let (publisher, track, queueReport) = playoutQueueReports.removeFirst()
            if let member = member(at: publisher) { report(.playout(track, queueReport), roomOf: member) }
        }
        isFlushingReports = false
    }
}
