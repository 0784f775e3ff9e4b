internal import Engine
internal import Sockets
internal import Wire

/// Frames of `ahead` tracks. Each shard with subscribers of a track keeps its frames and releases them by its own clock. They are never put
/// into an outbox: what is due for a subscriber without capacity stays in the track's queue.
extension MediaRelay {
    // MARK: In

    /// Sends the frame that was appended last, unpaced, to the shards that subscribe to the track.
    func sendNewestFrame(of track: Int, to trunks: [Patch.Trunk], from publisher: ParticipantHandle) {
        for trunk in trunks {
            // The stored frame, whose flags may indicate refused frames before it.
            aheads.tracks[track].withNewestFrame { send($0, from: publisher, to: Int(trunk.shard)) }
        }
    }

    /// Appends a frame from the publisher's shard.
    func appendRemote(_ frame: UnsafeRawBufferPointer, _ header: FrameHeader, from publisher: ParticipantHandle) {
        guard let track = aheads.index(forFrameOf: header.alias, from: publisher),
            aheads.tracks[track].accepts(frame, header, from: publisher)
        else { return }
        if let reason = aheads.append(frame, header, to: track, at: context.now) { context.countDropped(reason) }
    }

    // MARK: Out

    /// Releases what cannot wait for the next tick, of tracks that have just got frames.
    func releaseFresh() {
        while let track = aheads.nextFresh() { release(track, at: context.now, onlyIfUrgent: true) }
        rooms.flushPlayoutReports()
    }

    /// Releases what is due, of all tracks.
    func releaseDue() {
        guard !aheads.active.isEmpty else { return }
        let now = context.now
        aheads.findDue(at: now)
        for index in aheads.due.indices { release(aheads.due[index], at: now, onlyIfUrgent: false) }
        aheads.settle(at: now)
        for track in aheads.withReports { noteReports(of: track) }
        rooms.flushPlayoutReports()
    }

    /// Releases what waited for a subscriber's capacity.
    func releaseAhead(to participant: ParticipantConnection) {
        participant.flow.isBehind = false
        for track in participant.aheadTracks {
            guard let index = aheads.tracks[track].subscriber(at: participant.handle.slot) else { continue }
            release(track, to: participant, index, at: context.now, onlyIfUrgent: false)
        }
    }

    private func release(_ track: Int, at now: Instant, onlyIfUrgent: Bool) {
        aheads.tracks[track].releaseReference(at: now, onlyIfUrgent: onlyIfUrgent)
        let edges = meterReleased(track, at: now)
        for index in 0..<aheads.tracks[track].subscriberCount {
            slots.withOccupant(at: aheads.tracks[track].slot(ofSubscriber: index)) {
                release(track, to: $0, index, at: now, onlyIfUrgent: onlyIfUrgent, endsTurn: !edges.isEmpty)
            }
        }
        for (sid, edge) in edges {
            if let publisher = slots[Int(aheads.tracks[track].publisher.slot)] { submit(edge, of: sid, publishedBy: publisher) }
        }
        noteReports(of: track)
    }

    private func release(
        _ track: Int, to subscriber: ParticipantConnection, _ index: Int, at now: Instant, onlyIfUrgent: Bool, endsTurn: Bool = false
    ) {
        for _ in 0..<aheads.tracks[track].takeSkippedFrames(ofSubscriber: index) { sender.countDropped(.full, of: subscriber) }
        guard subscriber.pendingClose == nil, aheads.tracks[track].isDue(forSubscriber: index, at: now, onlyIfUrgent: onlyIfUrgent) else {
            return
        }
        // A resuming subscriber receives missed events first; its frames wait as for a congested socket.
        guard subscriber.link.isReachable else {
            subscriber.flow.isBehind = true
            return
        }
        repeat {
            guard !subscriber.outbox.hasControl, sender.hasCapacity(subscriber, at: now) else {
                subscriber.flow.isBehind = true
                if subscriber.socket.isCongested { subscriber.socket.askForWritable() }
                return
            }
            guard let output = aheads.tracks[track].release(toSubscriber: index, at: now, into: sender.message) else { return }
            sender.deliver(sender.message, output.bytes, frames: output.frames, endsTurn: endsTurn, to: subscriber)
            if output.frames > 1 {
                context.counters.bundlesOut += 1
                context.counters.bundledFramesOut += UInt64(output.frames)
            }
        } while aheads.tracks[track].isDue(forSubscriber: index, at: now, onlyIfUrgent: false)
    }

