internal import Engine
internal import Wire

/// As the gateway's `MediaRelay+Ahead`.
extension SimulatedShard {
    // MARK: Queueing

    func push(
        _ frame: [UInt8], _ header: FrameHeader, of patch: Int, to aheadIndex: Int, from sender: SimulatedMember, hasOtherTargets: Bool
    ) {
        let slot = Int(sender.handle.slot)
        let track = panel.patches[slot][patch].track
        if let reason = frame.withUnsafeBytes({ aheads.append($0, header, to: aheadIndex, at: now) }) { return drop(reason, of: frame) }
        world.admittedAhead(frame, from: sender, track: track, at: self, aheadIndex: aheadIndex)
        for trunk in hasOtherTargets ? panel.patches[slot][patch].trunks : [] {
            var stored: [UInt8] = []
            aheads.tracks[aheadIndex].withNewestFrame { stored = Array($0) }
            world.meanwhile(besides: index)
            send(stored, from: sender.handle, to: Int(trunk.shard))
        }
    }

    func appendRemote(_ frame: [UInt8], _ header: FrameHeader, from publisher: ParticipantHandle) {
        guard let aheadIndex = aheads.index(forFrameOf: header.alias, from: publisher) else {
            return world.expect(
                !world.routing.hasMoved(header.alias, of: publisher, toOneIn: aheads),
                "shard \(index) loses frame \(Ledger.number(of: frame)) of a moved track")
        }
        let isRefused = frame.withUnsafeBytes { bytes in
            !aheads.tracks[aheadIndex].accepts(bytes, header, from: publisher)
                || aheads.append(bytes, header, to: aheadIndex, at: now) != nil
        }
        if !isRefused { world.pacing.arrived(Ledger.number(of: frame), at: index, aheadIndex: aheadIndex, in: world) }
    }

    // MARK: Releasing

    func releaseFresh() {
        while let aheadIndex = aheads.nextFresh() { release(aheadIndex, onlyIfUrgent: true) }
        flushPlayoutReports()
    }

    func releaseActive() {
        guard !aheads.active.isEmpty else { return }
        aheads.findDue(at: now)
        for aheadIndex in aheads.due { release(aheadIndex, onlyIfUrgent: false) }
        aheads.settle(at: now)
        for aheadIndex in aheads.withReports { sendReports(of: aheadIndex) }
        flushPlayoutReports()
    }

    func releaseAhead(to member: SimulatedMember) {
        member.isBehind = false
        for aheadIndex in member.aheadIndices {
            guard let index = aheads.tracks[aheadIndex].subscriber(at: member.handle.slot) else { continue }
            release(aheadIndex, to: member, index, onlyIfUrgent: false)
        }
    }

    private func release(_ aheadIndex: Int, onlyIfUrgent: Bool) {
        aheads.tracks[aheadIndex].releaseReference(at: now, onlyIfUrgent: onlyIfUrgent)
        let edges = meter(aheadIndex)
        for index in 0..<aheads.tracks[aheadIndex].subscriberCount {
            guard let subscriber = slots[Int(aheads.tracks[aheadIndex].slot(ofSubscriber: index))] else { continue }
            release(aheadIndex, to: subscriber, index, onlyIfUrgent: onlyIfUrgent)
        }
        for (track, edge) in edges {
            if let publisher = slots[Int(aheads.tracks[aheadIndex].publisher.slot)] { talk(edge, of: track, publishedBy: publisher) }
        }
        sendReports(of: aheadIndex)
    }

    private func release(_ aheadIndex: Int, to subscriber: SimulatedMember, _ index: Int, onlyIfUrgent: Bool) {
        world.expect(
            aheads.tracks[aheadIndex].takeSkippedFrames(ofSubscriber: index) == 0,
            "\(subscriber.connection.session) skips frames of less than a minute")
        guard subscriber.pendingClose == nil, aheads.tracks[aheadIndex].isDue(forSubscriber: index, at: now, onlyIfUrgent: onlyIfUrgent)
        else { return }
        guard subscriber.isReachable else {
            subscriber.isBehind = true
            world.pacing.stall(subscriber, at: world.now)
            return
        }
        repeat {
            guard !subscriber.outbox.hasControl, hasRoom(subscriber) else {
                subscriber.isBehind = true
                world.pacing.stall(subscriber, at: world.now)
                if subscriber.connection.isCongested { subscriber.connection.requestWritable() }
                return
            }
            var message = [UInt8](repeating: 0, count: ProtocolLimits.messageBytesMax)
            let output = message.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.flatMap { aheads.tracks[aheadIndex].release(toSubscriber: index, at: now, into: $0) }
            }
            guard let output else { return }
            message.removeSubrange(output.bytes...)
            world.release(message, frames: output.frames, to: subscriber, at: self)
            subscriber.connection.write(.binary(message))
            recordWrite(output.bytes, frames: output.frames, to: subscriber)
        } while aheads.tracks[aheadIndex].isDue(forSubscriber: index, at: now, onlyIfUrgent: false)
    }

    private func meter(_ aheadIndex: Int) -> [(track: TrackSID, edge: TrackMeter.Edge)] {
        var edges: [(track: TrackSID, edge: TrackMeter.Edge)] = []
        let slot = Int(aheads.tracks[aheadIndex].publisher.slot)
        while let header = aheads.tracks[aheadIndex].nextReleasedHeader() {
            guard let patch = panel.index(of: header.alias, publishedBy: slot) else { continue }
            if let edge = panel.meter(header, of: patch, publishedBy: slot, at: now) {
                edges.append((panel.patches[slot][patch].track, edge))
            }
        }
        return edges
    }
}
