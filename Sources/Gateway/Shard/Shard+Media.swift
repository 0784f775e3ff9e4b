internal import Engine
internal import Sockets
internal import Wire

/// A frame's way through the shard (DESIGN section 2, stops 3 to 8). Nothing here allocates for a frame that leaves at once.
extension Shard {
    func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {
        let slot = connection.slot
        guard slot >= 0 else { return receivedBinary(fromDevice: connection) }
        withMember(at: UInt32(slot)) { received(message, from: $0, at: slot) }
        if aheads.hasFresh { releaseFresh() }
    }

    private func received(_ message: UnsafeRawBufferPointer, from sender: Member, at slot: Int) {
        guard sender.pendingClose == nil else { return }
        sender.lastHeard = clock.now
        if message.first == FrameKind.bundle.rawValue {
            do throws(FrameError) {
                try Bundle.forEachFrame(in: message) { relay($0, from: sender, at: slot) }
            } catch {
                malformed(error, from: sender)
            }
        } else {
            relay(message, from: sender, at: slot)
        }
    }

    private func relay(_ frame: UnsafeRawBufferPointer, from sender: Member, at slot: Int) {
        counters.framesIn += 1
        counters.bytesIn += UInt64(frame.count)
        let header: FrameHeader
        do throws(FrameError) {
            header = try FrameHeader(parsing: frame)
        } catch {
            malformed(error, from: sender)
            return
        }
        let now = clock.now
        switch panel.route(header, publishedBy: slot, at: now) {
        case .dropped(let reason): drop(reason)
        case .ahead(let patch, let place, let hasOtherTargets):
            if let refusal = aheads.append(frame, header, to: place, at: now) { return drop(refusal) }
            if hasOtherTargets { pass(newestOf: place, to: panel.patches[slot][patch].trunks, from: sender) }
        case .live(let patch, let sole, let edge, let hasOtherTargets):
            if header.sequence.value & Self.foresightMask == 0 { prefetch(from: sender, at: slot, patch) }
            // With a first or a last frame goes what its room makes of it.
            if let sole {
                forward(frame, of: header.alias, toSole: sole, withTurn: edge != nil, at: now)
            } else {
                forward(frame, of: header.alias, to: panel.patches[slot][patch].subscribers, withTurn: edge != nil, at: now)
            }
            if hasOtherTargets {
                if let tap = panel.patches[slot][patch].tap { copy(frame, toTap: tap, heardAt: now) }
                for trunk in panel.patches[slot][patch].trunks { send(frame, from: sender.handle, to: Int(trunk.shard)) }
            }
            // After the frame: what a room makes of it may take longer, and may change the panel.
            if let edge { talk(edge, of: panel.patches[slot][patch].track, publishedBy: sender) }
        }
    }

    /// Fewer subscribers are not worth looking ahead.
    private static var foreseenMin: Int { 4 }
    /// Every so many frames: what is foreseen rarely changes.
    private static var foresightMask: UInt16 { 31 }

    private func prefetch(from sender: Member, at slot: Int, _ patch: Int) {
        guard let first = panel.patches[slot][patch].subscribers.first, let subscriber = slots[Int(first)] else { return }
        let track = panel.patches[slot].withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        let prefetchHints = subscriber.connection.prefetchHints(sender: sender.address, track: track, subscriber: subscriber.address)
        if let prefetchHints { sender.connection.prefetch(prefetchHints) }
    }

    /// What the next subscribers will have us look at comes while the kernel takes the frame for this one. One thing leads to the next, so
    /// each subscriber is come closer to, a step with every one before it.
    private func prefetch(_ subscribers: [UInt32], after place: Int) {
        if place + 4 < subscribers.count { PrefetchHints.fetch(memberAt(subscribers[place + 4]), lines: 5) }
        if place + 3 < subscribers.count { withMember(at: subscribers[place + 3]) { $0.connection.prefetch(.itself) } }
        if place + 2 < subscribers.count { withMember(at: subscribers[place + 2]) { $0.connection.prefetch(.records) } }
        if place + 1 < subscribers.count { withMember(at: subscribers[place + 1]) { $0.connection.prefetch(.cipher) } }
    }

    /// The address, without a look at what is there: even a reference count would be one.
    private func memberAt(_ slot: UInt32) -> UInt {
        slots.withUnsafeBytes { $0.load(fromByteOffset: Int(slot) * MemoryLayout<Member?>.stride, as: UInt.self) }
    }

    /// Gives a frame to another shard, which is woken if it has none yet.
    func send(_ frame: UnsafeRawBufferPointer, from publisher: ParticipantHandle, to shard: Int, evenIfFull: Bool = false) {
        let (isTaken, needsWake) = common.trunk(from: index, to: shard).append(frame, from: publisher, evenIfFull: evenIfFull)
        if needsWake { common.mailboxes[shard].wake() }
        if !isTaken { drop(.full) }
    }

