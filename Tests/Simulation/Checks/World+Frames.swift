internal import DequeModule
internal import Engine
internal import Wire

/// Reports of the shards about frames between publisher and subscribers.
extension World {
    func admitted(_ frame: [UInt8], from sender: SimulatedMember, track: TrackSID, at shard: SimulatedShard) {
        let number = Ledger.number(of: frame)
        guard number >= 0 else { return fail("a frame that is not in the ledger is admitted") }
        counts.admitted += 1
        log("frame \(number) of \(sender.connection.session) is admitted by shard \(shard.index)")
        let entry = ledger.frames[number]
        expect(entry.isDeliverable, "frame \(number) of \(entry.session) is admitted, which must be dropped")
        expect(entry.track == track, "frame \(number) is admitted as one of \(track)")
        ledger.passed(number, at: now)
        routing.admitted(number, from: sender.handle, alias: entry.header.alias, in: self)
    }

    /// The same on an `ahead` track, which queues frames until they are due.
    func admittedAhead(_ frame: [UInt8], from sender: SimulatedMember, track: TrackSID, at shard: SimulatedShard, aheadIndex: Int) {
        let number = Ledger.number(of: frame)
        guard number >= 0 else { return fail("a frame that is not in the ledger is admitted") }
        counts.admitted += 1
        let entry = ledger.frames[number]
        expect(entry.isDeliverable, "frame \(number) of \(entry.session) is admitted, which must be dropped")
        log("frame \(number) of \(sender.connection.session) is queued by shard \(shard.index)")
        routing.admittedAhead(number, entry, from: sender.handle, in: self)
        if gapBefore.remove(track) != nil { afterGap.insert(number) }
        pacing.arrived(number, at: shard.index, aheadIndex: aheadIndex, in: self)
    }

    /// A message of an `ahead` track is released to a subscriber.
    func release(_ message: [UInt8], frames count: Int, to subscriber: SimulatedMember, at shard: SimulatedShard) {
        var frames = [message]
        if message.first == FrameKind.bundle.rawValue { frames = (try? FrameReading.frames(in: message).get()) ?? [] }
        expect(frames.count == count, "a message of \(frames.count) frames is counted as \(count)")
        for frame in frames {
            let number = Ledger.number(of: frame)
            handed(frame, to: subscriber, at: shard)
            routing.release(number, ledger.frames[number], in: self)
            pacing.release(number, ledger.frames[number], to: subscriber, at: shard, in: self)
        }
    }

    func recordRejection(of frame: [UInt8], _ reason: DropReason) {
        let number = Ledger.number(of: frame)
        guard number >= 0 else { return }
        if ledger.frames[number].mode == .ahead, reason == .ahead || reason == .full { gapBefore.insert(ledger.frames[number].track) }

        guard ledger.frames[number].mustBeDelivered else { return }
        fail("frame \(number) of \(ledger.frames[number].session) is rejected (\(reason)) in the liveness phase")
    }

    func handed(_ frame: [UInt8], to subscriber: SimulatedMember, at shard: SimulatedShard) {
        let number = Ledger.number(of: frame)
        let entry = ledger.frames[number]
        counts.handed += 1
        log("frame \(number) is forwarded to \(subscriber.connection.session)")
        if let publisher = entry.session.handle {
            routing.handed(number, of: RoutingModel.Key(publisher: publisher, alias: entry.header.alias), to: subscriber.handle, in: self)
        }
        subscriber.connection.handed[entry.header.alias.value, default: []].append(SimulatedConnection.Handed(frame: number, at: shard.now))
    }

    func dropped(_ frame: [UInt8], _ reason: DropReason, of subscriber: SimulatedMember, at shard: SimulatedShard) {
        let number = Ledger.number(of: frame)
        let alias = ledger.frames[number].header.alias.value
        counts.dropped[reason.rawValue] += 1
        log("frame \(number) is dropped (\(reason)) on its way to \(subscriber.connection.session): \(subscriber.obstacle(at: shard))")
        guard let index = subscriber.connection.handed[alias]?.lastIndex(where: { $0.frame == number }),
            let at = subscriber.connection.handed[alias]?[index].at
        else { return fail("frame \(number) is dropped (\(reason)) but was not forwarded") }
        subscriber.connection.handed[alias]?[index].isDropped = true
        if reason == .age {
            expect(shard.now - at > subscriber.ageMax, "frame \(number) is dropped as expired after \((shard.now - at).inMilliseconds) ms")
        }
        guard ledger.frames[number].mustBeDelivered, subscriber.connection.session.isSettling, !subscriber.connection.isPeerGone else {
            return
        }
        // A room with agents only may close at any time, and so do its connections.
        if reason == .left || reason == .away { return }
        if reason == .full, swarm.hasSmallQueues {
            // A tiny queue may overflow at any time.
            subscriber.connection.session.receivedRequired.insert(number)
        } else {
            fail("frame \(number) is dropped (\(reason)) on its way to \(subscriber.connection.session) in the liveness phase")
        }
    }
}
