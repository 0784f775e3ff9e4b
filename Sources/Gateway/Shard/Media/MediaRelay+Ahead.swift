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
            if let publisher = slots[Int(aheads.tracks[track].publisher.slot)] { report(edge, of: sid, publishedBy: publisher) }
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
