internal import Engine
internal import Wire

/// Media, as in the gateway's `MediaRelay` and `FrameSender`.
extension SimulatedShard {
    func received(binary message: [UInt8], from connection: SimulatedConnection) {
        guard connection.slot >= 0, let sender = slots[connection.slot], sender.pendingClose == nil else { return }
        sender.lastReceived = now
        if message.first == FrameKind.bundle.rawValue {
            switch FrameReading.frames(in: message) {
            case .success(let frames): for frame in frames { relay(frame, from: sender, at: connection.slot) }
            case .failure(let error): malformed(error, from: sender)
            }
        } else {
            relay(message, from: sender, at: connection.slot)
        }
        if aheads.hasFresh { releaseFresh() }
    }

    private func relay(_ frame: [UInt8], from sender: SimulatedMember, at slot: Int) {
        let header: FrameHeader
        switch FrameReading.header(of: frame) {
        case .success(let sound): header = sound
        case .failure(let error): return malformed(error, from: sender)
        }
        world.counts.framesIn += 1
        switch panel.route(header, publishedBy: slot, at: now) {
        case .dropped(let reason): drop(reason, of: frame)
        case .ahead(let patch, let aheadIndex, let hasOtherTargets):
            push(frame, header, of: patch, to: aheadIndex, from: sender, hasOtherTargets: hasOtherTargets)
        case .live(let patch, let sole, let edge, let hasOtherTargets):
            let (track, trunks) = (panel.patches[slot][patch].track, panel.patches[slot][patch].trunks)
            world.admitted(frame, from: sender, track: track, at: self)
            forward(frame, of: header.alias, to: sole.map { [$0] } ?? panel.patches[slot][patch].subscribers)
            if hasOtherTargets, let kept = panel.patches[slot][patch].kept {
                _ = frame.withUnsafeBytes { earlier.append($0, at: header.timestamp, to: kept, arrived: now) }
            }
            for trunk in hasOtherTargets ? trunks : [] {
                world.meanwhile(besides: index)
                send(frame, from: sender.handle, to: Int(trunk.shard))
            }
            if let edge { talk(edge, of: track, publishedBy: sender) }
        }
    }

    func send(_ frame: [UInt8], from publisher: ParticipantHandle, to shard: Int, evenIfFull: Bool = false) {
        world.expect(shard != index, "shard \(index) sends a frame of \(publisher) to itself by trunk")
        let (isTaken, needsWake) = world.trunk(from: index, to: shard).append(frame, from: publisher, evenIfFull: evenIfFull)
        if needsWake { world.shards[shard].wakeSoon() }
        if !isTaken { world.routing.lostInTrunk(Ledger.number(of: frame), to: shard) }
    }

    func forward(_ trunkFrame: SimulatedTrunk.Frame) {
        if let record = trunkFrame.frame.withUnsafeBytes({ EarlierRecord($0) }) { return take(record, trunkFrame) }
        let header = FrameReading.uncheckedHeader(of: trunkFrame.frame)
        let alias = header.alias
        world.log(
            "shard \(index) forwards frame \(Ledger.number(of: trunkFrame.frame)) to \(remoteTracks.subscribers(to: alias, of: trunkFrame.publisher))"
        )
        let subscribers = remoteTracks.subscribers(to: alias, of: trunkFrame.publisher)
        guard subscribers.isEmpty else { return forward(trunkFrame.frame, of: alias, to: subscribers) }
        if aheads.count > 0 { appendRemote(trunkFrame.frame, header, from: trunkFrame.publisher) }
    }

    func forward(_ frame: [UInt8], of alias: TrackAlias, to subscribers: [UInt32]) {
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
        subscriber.connection.write(.binary(sent))
        recordWrite(frame.count, frames: 1, to: subscriber)
    }

    func recordWrite(_ count: Int, frames: Int, to subscriber: SimulatedMember) {
        subscriber.sendWindow.recordWrite(count + 24)
        subscriber.framesSent += UInt64(frames)
        world.counts.written += frames
        if subscriber.deliveryProbe.isDue(at: now), probeBucket.take(at: now) { sendProbe(from: subscriber) }
    }

    func hasRoom(_ subscriber: SimulatedMember) -> Bool {
        guard !subscriber.connection.isCongested, !subscriber.deliveryProbe.isOverdue(at: now, ownLag: recentLag) else { return false }
        switch subscriber.sendWindow.verdict {
        case .send: return true
        case .measure:
            guard let bytes = subscriber.connection.unacknowledgedBytes else { return false }
            subscriber.sendWindow.observe(unacknowledged: bytes, roundTrip: subscriber.deliveryProbe.roundTrip, at: now)
            return subscriber.sendWindow.hasRoom
        }
    }

    func sendProbe(from member: SimulatedMember) {
        guard member.connection.phase == .open, !member.connection.isCongested else { return }
        member.connection.write(.ping(member.deliveryProbe.nextPing(at: now)))
    }

    func ponged(_ number: UInt32, from connection: SimulatedConnection) {
        guard connection.slot >= 0, let member = slots[connection.slot] else { return }
        member.lastReceived = now
        let isProbeReply = withUnsafeBytes(of: number.bigEndian) { member.deliveryProbe.receivePong($0, at: now) }
        guard isProbeReply else { return }
        if member.awaitsProof, member.sentHello { confirmResume(of: member) }
        pump(member)
    }

    // MARK: Queued messages

    func startWaiting(_ member: SimulatedMember) {
        guard !member.isWaiting else { return }
        member.isWaiting = true
        waiting.append(Int(member.handle.slot))
        if member.connection.isCongested { member.connection.requestWritable() }
        scheduleTick()
    }

    func pump(_ member: SimulatedMember) {
        var old: [FrameRef] = []
        member.outbox.dropExpired(at: now) { old.append($0) }
        for dropped in old { release(dropped, .age, of: member) }
        while !member.outbox.isEmpty {
            guard !member.connection.isCongested else { return member.connection.requestWritable() }
            let allowsFrame = !member.outbox.hasControl && member.pendingClose == nil && hasRoom(member)
            switch member.outbox.next(allowsFrame: allowsFrame) {
            case .control(let message): member.connection.write(.text(message))
            case .frame(let frame, let afterDrop, let since):
                let age = since.map { now - $0 } ?? .zero
                world.expect(age <= member.ageMax, "a frame is sent after \(age.inMilliseconds) ms in the queue")
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
        world.counts.rejected[reason.rawValue] += 1
        world.recordRejection(of: frame, reason)
    }

    private func dropQueued(_ frame: [UInt8], _ reason: DropReason, of subscriber: SimulatedMember) {
        subscriber.framesDropped += 1
        world.dropped(frame, reason, of: subscriber, at: self)
    }

    /// Drops a queued frame.
    func release(_ frame: FrameRef, _ reason: DropReason, of subscriber: SimulatedMember) {
        let bytes = Array(store.bytes(of: frame))
        store.release(frame)
        dropQueued(bytes, reason, of: subscriber)
    }

    func malformed(_ error: FrameError, from sender: SimulatedMember) {
        world.counts.malformed += 1
        countMalformed(of: sender)
    }

    func countMalformed(of sender: SimulatedMember) {
        if sender.malformed.exceedsLimit(afterMessageAt: now) { close(sender, .protocolError) }
    }
}
