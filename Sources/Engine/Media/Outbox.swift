internal import DequeModule
package import Wire

/// Messages queued for one connection, in three lanes: replayed events, then control messages, then frames.
///
/// Replayed events describe the past on join and on resume. They are drained at the connection's pace and are not a sign of a slow
/// consumer; control messages queue behind them and are. Neither is ever dropped. Frames are dropped when they are too old
/// (docs/protocol/media.md, "Queues and pacing", mode `live`).
///
/// Empty nearly always: frames that nothing delays are sent at once and never queued. Noncopyable, so that checking for emptiness
/// costs nothing.
package struct Outbox: ~Copyable, Sendable {
    /// The next message to send.
    package enum Next: Sendable, Hashable {
        case control([UInt8])
        /// The reference passes to the caller, who releases it. The frame must carry flag 0x08 if frames before it were dropped.
        /// `since` is when it was queued; nil for earlier speech, which is late in any case.
        case frame(FrameRef, afterDrop: Bool, since: Instant?)
    }

    private struct Waiting: Sendable {
        let frame: FrameRef
        let alias: TrackAlias
        let since: Instant
        /// Frames of this track directly before it were dropped.
        let isAfterDrop: Bool
        let isEarlier: Bool
    }

    private var replay: Deque<(event: EncodedEvent, seq: UInt64)> = []
    private var control: Deque<[UInt8]> = []
    private var frames: Deque<Waiting> = []
    /// Tracks whose next frame must carry flag 0x08.
    private var interrupted: [TrackAlias] = []
    /// The same, for drops behind frames that are still queued.
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

    /// When the oldest frame expires; nil if none is queued.
    package var deadline: Instant? { frames.first.map { $0.since + ageMax } }

    /// Queues a replayed event. It is encoded when it is sent, so that concurrent joins share the encoded text.
    ///
    /// - Returns: false if `Limits.replayBytesMax` were queued before: the connection must be closed.
    package mutating func append(replay event: EncodedEvent, seq: UInt64) -> Bool {
        let hadRoom = replayBytes < Limits.replayBytesMax
        replay.append((event, seq))
        replayBytes += event.byteCount
        return hadRoom
    }

    /// Queues a control message.
    ///
    /// - Returns: false if more than `Limits.controlBacklogBytesMax` are queued now: the client is a slow consumer and must be closed.
    package mutating func append(control message: [UInt8]) -> Bool {
        control.append(message)
        controlBytes += message.count
        return controlBytes <= Limits.controlBacklogBytesMax
    }

    /// Queues a stored frame; drops the oldest ones beyond the limit.
    ///
    /// - Parameter isEarlier: it was said before the subscriber came.
    package mutating func append(
        _ frame: FrameRef, of alias: TrackAlias, at now: Instant, isEarlier: Bool = false, dropped: (FrameRef) -> Void
    ) {
        while frames.count >= framesMax, let oldest = frames.popFirst() {
            markInterrupted(oldest.alias)
            dropped(oldest.frame)
        }
        frames.append(
            Waiting(
                frame: frame, alias: alias, since: now, isAfterDrop: Self.take(alias, from: &interruptedAtEnd), isEarlier: isEarlier))
    }

    /// Drops expired frames, oldest first.
    package mutating func dropExpired(at now: Instant, dropped: (FrameRef) -> Void) {
        while let oldest = frames.first, now - oldest.since > ageMax {
            frames.removeFirst()
            markInterrupted(oldest.alias)
            dropped(oldest.frame)
        }
    }

    /// Removes the next message. Call `dropExpired` first.
    ///
    /// - Parameter allowsFrame: whether the socket has room for media; control messages are returned in any case.
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
        return .frame(
            waiting.frame, afterDrop: waiting.isAfterDrop || isInterrupted, since: waiting.isEarlier ? nil : waiting.since)
    }

    /// Records a frame dropped before it was queued. Linear in the queued frames.
    package mutating func recordDrop(of alias: TrackAlias) {
        guard frames.contains(where: { $0.alias == alias }) else { return markInterrupted(alias) }
        if !interruptedAtEnd.contains(alias) { interruptedAtEnd.append(alias) }
    }

    /// Whether a frame of this track that bypasses the queue must carry flag 0x08; returns true once.
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

    /// Drops all frames, because the subscriber has left.
    package mutating func removeAll(dropped: (FrameRef) -> Void) {
        while let waiting = frames.popFirst() { dropped(waiting.frame) }
        replay.removeAll()
        control.removeAll()
        (replayBytes, controlBytes) = (0, 0)
        interrupted.removeAll()
        interruptedAtEnd.removeAll()
    }
}

/// Why a frame was dropped. Counted per shard and exported in `/metrics`.
package enum DropReason: Int, CaseIterable, Sendable {
    /// Not a frame at all (docs/protocol/media.md, "Validation").
    case malformed
    /// The alias names no track of the sender.
    case notPublished
    case muted
    /// The publisher is on hold.
    case held
    /// The epoch is over.
    case epoch
    /// More than 100 frames a second.
    case rate
    /// More than 60 s, or 2 MiB, ahead of what plays.
    case ahead
    /// Cleared, or its track ended, before it was released.
    case cleared
    /// It expired in a slow subscriber's queue.
    case age
    /// A subscriber's outbox, the frame store, or the retained part of an `ahead` track was full.
    case full
    /// The subscriber left before it was sent.
    case left
    /// The subscriber's connection is lost, or is replaying missed events.
    case away

    /// Label in `/metrics`.
    package var name: String {
        switch self {
        case .malformed: "malformed"
        case .notPublished: "not_published"
        case .muted: "muted"
        case .held: "held"
        case .epoch: "epoch"
        case .rate: "rate"
        case .ahead: "ahead"
        case .cleared: "cleared"
        case .age: "age"
        case .full: "full"
        case .left: "left"
        case .away: "away"
        }
    }
}
