internal import DequeModule
internal import Engine
internal import Wire

/// What happens to a frame between its sender and its subscribers, as the shards tell.
extension World {
    func admitted(_ frame: [UInt8], from sender: SimulatedMember, track: TrackSID, at shard: SimulatedShard) {
        let number = Ledger.number(of: frame)
        guard number >= 0 else { return fail("a frame that is not in the ledger passes") }
        tally.admitted += 1
        note("frame \(number) of \(sender.line.stay) passes shard \(shard.index)")
        let said = ledger.frames[number]
        expect(said.mayBeHeard, "frame \(number) of \(said.stay) passes, which nobody may hear")
        expect(said.track == track, "frame \(number) passes as one of \(track)")
        ledger.passed(number, at: now)
        truth.admitted(number, from: sender.handle, alias: said.header.alias, in: self)
    }

    /// The same on an `ahead` track, where it is kept until it is due.
    func admittedAhead(_ frame: [UInt8], from sender: SimulatedMember, track: TrackSID, at shard: SimulatedShard, place: Int) {
        let number = Ledger.number(of: frame)
        guard number >= 0 else { return fail("a frame that is not in the ledger passes") }
        tally.admitted += 1
        let said = ledger.frames[number]
        expect(said.mayBeHeard, "frame \(number) of \(said.stay) passes, which nobody may hear")
        note("frame \(number) of \(sender.line.stay) is kept by shard \(shard.index)")
        truth.admittedAhead(number, said, from: sender.handle, in: self)
        if gapBefore.remove(track) != nil { afterGap.insert(number) }
        pacing.arrived(number, at: shard.index, place: place, in: self)
    }

    /// A message of an `ahead` track leaves for a subscriber.
    func release(_ message: [UInt8], frames count: Int, to subscriber: SimulatedMember, at shard: SimulatedShard) {
        var frames = [message]
        if message.first == FrameKind.bundle.rawValue { frames = (try? FrameReading.frames(in: message).get()) ?? [] }
        expect(frames.count == count, "a message of \(frames.count) frames is counted as \(count)")
        for frame in frames {
            let number = Ledger.number(of: frame)
            handed(frame, to: subscriber, at: shard)
            truth.release(number, ledger.frames[number], in: self)
            pacing.release(number, ledger.frames[number], to: subscriber, at: shard, in: self)
        }
    }

    func refused(_ frame: [UInt8], _ reason: DropReason) {
        let number = Ledger.number(of: frame)
        guard number >= 0 else { return }
        if ledger.frames[number].mode == .ahead, reason == .ahead || reason == .full { gapBefore.insert(ledger.frames[number].track) }
        // Somebody may have talked over it.
        guard ledger.frames[number].mustBeHeard else { return }
        fail("frame \(number) of \(ledger.frames[number].stay) is refused (\(reason)) though all is well")
    }

    func handed(_ frame: [UInt8], to subscriber: SimulatedMember, at shard: SimulatedShard) {
        let number = Ledger.number(of: frame)
        let said = ledger.frames[number]
        tally.handed += 1
        note("frame \(number) is handed to \(subscriber.line.stay)")
        if let publisher = said.stay.handle {
            truth.handed(number, of: Truth.Key(publisher: publisher, alias: said.header.alias), to: subscriber.handle, in: self)
        }
        subscriber.line.handed[said.header.alias.value, default: []].append(Line.Handed(frame: number, at: shard.now))
    }

    func dropped(_ frame: [UInt8], _ reason: DropReason, of subscriber: SimulatedMember, at shard: SimulatedShard) {
        let number = Ledger.number(of: frame)
        let alias = ledger.frames[number].header.alias.value
        tally.dropped[reason.rawValue] += 1
        note("frame \(number) is dropped (\(reason)) on its way to \(subscriber.line.stay): \(subscriber.obstacle(at: shard))")
        guard let place = subscriber.line.handed[alias]?.lastIndex(where: { $0.frame == number }),
            let at = subscriber.line.handed[alias]?[place].at
        else { return fail("frame \(number) is dropped (\(reason)), which was not handed out") }
        subscriber.line.handed[alias]?[place].isDropped = true
        if reason == .age {
            expect(shard.now - at > subscriber.ageMax, "frame \(number) is too old after \((shard.now - at).inMilliseconds) ms")
        }
        guard ledger.frames[number].mustBeHeard, subscriber.line.stay.isSettling, !subscriber.line.isPeerGone else { return }
        // A room of nobody but agents ends in the midst of it, and so do their connections.
        if reason == .left || reason == .away { return }
        if reason == .full, swarm.hasSmallQueues {
            // A queue of a handful of frames may be full at any time.
            subscriber.line.stay.mustHaveHeard.insert(number)
        } else {
            fail("frame \(number) is dropped (\(reason)) on its way to \(subscriber.line.stay) though all is well")
        }
    }
}
