internal import Engine
internal import Wire

/// As `Shard+Ahead`.
extension SimulatedShard {
    // MARK: In

    func push(_ frame: [UInt8], _ header: FrameHeader, of patch: Int, to place: Int, from sender: SimulatedMember, hasOtherTargets: Bool) {
        let slot = Int(sender.handle.slot)
        let track = panel.patches[slot][patch].track
        if let refusal = frame.withUnsafeBytes({ aheads.append($0, header, to: place, at: now) }) { return drop(refusal, of: frame) }
        world.admittedAhead(frame, from: sender, track: track, at: self, place: place)
        for trunk in hasOtherTargets ? panel.patches[slot][patch].trunks : [] {
            var stored: [UInt8] = []
            aheads.tracks[place].withNewestFrame { stored = Array($0) }
            world.meanwhile(besides: index)
            send(stored, from: sender.handle, to: Int(trunk.shard))
        }
    }

    func carryAhead(_ frame: [UInt8], _ header: FrameHeader, from publisher: ParticipantHandle) {
        guard let place = aheads.index(forFrameOf: header.alias, from: publisher) else {
            return world.expect(
                !world.truth.hasMoved(header.alias, of: publisher, toOneIn: aheads),
                "shard \(index) loses frame \(Ledger.number(of: frame)) of a track whose publisher has moved")
        }
        let isRefused = frame.withUnsafeBytes { bytes in
            !aheads.tracks[place].accepts(bytes, header, from: publisher) || aheads.append(bytes, header, to: place, at: now) != nil
        }
        if !isRefused { world.pacing.arrived(Ledger.number(of: frame), at: index, place: place, in: world) }
    }

    // MARK: Out

    func releaseFresh() {
        while let place = aheads.nextFresh() { release(place, onlyIfUrgent: true) }
        tellFacts()
    }

    func releaseActive() {
        guard !aheads.active.isEmpty else { return }
        aheads.findDue(at: now)
        for place in aheads.due { release(place, onlyIfUrgent: false) }
        aheads.settle(at: now)
        for place in aheads.withReports { noteFacts(of: place) }
        tellFacts()
    }

    func releaseAhead(to member: SimulatedMember) {
        member.isBehind = false
        for place in member.aheadIndices {
            guard let index = aheads.tracks[place].subscriber(at: member.handle.slot) else { continue }
            release(place, to: member, index, onlyIfUrgent: false)
        }
    }

    private func release(_ place: Int, onlyIfUrgent: Bool) {
        aheads.tracks[place].releaseReference(at: now, onlyIfUrgent: onlyIfUrgent)
        let edges = meter(place)
        for index in 0..<aheads.tracks[place].subscriberCount {
            guard let subscriber = slots[Int(aheads.tracks[place].slot(ofSubscriber: index))] else { continue }
            release(place, to: subscriber, index, onlyIfUrgent: onlyIfUrgent)
        }
        for (track, edge) in edges {
            if let publisher = slots[Int(aheads.tracks[place].publisher.slot)] { talk(edge, of: track, publishedBy: publisher) }
        }
        noteFacts(of: place)
    }

    private func release(_ place: Int, to subscriber: SimulatedMember, _ index: Int, onlyIfUrgent: Bool) {
        world.expect(
            aheads.tracks[place].takeSkippedFrames(ofSubscriber: index) == 0, "\(subscriber.line.stay) loses speech that was not a minute old")
        guard subscriber.pendingClose == nil, aheads.tracks[place].isDue(forSubscriber: index, at: now, onlyIfUrgent: onlyIfUrgent) else { return }
        guard subscriber.isReachable else {
            subscriber.isBehind = true
            world.pacing.stall(subscriber, at: world.now)
            return
        }
        repeat {
            guard !subscriber.outbox.hasControl, hasRoom(subscriber) else {
                subscriber.isBehind = true
                world.pacing.stall(subscriber, at: world.now)
                if subscriber.line.isCongested { subscriber.line.askForWritable() }
                return
            }
            var message = [UInt8](repeating: 0, count: ProtocolLimits.messageBytesMax)
            let output = message.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.flatMap { aheads.tracks[place].release(toSubscriber: index, at: now, into: $0) }
            }
            guard let output else { return }
            message.removeSubrange(output.bytes...)
            world.release(message, frames: output.frames, to: subscriber, at: self)
            subscriber.line.write(.binary(message))
            noteWritten(output.bytes, frames: output.frames, to: subscriber)
        } while aheads.tracks[place].isDue(forSubscriber: index, at: now, onlyIfUrgent: false)
    }

    private func meter(_ place: Int) -> [(track: TrackSID, edge: TrackMeter.Edge)] {
        var edges: [(track: TrackSID, edge: TrackMeter.Edge)] = []
        let slot = Int(aheads.tracks[place].publisher.slot)
        while let header = aheads.tracks[place].nextReleasedHeader() {
            guard let patch = panel.index(of: header.alias, publishedBy: slot) else { continue }
            if let edge = panel.note(header, of: patch, publishedBy: slot, at: now) {
                edges.append((panel.patches[slot][patch].track, edge))
            }
        }
        return edges
    }
}