    /// Takes a frame from another shard, where it was checked.
    func carry(_ frame: UnsafeRawBufferPointer, from publisher: ParticipantHandle) {
        guard let base = frame.baseAddress else { return }
        let header = FrameHeader(unchecked: base)
        let subscribers = remoteTracks.subscribers(to: header.alias, of: publisher)
        guard subscribers.isEmpty else { return forward(frame, of: header.alias, to: subscribers, at: clock.now) }
        if aheads.count > 0 { carryAhead(frame, header, from: publisher) }
    }

    /// Hands a frame to every subscriber.
    private func forward(
        _ frame: UnsafeRawBufferPointer, of alias: TrackAlias, to subscribers: [UInt32], withTurn: Bool = false, at now: Instant
    ) {
        guard !subscribers.isEmpty else { return }
        var frame = StagedFrame(frame, of: alias, in: staging)
        for place in 0..<subscribers.count {
            if subscribers.count > Self.foreseenMin { prefetch(subscribers, after: place) }
            withMember(at: subscribers[place]) { hand(&frame, to: $0, withTurn: withTurn, at: now) }
        }
    }

    private func forward(
        _ frame: UnsafeRawBufferPointer, of alias: TrackAlias, toSole subscriber: UInt32, withTurn: Bool, at now: Instant
    ) {
        var frame = StagedFrame(frame, of: alias, in: staging)
        withMember(at: subscriber) { hand(&frame, to: $0, withTurn: withTurn, at: now) }
    }

    /// A frame on its way to subscribers.
    private struct StagedFrame {
        let frame: UnsafeRawBufferPointer
        let alias: TrackAlias
        /// With room before it for each subscriber's WebSocket header.
        let copy: UnsafeMutableRawPointer
        /// For all who must wait for it.
        var stored: FrameRef?

        init(_ frame: UnsafeRawBufferPointer, of alias: TrackAlias, in staging: UnsafeMutableRawPointer) {
            self.frame = frame
            self.alias = alias
            copy = staging + Connection.headroom
            if let bytes = frame.baseAddress { copy.copyMemory(from: bytes, byteCount: frame.count) }
        }
    }

    /// Hands a frame to a subscriber: at once where nothing waits and the socket has room, else into its outbox.
    private func hand(_ frame: inout StagedFrame, to subscriber: Member, withTurn: Bool, at now: Instant) {
        guard subscriber.pendingClose == nil else { return }
        guard subscriber.isReachable else {
            subscriber.outbox.recordDrop(of: frame.alias)
            return dropQueued(.away, of: subscriber)
        }
        if subscriber.outbox.isEmpty, hasRoom(subscriber, at: now) {
            let afterDrop = subscriber.outbox.takeDiscontinuity(of: frame.alias)
            write(frame.copy, frame.frame.count, afterDrop: afterDrop, withTurn: withTurn, to: subscriber)
        } else {
            queue(&frame, for: subscriber, at: now)
        }
    }

    /// Looks at who has a slot without counting a reference. Nobody's slot may be freed meanwhile; no frame does that.
    func withMember(at slot: UInt32, _ body: (Member) -> Void) {
        guard Int(slot) < slots.count, let member = UnsafeRawPointer(bitPattern: memberAt(slot)) else { return }
        Unmanaged<Member>.fromOpaque(member)._withUnsafeGuaranteedRef(body)
    }

    /// Puts a frame into a subscriber's outbox; it is stored once for all who wait for it.
    private func queue(_ frame: inout StagedFrame, for subscriber: Member, at now: Instant) {
        if let reference = frame.stored {
            store.retain(reference)
        } else {
            frame.stored = store.store(frame.frame)
        }
        guard let stored = frame.stored else {
            subscriber.outbox.recordDrop(of: frame.alias)
            return dropQueued(.full, of: subscriber)
        }
        subscriber.outbox.append(stored, of: frame.alias, at: now) { dropped in
            store.release(dropped)
            dropQueued(.full, of: subscriber)
        }
        counters.framesQueued += 1
        startWaiting(subscriber)
    }

    private func write(
        _ frame: UnsafeMutableRawPointer, _ count: Int, afterDrop: Bool, withTurn: Bool = false, to subscriber: Member
    ) {
        let flags = frame.load(fromByteOffset: 1, as: UInt8.self)
        if afterDrop { frame.storeBytes(of: flags | FrameFlags.discontinuity.rawValue, toByteOffset: 1, as: UInt8.self) }
        deliver(frame, count, frames: 1, withTurn: withTurn, to: subscriber)
        if afterDrop { frame.storeBytes(of: flags, toByteOffset: 1, as: UInt8.self) }
    }