    /// Feeds released frames to the track's meter: speech is measured when it is played, not when it is published.
    ///
    /// - Returns: the talkspurts that begin and end in it; mostly none.
    private func meterReleased(_ track: Int, at now: Instant) -> [(track: TrackSID, edge: TrackMeter.Edge)] {
        var edges: [(track: TrackSID, edge: TrackMeter.Edge)] = []
        let slot = Int(aheads.tracks[track].publisher.slot)
        while let header = aheads.tracks[track].nextReleasedHeader() {
            guard let patch = panel.index(of: header.alias, publishedBy: slot) else { continue }
            if let tap = panel.patches[slot][patch].tap {
                aheads.tracks[track].withReleasedFrame { record($0, on: tap, at: $1) }
            }
            if let edge = panel.meter(header, of: patch, publishedBy: slot, at: now) {
                edges.append((panel.patches[slot][patch].track, edge))
            }
        }
        return edges
    }

    /// Queues a track's playout reports for its room.
    func noteReports(of track: Int) {
        guard aheads.tracks[track].hasReports, let sid = aheads.tracks[track].sid else { return }
        let publisher = aheads.tracks[track].publisher
        for report in aheads.tracks[track].takeReports() { rooms.noteReport(report, of: sid, by: publisher) }
    }
}

/// Changes of `ahead` tracks: opening, pausing, clearing, subscriptions, and replays to other shards.
extension MediaRelay {
    func openAhead(_ track: TrackInfo, by publisher: ParticipantHandle) -> Int {
        aheads.open(
            AheadTrack(
                track.sid, alias: track.alias, by: publisher, epoch: track.epoch, frameMilliseconds: track.frameMs, at: context.now))
    }

    /// The track has ended, or it is published on another shard and has no subscribers here any more.
    func closeAhead(_ track: Int) {
        var closed = aheads.tracks[track]
        for index in 0..<closed.subscriberCount {
            slots[Int(closed.slot(ofSubscriber: index))]?.aheadTracks.removeAll { $0 == track }
        }
        if closed.sid != nil { context.countDropped(.cleared, closed.waitingFrames) }
        aheads.close(track)
    }

    func setPaused(_ isPaused: Bool, _ track: Int) {
        aheads.tracks[track].setPaused(isPaused, at: context.now)
        aheads.activate(track)
        noteReports(of: track)
        guard !isPaused else { return }
        for owed in aheads.tracks[track].takePendingReplays() { replay(track, owed, from: nil) }
    }

    func clearAhead(_ track: Int, epoch: UInt8) {
        let cleared = aheads.tracks[track].clear(epoch: epoch, at: context.now)
        if aheads.tracks[track].sid != nil { context.countDropped(.cleared, cleared) }
        aheads.activate(track)
        noteReports(of: track)
    }

    // MARK: Subscribers

    func subscribeAhead(
        _ subscriber: ParticipantHandle, to alias: TrackAlias, of publisher: ParticipantHandle, _ listening: Room.SubscriptionOptions
    ) {
        let track =
            aheads.index(of: alias, by: publisher)
            ?? aheads.open(
                AheadTrack(
                    nil, alias: alias, by: publisher, epoch: listening.epoch, frameMilliseconds: listening.frameMilliseconds,
                    awaiting: listening.number, at: context.now))
        // Counted even if the subscriber has left meanwhile: its room will unsubscribe it here and where the track is published.
        aheads.tracks[track].subscriptions += 1
        guard let participant = slots.occupant(of: subscriber) else { return }
        aheads.tracks[track].add(subscriber: subscriber.slot, from: listening.from, at: context.now)
        if !participant.aheadTracks.contains(track) { participant.aheadTracks.append(track) }
        aheads.activate(track)
    }

