internal import Engine
internal import Sockets
internal import Wire

/// What a room changes about `ahead` tracks, and what it is told of them.
extension Shard {
    func openAhead(_ track: TrackInfo, by publisher: ParticipantHandle) -> Int {
        aheads.open(
            AheadTrack(
                track.sid, alias: track.alias, by: publisher, epoch: track.epoch, frameMilliseconds: track.frameMs, at: clock.now))
    }

    /// The track has ended, or nobody listens here any more to one that is published elsewhere.
    func closeAhead(_ place: Int) {
        var track = aheads.tracks[place]
        for index in 0..<track.subscriberCount { slots[Int(track.slot(ofSubscriber: index))]?.aheadIndices.removeAll { $0 == place } }
        if track.sid != nil { drop(.cleared, track.waitingFrames) }
        aheads.close(place)
    }

    func pauseAhead(_ place: Int, _ pauses: Bool) {
        aheads.tracks[place].setPaused(pauses, at: clock.now)
        aheads.activate(place)
        noteFacts(of: place)
        guard !pauses else { return }
        for owed in aheads.tracks[place].takePendingReplays() { replay(place, to: owed, from: nil) }
    }

    func clearAhead(_ place: Int, epoch: UInt8) {
        let forgotten = aheads.tracks[place].clear(epoch: epoch, at: clock.now)
        if aheads.tracks[place].sid != nil { drop(.cleared, forgotten) }
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
                    awaiting: listening.number, at: clock.now))
        // Also for one that has gone meanwhile: its room will say so, here and where the frames come from.
        aheads.tracks[place].subscriptions += 1
        guard let member = member(at: subscriber) else { return }
        aheads.tracks[place].add(subscriber: subscriber.slot, from: listening.from, at: clock.now)
        if !member.aheadIndices.contains(place) { member.aheadIndices.append(place) }
        aheads.activate(place)
    }

    func stopHearingAhead(_ place: Int, by subscriber: ParticipantHandle) {
        aheads.tracks[place].subscriptions -= 1
        aheads.tracks[place].remove(subscriber: subscriber.slot)
        member(at: subscriber)?.aheadIndices.removeAll { $0 == place }
        if aheads.tracks[place].subscriptions == 0, aheads.tracks[place].sid == nil { closeAhead(place) }
    }

    /// Gives a shard that begins to listen what has been published and not played.
    func replayAhead(_ alias: TrackAlias, of publisher: ParticipantHandle, to shard: UInt16, _ listening: Room.SubscriptionOptions) {
        guard let place = aheads.index(of: alias, by: publisher) else { return }
        let owed = AheadTrack.PendingReplay(shard: shard, number: listening.number)
        if aheads.tracks[place].isPaused {
            // It is told of the pause by nobody, so what would be heard during it stays here.
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
        let (publisher, shard) = (aheads.tracks[place].publisher, Int(owed.shard))
        // Without it the other shard would wait for the beginning of the track for ever.
        let mark = aheads.tracks[place].marker(ofReplay: owed.number)
        mark.bytes.withUnsafeBytes { send($0, from: publisher, to: shard, evenIfFull: true) }
        aheads.tracks[place].replay(from: from, at: clock.now) { send($0, from: publisher, to: shard) }
    }

    // MARK: What the room is told

    func noteFacts(of place: Int) {
        guard aheads.tracks[place].hasReports, let track = aheads.tracks[place].sid else { return }
        let publisher = aheads.tracks[place].publisher
        for fact in aheads.tracks[place].takeReports() { playoutQueueReports.append((publisher, track, fact)) }
    }

    /// Tells what is noted, unless a room's effects are being done: what follows from a fact comes after them.
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
