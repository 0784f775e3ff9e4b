internal import Engine
internal import Sockets
internal import Wire

/// A frame's way through the shard (DESIGN section 2, stops 3 to 8). Nothing here allocates for a frame that leaves at once.
extension Shard {
    func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {
        let seat = connection.seat
        guard seat >= 0 else { return receivedBinary(fromDevice: connection) }
        withMember(at: UInt32(seat)) { received(message, from: $0, at: seat) }
        if aheads.hasFresh { letOutFresh() }
    }

    private func received(_ message: UnsafeRawBufferPointer, from sender: Member, at seat: Int) {
        guard sender.farewell == nil else { return }
        sender.lastHeard = clock.now
        if message.first == FrameKind.bundle.rawValue {
            do throws(FrameError) {
                try Bundle.forEachFrame(in: message) { relay($0, from: sender, at: seat) }
            } catch {
                malformed(error, from: sender)
            }
        } else {
            relay(message, from: sender, at: seat)
        }
    }

    private func relay(_ frame: UnsafeRawBufferPointer, from sender: Member, at seat: Int) {
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
        switch panel.pass(header, publishedBy: seat, at: now) {
        case .refused(let reason): drop(reason)
        case .ahead(let patch, let place, let goesFurther):
            if let refusal = aheads.append(frame, header, to: place, at: now) { return drop(refusal) }
            if goesFurther { pass(newestOf: place, to: panel.patches[seat][patch].trunks, from: sender) }
        case .live(let patch, let sole, let edge, let goesFurther):
            if header.sequence.value & Self.foresightMask == 0 { foresee(from: sender, at: seat, patch) }
            // With a first or a last frame goes what its room makes of it.
            if let sole {
                forward(frame, of: header.alias, toSole: sole, withTurn: edge != nil, at: now)
            } else {
                forward(frame, of: header.alias, to: panel.patches[seat][patch].listeners, withTurn: edge != nil, at: now)
            }
            if goesFurther {
                if let tap = panel.patches[seat][patch].tap { copy(frame, toTap: tap, heardAt: now) }
                for trunk in panel.patches[seat][patch].trunks { send(frame, from: sender.handle, to: Int(trunk.shard)) }
            }
            // After the frame: what a room makes of it may take longer, and may change the panel.
            if let edge { talk(edge, of: panel.patches[seat][patch].track, publishedBy: sender) }
        }
    }

    /// Fewer listeners are not worth looking ahead.
    private static var foreseenMin: Int { 4 }
    /// Every so many frames: what is foreseen rarely changes.
    private static var foresightMask: UInt16 { 31 }

    private func foresee(from sender: Member, at seat: Int, _ patch: Int) {
        guard let first = panel.patches[seat][patch].listeners.first, let listener = seats[Int(first)] else { return }
        let track = panel.patches[seat].withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        let foresight = listener.connection.foresight(sender: sender.address, track: track, listener: listener.address)
        if let foresight { sender.connection.foresee(foresight) }
    }

    /// What the next listeners will have us look at comes while the kernel takes the frame for this one. One thing leads to the next, so
    /// each listener is come closer to, a step with every one before it.
    private func foresee(_ listeners: [UInt32], after place: Int) {
        if place + 4 < listeners.count { Foresight.fetch(memberAt(listeners[place + 4]), lines: 5) }
        if place + 3 < listeners.count { withMember(at: listeners[place + 3]) { $0.connection.foresee(.itself) } }
        if place + 2 < listeners.count { withMember(at: listeners[place + 2]) { $0.connection.foresee(.records) } }
        if place + 1 < listeners.count { withMember(at: listeners[place + 1]) { $0.connection.foresee(.cipher) } }
    }

    /// The address, without a look at what is there: even a reference count would be one.
    private func memberAt(_ seat: UInt32) -> UInt {
        seats.withUnsafeBytes { $0.load(fromByteOffset: Int(seat) * MemoryLayout<Member?>.stride, as: UInt.self) }
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
        let listeners = inlets.listeners(to: header.alias, of: publisher)
        guard listeners.isEmpty else { return forward(frame, of: header.alias, to: listeners, at: clock.now) }
        if aheads.count > 0 { carryAhead(frame, header, from: publisher) }
    }

