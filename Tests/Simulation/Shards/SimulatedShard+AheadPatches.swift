internal import Engine
internal import Wire

/// As `Shard+AheadPatches`.
extension SimulatedShard {
    func openAhead(_ track: TrackInfo, by publisher: ParticipantHandle) -> Int {
        aheads.open(
            AheadTrack(track.sid, alias: track.alias, by: publisher, epoch: track.epoch, frameMilliseconds: track.frameMs, at: now))
    }

    func closeAhead(_ place: Int) {
        var track = aheads.tracks[place]
        for index in 0..<track.subscriberCount { slots[Int(track.slot(ofSubscriber: index))]?.aheadIndices.removeAll { $0 == place } }
        aheads.close(place)
        world.pacing.forgotten(place, at: index)
    }

    func pauseAhead(_ place: Int, _ pauses: Bool) {
        aheads.tracks[place].setPaused(pauses, at: now)
        aheads.activate(place)
        noteFacts(of: place)
        guard !pauses else { return }
        for owed in aheads.tracks[place].takePendingReplays() { replay(place, to: owed, from: nil) }
    }

    func clearAhead(_ place: Int, epoch: UInt8) {
        _ = aheads.tracks[place].clear(epoch: epoch, at: now)
        aheads.activate(place)
        noteFacts(of: place)
    }

    // MARK: Subscribers

    func hearAhead(_ alias: TrackAlias, of publisher: ParticipantHandle, by subscriber: ParticipantHandle, _ listening: Room.SubscriptionOptions) {
        let place =
            aheads.index(of: alias, by: publisher)
            ?? aheads.open(
                AheadTrack(
                    nil, alias: alias, by: publisher, epoch: listening.epoch, frameMilliseconds: listening.frameMilliseconds,
                    awaiting: listening.number, at: now))
        aheads.tracks[place].subscriptions += 1
        guard let member = member(at: subscriber) else { return }
        aheads.tracks[place].add(subscriber: subscriber.slot, from: listening.from, at: now)
        world.pacing.listensAnew(subscriber, to: alias)
        if !member.aheadIndices.contains(place) { member.aheadIndices.append(place) }
        aheads.activate(place)
    }

    func stopHearingAhead(_ place: Int, by subscriber: ParticipantHandle) {
        aheads.tracks[place].subscriptions -= 1
        aheads.tracks[place].remove(subscriber: subscriber.slot)
        member(at: subscriber)?.aheadIndices.removeAll { $0 == place }
        if aheads.tracks[place].subscriptions == 0, aheads.tracks[place].sid == nil { closeAhead(place) }
    }

    func replayAhead(_ alias: TrackAlias, of publisher: ParticipantHandle, to shard: UInt16, _ listening: Room.SubscriptionOptions) {
        guard let place = aheads.index(of: alias, by: publisher) else { return }
        let owed = AheadTrack.PendingReplay(shard: shard, number: listening.number)
        if aheads.tracks[place].isPaused {
            aheads.tracks[place].deferReplay(owed)
        } else {
            replay(place, to: owed, from: listening.from)
        }
    }

    func forgetReplay(of alias: TrackAlias, by publisher: ParticipantHandle, to shard: UInt16) {
        guard let place = aheads.index(of: alias, by: publisher) else { return }
        aheads.tracks[place].cancelReplay(to: shard)
    }

    private func replay(_ place: Int, to owed: AheadTrack.PendingReplay, from: MediaTime?) {
        let publisher = aheads.tracks[place].publisher
        var frames: [[UInt8]] = []
        aheads.tracks[place].replay(from: from, at: now) { frames.append(Array($0)) }
        send(aheads.tracks[place].marker(ofReplay: owed.number).bytes, from: publisher, to: Int(owed.shard), evenIfFull: true)
        for frame in frames { send(frame, from: publisher, to: Int(owed.shard)) }
    }

    // MARK: What the room is told

    func noteFacts(of place: Int) {
        guard aheads.tracks[place].hasReports, let track = aheads.tracks[place].sid else { return }
        let publisher = aheads.tracks[place].publisher
        for fact in aheads.tracks[place].takeReports() { playoutQueueReports.append((publisher, track, fact)) }
    }

    func tellFacts() {
        guard performing == 0, !isTellingFacts, !playoutQueueReports.isEmpty else { return }
        isTellingFacts = true
        while !playoutQueueReports.isEmpty {
            let (publisher, track, fact) = playoutQueueReports.removeFirst()
            if let member = member(at: publisher) { tell(.playout(track, fact), roomOf: member) }
        }
        isTellingFacts = false
    }
}
