internal import Engine
internal import Sockets
internal import Wire

/// Frames of `ahead` tracks: each shard that has to do with a track keeps what was published and lets it out by its own clock. Their frames never
/// come into an outbox: what is due and finds no room stays where it is.
extension Shard {
    // MARK: In

    /// Passes the frame that has just come from its publisher on, unpaced, to the shards where it is heard.
    func pass(newestOf place: Int, to trunks: [Patch.Trunk], from sender: Member) {
        for trunk in trunks {
            // As it was stored: it may say that some before it were refused.
            aheads.tracks[place].withNewestFrame { send($0, from: sender.handle, to: Int(trunk.shard)) }
        }
    }

    /// Takes a frame from the publisher's shard.
    func carryAhead(_ frame: UnsafeRawBufferPointer, _ header: FrameHeader, from publisher: ParticipantHandle) {
        guard let place = aheads.index(forFrameOf: header.alias, from: publisher), aheads.tracks[place].accepts(frame, header, from: publisher)
        else {
            return
        }
        if let refusal = aheads.append(frame, header, to: place, at: clock.now) { drop(refusal) }
    }

    // MARK: Out

    /// Lets out what cannot wait for the next look, of tracks that frames have just come to.
    func releaseFresh() {
        while let place = aheads.nextFresh() { release(place, at: clock.now, onlyIfUrgent: true) }
        tellFacts()
    }

    /// Lets out what is due, of all tracks.
    func releaseActive() {
        guard !aheads.active.isEmpty else { return }
        let now = clock.now
        aheads.findDue(at: now)
        var index = 0
        while index < aheads.due.count {
            prefetch(dueAfter: index)
            release(aheads.due[index], at: now, onlyIfUrgent: false)
            index += 1
        }
        aheads.settle(at: now)
        for place in aheads.withReports { noteFacts(of: place) }
        tellFacts()
    }

    /// What is let out next is called to hand while the kernel takes what is let out now.
    private func prefetch(dueAfter index: Int) {
        if index + 2 < aheads.due.count {
            let place = aheads.due[index + 2]
            let (address, count) = aheads.memory(of: place)
            PrefetchHints.fetch(address, lines: Int32(count / 64 + 1))
            if place < aheadPrefetchHints.count { aheadPrefetchHints[place].fetch() }
        }
        if index + 1 < aheads.due.count {
            let (frames, subscribers) = aheads.memoryOfNext(from: aheads.due[index + 1])
            PrefetchHints.fetch(frames, lines: 8)
            PrefetchHints.fetch(subscribers, lines: 2)
        }
    }

    /// Remembers what was looked at for the first of its subscribers.
    private func noteForesight(of place: Int, subscriber: Member) {
        let publisher = Int(aheads.tracks[place].publisher.slot)
        guard publisher < panel.patches.count else { return }
        let patch = panel.patches[publisher].withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        guard let prefetchHints = subscriber.connection.prefetchHints(sender: 0, track: patch, subscriber: subscriber.address) else { return }
        while aheadPrefetchHints.count <= place { aheadPrefetchHints.append(PrefetchHints()) }
        aheadPrefetchHints[place] = prefetchHints
    }

    /// Lets out what waited for room, now that there is some.
    func releaseAhead(to member: Member) {
        member.isBehind = false
        for place in member.aheadIndices {
            guard let index = aheads.tracks[place].subscriber(at: member.handle.slot) else { continue }
            release(place, to: member, index, at: clock.now, onlyIfUrgent: false)
        }
    }

    private func release(_ place: Int, at now: Instant, onlyIfUrgent: Bool) {
        aheads.tracks[place].releaseReference(at: now, onlyIfUrgent: onlyIfUrgent)
        let edges = meter(place, at: now)
        for index in 0..<aheads.tracks[place].subscriberCount {
            withMember(at: aheads.tracks[place].slot(ofSubscriber: index)) {
                // With a first or a last frame goes what its room makes of it.
                release(place, to: $0, index, at: now, onlyIfUrgent: onlyIfUrgent, withTurn: !edges.isEmpty)
            }
        }
        for (track, edge) in edges {
            if let publisher = slots[Int(aheads.tracks[place].publisher.slot)] { talk(edge, of: track, publishedBy: publisher) }
        }
        noteFacts(of: place)
    }

    private func release(_ place: Int, to subscriber: Member, _ index: Int, at now: Instant, onlyIfUrgent: Bool, withTurn: Bool = false) {
        for _ in 0..<aheads.tracks[place].takeSkippedFrames(ofSubscriber: index) { dropQueued(.full, of: subscriber) }
        guard subscriber.pendingClose == nil, aheads.tracks[place].isDue(forSubscriber: index, at: now, onlyIfUrgent: onlyIfUrgent) else { return }
        // Who has just come back is told first what it missed, and that it is back. What is due waits as for a socket without room.
        guard subscriber.isReachable else {
            subscriber.isBehind = true
            return
        }
        let message = messageStaging + Connection.headroom
        repeat {
            guard !subscriber.outbox.hasControl, hasRoom(subscriber, at: now) else {
                subscriber.isBehind = true
                if subscriber.connection.isCongested { subscriber.connection.askForWritable() }
                return
            }
            guard let output = aheads.tracks[place].release(toSubscriber: index, at: now, into: message) else { return }
            deliver(message, output.bytes, frames: output.frames, withTurn: withTurn, to: subscriber)
            if index == 0 { noteForesight(of: place, subscriber: subscriber) }
            if output.frames > 1 {
                counters.bundlesOut += 1
                counters.bundledFramesOut += UInt64(output.frames)
            }
        } while aheads.tracks[place].isDue(forSubscriber: index, at: now, onlyIfUrgent: false)
    }

    /// Shows the track's meter what is let out: who talks is who is heard, not who was published.
    ///
    /// - Returns: where talkspurts begin and end in it; mostly nowhere.
    private func meter(_ place: Int, at now: Instant) -> [(track: TrackSID, edge: TrackMeter.Edge)] {
        var edges: [(track: TrackSID, edge: TrackMeter.Edge)] = []
        let slot = Int(aheads.tracks[place].publisher.slot)
        while let header = aheads.tracks[place].nextReleasedHeader() {
            guard let patch = panel.index(of: header.alias, publishedBy: slot) else { continue }
            if let tap = panel.patches[slot][patch].tap {
                aheads.tracks[place].withReleasedFrame { copy($0, toTap: tap, heardAt: $1) }
            }
            if let edge = panel.note(header, of: patch, publishedBy: slot, at: now) {
                edges.append((panel.patches[slot][patch].track, edge))
            }
        }
        return edges
    }
}
