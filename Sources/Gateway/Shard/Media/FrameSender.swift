internal import Engine
internal import Sockets
internal import Wire

/// Sends frames to subscribers: at once if nothing is queued and the send window has room, otherwise by way of their outbox.
///
/// Owns the store of queued frames, the buffers in which outgoing messages are assembled, the list of connections with queued messages, and
/// the bucket that bounds delivery probes. Nothing here allocates for a frame that is sent at once.
final class FrameSender {
    private let context: ShardContext
    // Used for each frame, hence without dynamic exclusivity checks.
    @exclusivity(unchecked) private var store = FrameStore(headroom: Connection.headroom)
    /// Delivery probes per second over all subscribers; they cost a quarter of a percent of a core.
    @exclusivity(unchecked) private var probeBucket = TokenBucket(perSecond: 250, burst: 50)
    /// Slots of connections with queued messages.
    @exclusivity(unchecked) private(set) var waitingSlots: [Int] = []
    /// How late the shard's timer fired lately: at most doubles in a tick, halves with each.
    @exclusivity(unchecked) var recentLag: Duration = .zero
    private let frameBuffer = UnsafeMutableRawPointer.allocate(byteCount: 2_048, alignment: 64)
    private let messageBuffer = UnsafeMutableRawPointer.allocate(
        byteCount: Connection.headroom + FrameSender.messageBytesMax, alignment: 64)

    /// The interval at which queued messages are retried.
    static var queueInterval: Duration { .milliseconds(10) }
    static var messageBytesMax: Int { ProtocolLimits.messageBytesMax }
    /// WebSocket header and TLS 1.3 record around one message.
    private static var wireOverhead: Int { 2 + 22 }

    init(_ context: ShardContext) {
        self.context = context
    }

    deinit {
        frameBuffer.deallocate()
        messageBuffer.deallocate()
    }

    /// Room for one message of `messageBytesMax`, with headroom before it.
    var message: UnsafeMutableRawPointer { messageBuffer + Connection.headroom }
    /// Frames in the store.
    var storedFrames: Int { store.heldCount }

    // MARK: Live frames

    /// A frame on its way to its subscribers.
    struct StagedFrame {
        let frame: UnsafeRawBufferPointer
        let alias: TrackAlias
        /// A copy with headroom, for each subscriber's WebSocket header.
        let copy: UnsafeMutableRawPointer
        /// The room sends events because of this frame, which leave in the same record.
        let endsTurn: Bool
        /// In the store, for all subscribers that it is queued for.
        var stored: FrameRef?
        /// Said before the subscriber came; its time in the queue does not count as lateness.
        var isEarlier = false
    }

    func stage(_ frame: UnsafeRawBufferPointer, of alias: TrackAlias, endsTurn: Bool, isEarlier: Bool = false) -> StagedFrame {
        let copy = frameBuffer + Connection.headroom
        if let bytes = frame.baseAddress { copy.copyMemory(from: bytes, byteCount: frame.count) }
        return StagedFrame(frame: frame, alias: alias, copy: copy, endsTurn: endsTurn, isEarlier: isEarlier)
    }

    /// Sends a frame to one subscriber, or queues it.
    func send(_ frame: inout StagedFrame, to subscriber: ParticipantConnection, at now: Instant) {
        guard subscriber.pendingClose == nil else { return }
        guard subscriber.link.isReachable else {
            subscriber.outbox.recordDrop(of: frame.alias)
            return countDropped(.away, of: subscriber)
        }
        if subscriber.outbox.isEmpty, hasCapacity(subscriber, at: now) {
            let afterDrop = subscriber.outbox.takeDiscontinuity(of: frame.alias)
            write(frame.copy, frame.frame.count, afterDrop: afterDrop, endsTurn: frame.endsTurn, to: subscriber)
        } else {
            queue(&frame, for: subscriber, at: now)
        }
    }

    /// Queues a frame; it is stored once, however many subscribers it is queued for.
    private func queue(_ frame: inout StagedFrame, for subscriber: ParticipantConnection, at now: Instant) {
        if let reference = frame.stored {
            store.retain(reference)
        } else {
            frame.stored = store.store(frame.frame)
        }
        guard let stored = frame.stored else {
            subscriber.outbox.recordDrop(of: frame.alias)
            return countDropped(.full, of: subscriber)
        }
        subscriber.outbox.append(stored, of: frame.alias, at: now, isEarlier: frame.isEarlier) { dropped in
            store.release(dropped)
            countDropped(.full, of: subscriber)
        }
        context.counters.framesQueued += 1
        startWaiting(subscriber)
    }

    private func write(
        _ frame: UnsafeMutableRawPointer, _ count: Int, afterDrop: Bool, endsTurn: Bool = false, to subscriber: ParticipantConnection
    ) {
        let flags = frame.load(fromByteOffset: 1, as: UInt8.self)
        if afterDrop { frame.storeBytes(of: flags | FrameFlags.discontinuity.rawValue, toByteOffset: 1, as: UInt8.self) }
        deliver(frame, count, frames: 1, endsTurn: endsTurn, to: subscriber)
        if afterDrop { frame.storeBytes(of: flags, toByteOffset: 1, as: UInt8.self) }
    }