    func unsubscribeAhead(_ subscriber: ParticipantHandle, from track: Int) {
        aheads.tracks[track].subscriptions -= 1
        aheads.tracks[track].remove(subscriber: subscriber.slot)
        slots.occupant(of: subscriber)?.aheadTracks.removeAll { $0 == track }
        if aheads.tracks[track].subscriptions == 0, aheads.tracks[track].sid == nil { closeAhead(track) }
    }

    // MARK: Replays to other shards

    /// Sends to a shard with a first subscriber what has been published and not played.
    func replayAhead(_ alias: TrackAlias, of publisher: ParticipantHandle, to shard: UInt16, _ listening: Room.SubscriptionOptions) {
        guard let track = aheads.index(of: alias, by: publisher) else { return }
        let owed = AheadTrack.PendingReplay(shard: shard, number: listening.number)
        if aheads.tracks[track].isPaused {
            // The other shard does not know of the pause and would release the frames, so they stay here until it is over.
            aheads.tracks[track].deferReplay(owed)
        } else {
            replay(track, owed, from: listening.from)
        }
    }

    func forgetReplay(of alias: TrackAlias, by publisher: ParticipantHandle, to shard: UInt16) {
        guard let track = aheads.index(of: alias, by: publisher) else { return }
        aheads.tracks[track].cancelReplay(to: shard)
    }

    private func replay(_ track: Int, _ owed: AheadTrack.PendingReplay, from: MediaTime?) {
        let (publisher, shard) = (aheads.tracks[track].publisher, Int(owed.shard))
        // Without the mark the other shard would wait for the beginning of the track forever.
        let mark = aheads.tracks[track].marker(ofReplay: owed.number)
        mark.bytes.withUnsafeBytes { send($0, from: publisher, to: shard, evenIfFull: true) }
        aheads.tracks[track].replay(from: from, at: context.now) { send($0, from: publisher, to: shard) }
    }

    // MARK: Moving

    /// Unreleased frames move along, to the new publisher's shard: its queue is the one that reports to the room.
    func moveAhead(
        _ track: TrackInfo, from old: ParticipantHandle, to new: ParticipantHandle, _ gate: Room.Gate,
        heardBy subscribers: [ParticipantHandle]
    ) {
        let index = aheads.index(of: track.alias, by: old)
        if let index { aheads.rename(index, to: new) }
        switch (context.isLocal(old), context.isLocal(new)) {
        case (true, true): panel.move(track.alias, from: Int(old.slot), to: Int(new.slot))
        case (true, false):
            forgetTap(of: track.alias, by: old)
            panel.unpublish(track.alias, by: Int(old.slot))
            guard let index else { return }
            context.post(.takeAhead(aheads.tracks[index].handOver()), to: Int(new.shard))
            if aheads.tracks[index].subscriptions == 0 { closeAhead(index) }
        case (false, true):
            let index = index ?? openAhead(track, by: new)
            aheads.tracks[index].becomeReference(track.sid)
            panel.publish(track, by: Int(new.slot), aheadIndex: index)
            panel.setGate(gate, of: track.alias, by: Int(new.slot))
            for subscriber in subscribers where !context.isLocal(subscriber) {
                panel.add(trunk: subscriber.shard, to: track.alias, of: Int(new.slot))
            }
        case (false, false): break
        }
    }

    /// The queue has arrived from the shard where the track was published before.
    func takeAhead(_ track: AheadTrack) {
        guard let index = aheads.index(of: track.alias, by: track.publisher) else { return }
        aheads.takeOver(index, track)
    }
}
