internal import DequeModule
package import Wire

/// Messages queued for one connection, in three lanes: replayed events, then control messages, then frames.
///
/// Replayed events describe the past on join and on resume. They are drained at the connection's pace and are not a sign of a slow consumer;
/// control messages queue behind them and are. Neither is ever dropped. Frames are dropped when they are too old (PROTOCOL section 5, mode
/// `live`).
///
/// Empty nearly always: a frame that nothing stands in the way of is written at once and never comes here. It can't be copied, for a frame
/// only looks whether it is empty.
package struct Outbox: ~Copyable, Sendable {
    /// What leaves next.
    package enum Next: Sendable, Hashable {
        case control([UInt8])
        /// The holder's reference passes to the caller, who releases it. The frame is to carry 0x08 if frames before it were
        /// dropped, and has waited since then.
        case frame(FrameRef, afterDrop: Bool, since: Instant)
    }

    private struct Waiting: Sendable {
        let frame: FrameRef
        let alias: TrackAlias
        let since: Instant
        /// Frames between the one of this track before it and this one were dropped.
        let isAfterDrop: Bool
    }

    private var replay: Deque<(event: EncodedEvent, seq: UInt64)> = []
    private var control: Deque<[UInt8]> = []
    private var frames: Deque<Waiting> = []
    /// Tracks whose next frame must say that some before it were dropped.
    private var interrupted: [TrackAlias] = []
    /// The same where others of the track still wait, which were before those that were dropped.
    private var interruptedAtEnd: [TrackAlias] = []
    private let ageMax: Duration
    private let framesMax: Int
    /// Bytes of queued replayed events.
    package private(set) var replayBytes = 0
    /// Bytes of queued control messages.
    package private(set) var controlBytes = 0

    package init(ageMax: Duration = Limits.liveAgeMax, framesMax: Int = Limits.outboxFramesMax) {
        self.ageMax = ageMax
        self.framesMax = framesMax
    }

    package var isEmpty: Bool { frames.isEmpty && control.isEmpty && replay.isEmpty }
    /// Whether events or replies are queued, which go before frames.
    package var hasControl: Bool { !control.isEmpty || !replay.isEmpty }
    package var frameCount: Int { frames.count }

    /// When the oldest frame will have grown too old; nil if none waits.
    package var deadline: Instant? { frames.first.map { $0.since + ageMax } }

    /// Queues a replayed event. It is encoded when it is sent, so that those who join together share its text.
    ///
    /// - Returns: false if `Limits.replayBytesMax` were queued before: the connection is to be closed.
    package mutating func append(replay event: EncodedEvent, seq: UInt64) -> Bool {
        let hadRoom = replayBytes < Limits.replayBytesMax
        replay.append((event, seq))
        replayBytes += event.byteCount
        return hadRoom
    }

    /// Queues a control message.
    ///
    /// - Returns: false if more than `Limits.controlBacklogBytesMax` are queued now: the client is a slow consumer and is to be closed.
    package mutating func append(control message: [UInt8]) -> Bool {
        control.append(message)
        controlBytes += message.count
        return controlBytes <= Limits.controlBacklogBytesMax
    }

    /// Queues a frame that is held for this subscriber; drops the oldest ones if there are too many.
    package mutating func append(_ frame: FrameRef, of alias: TrackAlias, at now: Instant, dropped: (FrameRef) -> Void) {
        while frames.count >= framesMax, let oldest = frames.popFirst() {
            markInterrupted(oldest.alias)
            dropped(oldest.frame)
        }
        frames.append(Waiting(frame: frame, alias: alias, since: now, isAfterDrop: Self.take(alias, from: &interruptedAtEnd)))
    }

    /// Drops the frames that have waited too long, oldest first.
    package mutating func dropExpired(at now: Instant, dropped: (FrameRef) -> Void) {
        while let oldest = frames.first, now - oldest.since > ageMax {
            frames.removeFirst()
            markInterrupted(oldest.alias)
            dropped(oldest.frame)
        }
    }

    /// Takes what leaves next. Call `dropOld` before.
    ///
    /// - Parameter allowsFrame: whether the socket has room for media; control goes in any case.
    package mutating func next(allowsFrame: Bool) -> Next? {
        if let (event, seq) = replay.popFirst() {
            replayBytes -= event.byteCount
            return .control(event.bytes(seq: seq))
        }
        if let message = control.popFirst() {
            controlBytes -= message.count
            return .control(message)
        }
        guard allowsFrame, let waiting = frames.popFirst() else { return nil }
        let isInterrupted = Self.take(waiting.alias, from: &interrupted)
        return .frame(waiting.frame, afterDrop: waiting.isAfterDrop || isInterrupted, since: waiting.since)
    }

    /// Notes a frame that was dropped before it could be queued. Linear in the frames that wait.
    package mutating func recordDrop(of alias: TrackAlias) {
        guard frames.contains(where: { $0.alias == alias }) else { return markInterrupted(alias) }
        if !interruptedAtEnd.contains(alias) { interruptedAtEnd.append(alias) }
    }

    /// Whether a frame of this track that need not wait must say that some before it were dropped; it is said once.
    package mutating func takeDiscontinuity(of alias: TrackAlias) -> Bool {
        let isInterrupted = Self.take(alias, from: &interrupted)
        return Self.take(alias, from: &interruptedAtEnd) || isInterrupted
    }

    private mutating func markInterrupted(_ alias: TrackAlias) {
        if !interrupted.contains(alias) { interrupted.append(alias) }
    }

    private static func take(_ alias: TrackAlias, from aliases: inout [TrackAlias]) -> Bool {
        guard !aliases.isEmpty, let index = aliases.firstIndex(of: alias) else { return false }
        aliases.remove(at: index)
        return true
    }

    /// Forgets the frames, because the subscriber has gone.
    package mutating func removeAll(dropped: (FrameRef) -> Void) {
        while let waiting = frames.popFirst() { dropped(waiting.frame) }
        replay.removeAll()
        control.removeAll()
        (replayBytes, controlBytes) = (0, 0)
        interrupted.removeAll()
        interruptedAtEnd.removeAll()
    }
}
