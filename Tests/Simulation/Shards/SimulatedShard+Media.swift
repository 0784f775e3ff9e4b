internal import Engine
internal import Wire

/// As `Shard+Media`.
extension SimulatedShard {
    func received(binary message: [UInt8], from line: Line) {
        guard line.slot >= 0, let sender = slots[line.slot], sender.pendingClose == nil else { return }
        sender.lastHeard = now
        if message.first == FrameKind.bundle.rawValue {
            switch FrameReading.frames(in: message) {
            case .success(let frames): for frame in frames { relay(frame, from: sender, at: line.slot) }
            case .failure(let error): malformed(error, from: sender)
            }
        } else {
            relay(message, from: sender, at: line.slot)
        }
        if aheads.hasFresh { releaseFresh() }
    }

    private func relay(_ frame: [UInt8], from sender: SimulatedMember, at slot: Int) {
        let header: FrameHeader
        switch FrameReading.header(of: frame) {
        case .success(let sound): header = sound
        case .failure(let error): return malformed(error, from: sender)
        }
        world.tally.framesIn += 1
        switch panel.route(header, publishedBy: slot, at: now) {
        case .dropped(let reason): drop(reason, of: frame)
        case .ahead(let patch, let place, let hasOtherTargets):
            push(frame, header, of: patch, to: place, from: sender, hasOtherTargets: hasOtherTargets)
        case .live(let patch, let sole, let edge, let hasOtherTargets):
            let (track, trunks) = (panel.patches[slot][patch].track, panel.patches[slot][patch].trunks)
            world.admitted(frame, from: sender, track: track, at: self)
            forward(frame, of: header.alias, to: sole.map { [$0] } ?? panel.patches[slot][patch].subscribers)
            for trunk in hasOtherTargets ? trunks : [] {
                world.meanwhile(besides: index)
                send(frame, from: sender.handle, to: Int(trunk.shard))
            }
            if let edge { talk(edge, of: track, publishedBy: sender) }
        }
    }

    func send(_ frame: [UInt8], from publisher: ParticipantHandle, to shard: Int, evenIfFull: Bool = false) {
        world.expect(shard != index, "shard \(index) gives a frame of \(publisher) to itself by trunk")
        let (isTaken, needsWake) = world.trunk(from: index, to: shard).append(frame, from: publisher, evenIfFull: evenIfFull)
        if needsWake { world.shards[shard].wakeSoon() }
        if !isTaken { world.truth.lostInTrunk(Ledger.number(of: frame), to: shard) }
    }

    func carry(_ carried: SimulatedTrunk.Carried) {
        let header = FrameReading.uncheckedHeader(of: carried.frame)
        let alias = header.alias
        world.note(
            "shard \(index) carries frame \(Ledger.number(of: carried.frame)) to \(remoteTracks.subscribers(to: alias, of: carried.publisher))")
        let subscribers = remoteTracks.subscribers(to: alias, of: carried.publisher)
        guard subscribers.isEmpty else { return forward(carried.frame, of: alias, to: subscribers) }
        if aheads.count > 0 { carryAhead(carried.frame, header, from: carried.publisher) }
    }

    private func forward(_ frame: [UInt8], of alias: TrackAlias, to subscribers: [UInt32]) {
        var stored: FrameRef?
        for slot in subscribers {
            guard let subscriber = slots[Int(slot)], subscriber.pendingClose == nil else { continue }
            world.handed(frame, to: subscriber, at: self)
            guard subscriber.isReachable else {
                subscriber.outbox.recordDrop(of: alias)
                dropQueued(frame, .away, of: subscriber)
                continue
            }
            if subscriber.outbox.isEmpty, hasRoom(subscriber) {
                write(frame, afterDrop: subscriber.outbox.takeDiscontinuity(of: alias), to: subscriber)
            } else {
                queue(frame, &stored, of: alias, for: subscriber)
            }
        }
    }

    private func queue(_ frame: [UInt8], _ stored: inout FrameRef?, of alias: TrackAlias, for subscriber: SimulatedMember) {
        if let reference = stored {
            store.retain(reference)
        } else {
            stored = frame.withUnsafeBytes { store.store($0) }
        }
        guard let stored else {
            subscriber.outbox.recordDrop(of: alias)
            return dropQueued(frame, .full, of: subscriber)
        }
        var oldest: [FrameRef] = []
        subscriber.outbox.append(stored, of: alias, at: now) { oldest.append($0) }
        for dropped in oldest { release(dropped, .full, of: subscriber) }
        startWaiting(subscriber)
    }