    /// Hands a frame to every listener.
    private func forward(
        _ frame: UnsafeRawBufferPointer, of alias: TrackAlias, to listeners: [UInt32], withTurn: Bool = false, at now: Instant
    ) {
        guard !listeners.isEmpty else { return }
        var frame = StagedFrame(frame, of: alias, in: staging)
        for place in 0..<listeners.count {
            if listeners.count > Self.foreseenMin { foresee(listeners, after: place) }
            withMember(at: listeners[place]) { hand(&frame, to: $0, withTurn: withTurn, at: now) }
        }
    }

    private func forward(
        _ frame: UnsafeRawBufferPointer, of alias: TrackAlias, toSole listener: UInt32, withTurn: Bool, at now: Instant
    ) {
        var frame = StagedFrame(frame, of: alias, in: staging)
        withMember(at: listener) { hand(&frame, to: $0, withTurn: withTurn, at: now) }
    }

    /// A frame on its way to listeners.
    private struct StagedFrame {
        let frame: UnsafeRawBufferPointer
        let alias: TrackAlias
        /// With room before it for each listener's WebSocket header.
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

    /// Hands a frame to a listener: at once where nothing waits and the socket has room, else into its outbox.
    private func hand(_ frame: inout StagedFrame, to listener: Member, withTurn: Bool, at now: Instant) {
        guard listener.farewell == nil else { return }
        guard listener.isReachable else {
            listener.outbox.noteRefused(frame.alias)
            return dropQueued(.away, of: listener)
        }
        if listener.outbox.isEmpty, hasRoom(listener, at: now) {
            let afterDrop = listener.outbox.takeInterruption(of: frame.alias)
            write(frame.copy, frame.frame.count, afterDrop: afterDrop, withTurn: withTurn, to: listener)
        } else {
            queue(&frame, for: listener, at: now)
        }
    }

    /// Looks at who has a seat without counting a reference. Nobody's seat may be freed meanwhile; no frame does that.
    func withMember(at seat: UInt32, _ body: (Member) -> Void) {
        guard Int(seat) < seats.count, let member = UnsafeRawPointer(bitPattern: memberAt(seat)) else { return }
        Unmanaged<Member>.fromOpaque(member)._withUnsafeGuaranteedRef(body)
    }

    /// Puts a frame into a listener's outbox; it is stored once for all who wait for it.
    private func queue(_ frame: inout StagedFrame, for listener: Member, at now: Instant) {
        if let reference = frame.stored {
            store.hold(reference)
        } else {
            frame.stored = store.store(frame.frame)
        }
        guard let stored = frame.stored else {
            listener.outbox.noteRefused(frame.alias)
            return dropQueued(.full, of: listener)
        }
        listener.outbox.append(stored, of: frame.alias, at: now) { dropped in
            store.release(dropped)
            dropQueued(.full, of: listener)
        }
        counters.framesQueued += 1
        startWaiting(listener)
    }

    private func write(
        _ frame: UnsafeMutableRawPointer, _ count: Int, afterDrop: Bool, withTurn: Bool = false, to listener: Member
    ) {
        let flags = frame.load(fromByteOffset: 1, as: UInt8.self)
        if afterDrop { frame.storeBytes(of: flags | FrameFlags.discontinuity.rawValue, toByteOffset: 1, as: UInt8.self) }
        deliver(frame, count, frames: 1, withTurn: withTurn, to: listener)
        if afterDrop { frame.storeBytes(of: flags, toByteOffset: 1, as: UInt8.self) }
    }