    // MARK: Messages

    /// Writes a media message to a subscriber that has capacity, with a delivery probe where one is due: in the same system call if possible.
    func deliver(
        _ message: UnsafeMutableRawPointer, _ count: Int, frames: Int, endsTurn: Bool = false, to subscriber: ParticipantConnection
    ) {
        let now = context.now
        let probes = subscriber.flow.probe.isDue(at: now) && probeBucket.take(at: now)
        let ping = probes ? startProbe(of: subscriber, at: now) : nil
        subscriber.socket.write(binary: message, count: count, withTurn: endsTurn, followedByPing: ping)
        subscriber.flow.window.recordWrite(count + Self.wireOverhead)
        subscriber.statistics.framesSent += UInt64(frames)
        context.counters.framesOut += UInt64(frames)
        context.counters.bytesOut += UInt64(count)
    }

    /// Whether media may be sent to a subscriber now. Asks the kernel how much is unacknowledged where that is due.
    func hasCapacity(_ subscriber: ParticipantConnection, at now: Instant) -> Bool {
        guard !subscriber.socket.isCongested, !subscriber.flow.probe.isOverdue(at: now, ownLag: recentLag) else { return false }
        switch subscriber.flow.window.verdict {
        case .send: return true
        case .measure:
            guard let bytes = subscriber.socket.tcp.unacknowledgedBytes else { return false }
            subscriber.flow.window.observe(unacknowledged: bytes, roundTrip: subscriber.flow.probe.roundTrip, at: now)
            return subscriber.flow.window.hasRoom
        }
    }

    /// Pings a client, so that its pong proves that it has read everything up to here.
    func sendProbe(to participant: ParticipantConnection) {
        guard participant.socket.phase == .open, !participant.socket.isCongested else { return }
        participant.socket.ping(startProbe(of: participant, at: context.now))
    }

    private func startProbe(of participant: ParticipantConnection, at now: Instant) -> UInt32 {
        context.counters.probesSent += 1
        return participant.flow.probe.nextPing(at: now)
    }

    // MARK: Queues

    /// Adds a connection with queued messages to the list that the timer checks.
    func startWaiting(_ participant: ParticipantConnection) {
        guard !participant.flow.isQueued else { return }
        participant.flow.isQueued = true
        waitingSlots.append(Int(participant.handle.slot))
        if participant.socket.isCongested { participant.socket.askForWritable() }
        context.wake(within: Self.queueInterval)
    }

    /// Looks at every connection with queued messages, and takes those off the list that have none left.
    ///
    /// - Parameter flush: sends what can be sent.
    func flushWaiting(_ slots: SlotTable<ParticipantConnection>, _ flush: (ParticipantConnection) -> Void) {
        var index = 0
        while index < waitingSlots.count {
            let participant = slots[waitingSlots[index]]
            if let participant { flush(participant) }
            if let participant, !participant.outbox.isEmpty {
                index += 1
            } else {
                participant?.flow.isQueued = false
                waitingSlots.swapAt(index, waitingSlots.count - 1)
                waitingSlots.removeLast()
            }
        }
    }

    /// Sends queued messages as far as the socket accepts them: control first, then frames that are not too old.
    ///
    /// - Returns: whether the outbox is empty now.
    func flushOutbox(of participant: ParticipantConnection) -> Bool {
        let now = context.now
        participant.outbox.dropExpired(at: now) { dropped in
            store.release(dropped)
            countDropped(.age, of: participant)
        }
        while !participant.outbox.isEmpty {
            guard !participant.socket.isCongested else {
                participant.socket.askForWritable()
                return false
            }
            let allowsFrame = !participant.outbox.hasControl && participant.pendingClose == nil && hasCapacity(participant, at: now)
            switch participant.outbox.next(allowsFrame: allowsFrame) {
            case .control(let message):
                participant.socket.write(text: message)
            case .frame(let frame, let afterDrop, let queuedAt):
                let bytes = store.bytes(of: frame)
                if let queuedAt { participant.statistics.lateness.record(now - queuedAt) }
                if let start = bytes.baseAddress { write(start, bytes.count, afterDrop: afterDrop, to: participant) }
                store.release(frame)
            case nil:
                return false
            }
        }
        return true
    }

    /// The socket is closed: discards its queue.
    func discardQueue(of participant: ParticipantConnection) {
        participant.outbox.removeAll { dropped in
            store.release(dropped)
            context.countDropped(.left)
        }
    }

    func countDropped(_ reason: DropReason, of subscriber: ParticipantConnection) {
        subscriber.statistics.framesDropped += 1
        context.countDropped(reason)
    }
}