    private func write(_ frame: [UInt8], afterDrop: Bool, to subscriber: SimulatedMember) {
        var sent = frame
        if afterDrop { sent[1] |= FrameFlags.discontinuity.rawValue }
        subscriber.line.write(.binary(sent))
        noteWritten(frame.count, frames: 1, to: subscriber)
    }

    func noteWritten(_ count: Int, frames: Int, to subscriber: SimulatedMember) {
        subscriber.sendWindow.recordWrite(count + 24)
        subscriber.framesSent += UInt64(frames)
        world.tally.written += frames
        if subscriber.deliveryProbe.isDue(at: now), receiptBucket.take(at: now) { sendProbe(from: subscriber) }
    }

    func hasRoom(_ subscriber: SimulatedMember) -> Bool {
        guard !subscriber.line.isCongested, !subscriber.deliveryProbe.isOverdue(at: now, ownLag: recentLag) else { return false }
        switch subscriber.sendWindow.verdict {
        case .send: return true
        case .measure:
            guard let bytes = subscriber.line.unacknowledgedBytes else { return false }
            subscriber.sendWindow.observe(unacknowledged: bytes, roundTrip: subscriber.deliveryProbe.roundTrip, at: now)
            return subscriber.sendWindow.hasRoom
        }
    }

    func sendProbe(from member: SimulatedMember) {
        guard member.line.phase == .open, !member.line.isCongested else { return }
        member.line.write(.ping(member.deliveryProbe.nextPing(at: now)))
    }

    func ponged(_ number: UInt32, from line: Line) {
        guard line.slot >= 0, let member = slots[line.slot] else { return }
        member.lastHeard = now
        let isReceipt = withUnsafeBytes(of: number.bigEndian) { member.deliveryProbe.receivePong($0, at: now) }
        guard isReceipt else { return }
        if member.owesProof, member.wasGreeted { confirmResume(of: member) }
        pump(member)
    }

    // MARK: What waits

    func startWaiting(_ member: SimulatedMember) {
        guard !member.isWaiting else { return }
        member.isWaiting = true
        waiting.append(Int(member.handle.slot))
        if member.line.isCongested { member.line.askForWritable() }
        scheduleTick()
    }

    func pump(_ member: SimulatedMember) {
        var old: [FrameRef] = []
        member.outbox.dropExpired(at: now) { old.append($0) }
        for dropped in old { release(dropped, .age, of: member) }
        while !member.outbox.isEmpty {
            guard !member.line.isCongested else { return member.line.askForWritable() }
            let allowsFrame = !member.outbox.hasControl && member.pendingClose == nil && hasRoom(member)
            switch member.outbox.next(allowsFrame: allowsFrame) {
            case .control(let message): member.line.write(.text(message))
            case .frame(let frame, let afterDrop, let since):
                world.expect(now - since <= member.ageMax, "a frame leaves after it has waited \((now - since).inMilliseconds) ms")
                write(Array(store.bytes(of: frame)), afterDrop: afterDrop, to: member)
                store.release(frame)
            case nil: return
            }
        }
        if member.isBehind { releaseAhead(to: member) }
    }

    func pumpWaiting() {
        var index = 0
        while index < waiting.count {
            let member = slots[waiting[index]]
            if let member {
                pump(member)
                finishPendingClose(member)
            }
            if let member, !member.outbox.isEmpty {
                index += 1
            } else {
                member?.isWaiting = false
                waiting.swapAt(index, waiting.count - 1)
                waiting.removeLast()
            }
        }
    }

    // MARK: Counting

    func drop(_ reason: DropReason, of frame: [UInt8]) {
        world.tally.refused[reason.rawValue] += 1
        world.refused(frame, reason)
    }

    private func dropQueued(_ frame: [UInt8], _ reason: DropReason, of subscriber: SimulatedMember) {
        subscriber.framesDropped += 1
        world.dropped(frame, reason, of: subscriber, at: self)
    }

    /// A frame that waited goes nowhere.
    func release(_ frame: FrameRef, _ reason: DropReason, of subscriber: SimulatedMember) {
        let bytes = Array(store.bytes(of: frame))
        store.release(frame)
        dropQueued(bytes, reason, of: subscriber)
    }

    func malformed(_ error: FrameError, from sender: SimulatedMember) {
        world.tally.malformed += 1
        countMalformed(of: sender)
    }

    func countMalformed(of sender: SimulatedMember) {
        if sender.malformed.exceedsLimit(afterMessageAt: now) { close(sender, .protocolError) }
    }
}