    /// Sends media to one who has room for it, and asks for a receipt where one is due: with the same system call if that can be.
    func deliver(_ message: UnsafeMutableRawPointer, _ count: Int, frames: Int, withTurn: Bool = false, to listener: Member) {
        let now = clock.now
        let asks = listener.receipts.isDue(at: now) && receiptBucket.take(at: now)
        let receipt = asks && listener.connection.pingsAlong ? askForReceipt(of: listener, at: now) : nil
        listener.connection.write(binary: message, count: count, withTurn: withTurn, followedByPing: receipt)
        if asks, receipt == nil { askForReceipt(from: listener) }
        listener.budget.wrote(count + Self.wireOverhead)
        listener.framesSent += UInt64(frames)
        counters.framesOut += UInt64(frames)
        counters.bytesOut += UInt64(count)
    }

    /// WebSocket header and TLS 1.3 record around one message.
    private static var wireOverhead: Int { 2 + 22 }

    /// Whether media may go to this listener now, after asking the kernel where that is due.
    func hasRoom(_ listener: Member, at now: Instant) -> Bool {
        guard !listener.connection.isCongested, !listener.receipts.isOverdue(at: now, ownLag: recentLag) else { return false }
        switch listener.budget.verdict {
        case .send: return true
        case .ask:
            guard let bytes = listener.connection.tcp.unacknowledgedBytes else { return false }
            listener.budget.observe(unacknowledged: bytes, roundTrip: listener.receipts.roundTrip, at: now)
            return listener.budget.hasRoom
        }
    }

    /// Pings, so that the pong tells that everything up to here was read.
    func askForReceipt(from member: Member) {
        guard member.connection.phase == .open, !member.connection.isCongested else { return }
        member.connection.ping(askForReceipt(of: member, at: clock.now))
    }

    private func askForReceipt(of member: Member, at now: Instant) -> UInt32 {
        counters.receiptsAsked += 1
        return member.receipts.ask(at: now)
    }

    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {
        guard connection.seat >= 0 else { return heardDevice(connection) }
        guard let member = seats[connection.seat] else { return }
        member.lastHeard = clock.now
        guard member.receipts.answered(payload, at: clock.now) else { return }
        // The ping came after `hello`.
        if member.owesProof, member.wasGreeted { confirmResume(of: member) }
        pump(member)
    }

    // MARK: What waits

    func startWaiting(_ member: Member) {
        guard !member.isWaiting else { return }
        member.isWaiting = true
        waiting.append(Int(member.handle.seat))
        if member.connection.isCongested { member.connection.askForWritable() }
        scheduleTick()
    }

    func writable(_ connection: Connection) {
        guard connection.seat >= 0 else { return pumpDevice(connection) }
        guard let member = seats[connection.seat] else { return }
        pump(member)
    }

    /// Sends what waits for one listener, as far as its socket goes.
    func pump(_ member: Member) {
        let now = clock.now
        member.outbox.dropOld(at: now) { dropped in
            store.release(dropped)
            dropQueued(.age, of: member)
        }
        while !member.outbox.isEmpty {
            guard !member.connection.isCongested else {
                member.connection.askForWritable()
                return
            }
            let mayTakeFrame = !member.outbox.hasControl && member.farewell == nil && hasRoom(member, at: now)
            switch member.outbox.next(mayTakeFrame: mayTakeFrame) {
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
        if member.isBehind { letOutAhead(to: member) }
    }

    /// Looks after everybody for whom something waits; every 10 ms while there is somebody.
    func pumpWaiting() {
        var index = 0
        while index < waiting.count {
            let member = seats[waiting[index]]
            if let member {
                pump(member)
                closeIfFarewellIsSaid(member)
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

    func dropQueued(_ reason: DropReason, of listener: Member) {
        listener.framesDropped += 1
        drop(reason)
    }

    /// Counts a message that is no frame.
    func malformed(_ error: FrameError, from sender: Member) {
        drop(.malformed)
        counters.malformed[error.rawValue, default: 0] += 1
        countMalformed(of: sender)
    }

    func countMalformed(of sender: Member) {
        if sender.malformed.isTooMany(at: clock.now) { close(sender, .protocolError) }
    }
}