    /// Sends media to one who has room for it, and asks for a receipt where one is due: with the same system call if that can be.
    func deliver(_ message: UnsafeMutableRawPointer, _ count: Int, frames: Int, withTurn: Bool = false, to subscriber: Member) {
        let now = clock.now
        let asks = subscriber.deliveryProbe.isDue(at: now) && receiptBucket.take(at: now)
        let receipt = asks && subscriber.connection.pingsAlong ? sendProbe(of: subscriber, at: now) : nil
        subscriber.connection.write(binary: message, count: count, withTurn: withTurn, followedByPing: receipt)
        if asks, receipt == nil { sendProbe(from: subscriber) }
        subscriber.sendWindow.recordWrite(count + Self.wireOverhead)
        subscriber.framesSent += UInt64(frames)
        counters.framesOut += UInt64(frames)
        counters.bytesOut += UInt64(count)
    }

    /// WebSocket header and TLS 1.3 record around one message.
    private static var wireOverhead: Int { 2 + 22 }

    /// Whether media may go to this subscriber now, after asking the kernel where that is due.
    func hasRoom(_ subscriber: Member, at now: Instant) -> Bool {
        guard !subscriber.connection.isCongested, !subscriber.deliveryProbe.isOverdue(at: now, ownLag: recentLag) else { return false }
        switch subscriber.sendWindow.verdict {
        case .send: return true
        case .measure:
            guard let bytes = subscriber.connection.tcp.unacknowledgedBytes else { return false }
            subscriber.sendWindow.observe(unacknowledged: bytes, roundTrip: subscriber.deliveryProbe.roundTrip, at: now)
            return subscriber.sendWindow.hasRoom
        }
    }

    /// Pings, so that the pong tells that everything up to here was read.
    func sendProbe(from member: Member) {
        guard member.connection.phase == .open, !member.connection.isCongested else { return }
        member.connection.ping(sendProbe(of: member, at: clock.now))
    }

    private func sendProbe(of member: Member, at now: Instant) -> UInt32 {
        counters.receiptsAsked += 1
        return member.deliveryProbe.nextPing(at: now)
    }

    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {
        guard connection.slot >= 0 else { return heardDevice(connection) }
        guard let member = slots[connection.slot] else { return }
        member.lastHeard = clock.now
        guard member.deliveryProbe.receivePong(payload, at: clock.now) else { return }
        // The ping came after `hello`.
        if member.owesProof, member.wasGreeted { confirmResume(of: member) }
        pump(member)
    }

    // MARK: What waits

    func startWaiting(_ member: Member) {
        guard !member.isWaiting else { return }
        member.isWaiting = true
        waiting.append(Int(member.handle.slot))
        if member.connection.isCongested { member.connection.askForWritable() }
        scheduleTick()
    }

    func writable(_ connection: Connection) {
        guard connection.slot >= 0 else { return pumpDevice(connection) }
        guard let member = slots[connection.slot] else { return }
        pump(member)
    }

    /// Sends what waits for one subscriber, as far as its socket goes.
    func pump(_ member: Member) {
        let now = clock.now
        member.outbox.dropExpired(at: now) { dropped in
            store.release(dropped)
            dropQueued(.age, of: member)
        }
        while !member.outbox.isEmpty {
            guard !member.connection.isCongested else {
                member.connection.askForWritable()
                return
            }
            let allowsFrame = !member.outbox.hasControl && member.pendingClose == nil && hasRoom(member, at: now)
            switch member.outbox.next(allowsFrame: allowsFrame) {
            case .control(let message):
                member.connection.write(text: message)
            case .frame(let frame, let afterDrop, let waited):
                let bytes = store.bytes(of: frame)
                member.lateness.note(waited: now - waited)
                if let start = bytes.baseAddress { write(start, bytes.count, afterDrop: afterDrop, to: member) }
                store.release(frame)
            case nil:
                return
            }
        }
        if member.isBehind { releaseAhead(to: member) }
    }

    /// Looks after everybody for whom something waits; every 10 ms while there is somebody.
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

    func drop(_ reason: DropReason, _ count: Int = 1) {
        counters.dropped[reason.rawValue] += UInt64(count)
    }

    func dropQueued(_ reason: DropReason, of subscriber: Member) {
        subscriber.framesDropped += 1
        drop(reason)
    }

    /// Counts a message that is no frame.
    func malformed(_ error: FrameError, from sender: Member) {
        drop(.malformed)
        counters.malformed[error.rawValue, default: 0] += 1
        countMalformed(of: sender)
    }

    func countMalformed(of sender: Member) {
        if sender.malformed.exceedsLimit(afterMessageAt: clock.now) { close(sender, .protocolError) }
    }
}
