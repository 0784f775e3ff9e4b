internal import Engine
internal import Wire

/// As `Shard+Ahead`.
extension SimulatedShard {
    // MARK: In

    func push(_ frame: [UInt8], _ header: FrameHeader, of patch: Int, to place: Int, from sender: SimulatedMember, goesFurther: Bool) {
        let seat = Int(sender.handle.seat)
        let track = panel.patches[seat][patch].track
        if let refusal = frame.withUnsafeBytes({ aheads.append($0, header, to: place, at: now) }) { return drop(refusal, of: frame) }
        world.admittedAhead(frame, from: sender, track: track, at: self, place: place)
        for trunk in goesFurther ? panel.patches[seat][patch].trunks : [] {
            var stored: [UInt8] = []
            aheads.tracks[place].withNewestFrame { stored = Array($0) }
            world.meanwhile(besides: index)
            send(stored, from: sender.handle, to: Int(trunk.shard))
        }
    }

    func carryAhead(_ frame: [UInt8], _ header: FrameHeader, from publisher: ParticipantHandle) {
        guard let place = aheads.place(toCarry: header.alias, from: publisher) else {
            return world.expect(
                !world.truth.hasMoved(header.alias, of: publisher, toOneIn: aheads),
                "shard \(index) loses frame \(Ledger.number(of: frame)) of a track whose publisher has moved")
        }
        let isRefused = frame.withUnsafeBytes { bytes in
            !aheads.tracks[place].wants(bytes, header, from: publisher) || aheads.append(bytes, header, to: place, at: now) != nil
        }
        if !isRefused { world.pacing.arrived(Ledger.number(of: frame), at: index, place: place, in: world) }
    }

    // MARK: Out

    func letOutFresh() {
        while let place = aheads.nextFresh() { letOut(place, onlyIfUrgent: true) }
        tellFacts()
    }

    func letOutActive() {
        guard !aheads.active.isEmpty else { return }
        aheads.findDue(at: now)
        for place in aheads.due { letOut(place, onlyIfUrgent: false) }
        aheads.settle(at: now)
        for place in aheads.withFacts { noteFacts(of: place) }
        tellFacts()
    }

    func letOutAhead(to member: SimulatedMember) {
        member.isBehind = false
        for place in member.aheadPlaces {
            guard let index = aheads.tracks[place].listener(at: member.handle.seat) else { continue }
            letOut(place, to: member, index, onlyIfUrgent: false)
        }
    }

    private func letOut(_ place: Int, onlyIfUrgent: Bool) {
        aheads.tracks[place].letOutReference(at: now, onlyIfUrgent: onlyIfUrgent)
        let edges = meter(place)
        for index in 0..<aheads.tracks[place].listenerCount {
            guard let listener = seats[Int(aheads.tracks[place].seat(ofListener: index))] else { continue }
            letOut(place, to: listener, index, onlyIfUrgent: onlyIfUrgent)
        }
        for (track, edge) in edges {
            if let publisher = seats[Int(aheads.tracks[place].publisher.seat)] { talk(edge, of: track, publishedBy: publisher) }
        }
        noteFacts(of: place)
    }

    private func letOut(_ place: Int, to listener: SimulatedMember, _ index: Int, onlyIfUrgent: Bool) {
        world.expect(
            aheads.tracks[place].takeSkippedFrames(ofListener: index) == 0, "\(listener.line.stay) loses speech that was not a minute old")
        guard listener.farewell == nil, aheads.tracks[place].isDue(forListener: index, at: now, onlyIfUrgent: onlyIfUrgent) else { return }
        guard listener.isReachable else {
            listener.isBehind = true
            world.pacing.stall(listener, at: world.now)
            return
        }
        repeat {
            guard !listener.outbox.hasControl, hasRoom(listener) else {
                listener.isBehind = true
                world.pacing.stall(listener, at: world.now)
                if listener.line.isCongested { listener.line.askForWritable() }
                return
            }
            var message = [UInt8](repeating: 0, count: ProtocolLimits.messageBytesMax)
            let output = message.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.flatMap { aheads.tracks[place].letOut(toListener: index, at: now, into: $0) }
            }
            guard let output else { return }
            message.removeSubrange(output.bytes...)
            world.letOut(message, frames: output.frames, to: listener, at: self)
            listener.line.write(.binary(message))
            noteWritten(output.bytes, frames: output.frames, to: listener)
        } while aheads.tracks[place].isDue(forListener: index, at: now, onlyIfUrgent: false)
    }

    private func meter(_ place: Int) -> [(track: TrackSID, edge: TrackMeter.Edge)] {
        var edges: [(track: TrackSID, edge: TrackMeter.Edge)] = []
        let seat = Int(aheads.tracks[place].publisher.seat)
        while let header = aheads.tracks[place].nextHeaderLetOut() {
            guard let patch = panel.index(of: header.alias, publishedBy: seat) else { continue }
            if let edge = panel.note(header, of: patch, publishedBy: seat, at: now) {
                edges.append((panel.patches[seat][patch].track, edge))
            }
        }
        return edges
    }
}
