internal import Wire

/// The release position of one subscriber of an `ahead` track, and the clock by which the rest plays.
///
/// A frame is released when it plays within 200 ms, together with the next frames within 100 ms of audio and 300 ms from now. With a
/// tick every 20 ms a subscriber has 180 to 300 ms buffered and gets ten messages a second (twelve in the first). A late tick
/// releases more, because nothing depends on the time of the previous tick.
struct AheadCursor: Sendable {
    /// Frames that are sent as one message.
    struct Batch {
        let range: Range<Int>
        let frames: Int
    }

    /// Offset of the first unreleased frame.
    private(set) var offset: Int
    private(set) var clock: AheadClock?
    /// When everything released will have played.
    private(set) var playedOut: Instant
    /// Media time there; nil if nothing was released.
    private(set) var endOfOutput: MediaTime?
    /// The next frame must carry flag 0x08.
    private(set) var isInterrupted = false

    init(offset: Int, at now: Instant) {
        self.offset = offset
        playedOut = now
    }

    /// A cursor on the same clock for another subscriber, at an offset that was released already or is about to be.
    func joining(at offset: Int, now: Instant) -> AheadCursor {
        var newcomer = self
        if offset < self.offset { newcomer.playedOut = now }
        newcomer.offset = offset
        newcomer.isInterrupted = false
        return newcomer
    }

    // MARK: Clock

    /// A frame arrived while nothing was queued: it plays now, or after the released frames.
    ///
    /// - Returns: whether the clock continues: the frame follows the last released one without a gap, and arrived in time.
    mutating func take(frameAt time: MediaTime, now: Instant) -> Bool {
        if clock != nil, endOfOutput == time, playedOut >= now { return true }
        startClock(at: time, now: now)
        return false
    }

    /// Restarts the clock: the sample at `time` plays now, or after the released frames.
    mutating func startClock(at time: MediaTime, now: Instant) {
        clock = AheadClock(time, playsAt: max(now, playedOut))
    }

    /// Adopts the common clock where it restarted, unless the cursor's own is later.
    mutating func adoptLaterClock(before time: MediaTime, of reference: AheadClock) {
        if let clock, clock.instant(of: time) < reference.instant(of: time) { self.clock = reference }
    }

    // MARK: Releasing

    /// Whether the subscriber may underrun before the next tick.
    func isUrgent(at now: Instant) -> Bool { playedOut < now + Limits.aheadUrgentSpan }

    func isDue(in queue: AheadQueue, at now: Instant) -> Bool {
        nextDue(in: queue).map { $0 <= now } ?? false
    }

    /// When the next message is due; nil while nothing is queued.
    func nextDue(in queue: AheadQueue) -> Instant? {
        guard let clock, offset < queue.end else { return nil }
        return clock.instant(of: queue.entry(at: offset).timestamp).advanced(byNanoseconds: -Self.refillLead)
    }

    /// Takes the next batch; nil while nothing is due.
    ///
    /// - Parameter limit: offset at which a batch ends at the latest.
    mutating func take(from queue: AheadQueue, upTo limit: Int, frameTicks: Int, at now: Instant) -> Batch? {
        guard let clock, isDue(in: queue, at: now) else { return nil }
        let span = AheadClock.nanoseconds(ofTicks: frameTicks)
        var entry = queue.entry(at: offset)
        var plays = clock.instant(of: entry.timestamp)
        let audioEnd = plays.advanced(byNanoseconds: Int64(ProtocolLimits.bundleMilliseconds) * 1_000_000)
        let horizon = now.advanced(byNanoseconds: Int64(ProtocolLimits.leadMilliseconds) * 1_000_000)
        var (position, frames, last) = (entry.next, 1, entry.timestamp)
        var end = plays.advanced(byNanoseconds: span)
        while position < limit, frames < ProtocolLimits.bundleFramesMax {
            entry = queue.entry(at: position)
            plays = clock.instant(of: entry.timestamp)
            let playsUntil = plays.advanced(byNanoseconds: span)
            guard plays <= horizon, playsUntil <= audioEnd, entry.next - offset <= Self.batchBytesMax else { break }
            (position, last) = (entry.next, entry.timestamp)
            end = max(end, playsUntil)
            frames += 1
        }
        let batch = Batch(range: offset..<position, frames: frames)
        offset = position
        playedOut = end
        endOfOutput = last.advanced(by: frameTicks)
        self.clock?.moveUp(to: last)
        return batch
    }

    private static let refillLead = Limits.aheadRefillLead.inNanoseconds
    private static let batchBytesMax = ProtocolLimits.messageBytesMax - AheadTrack.bundleHeadBytes

    /// Skips a frame that cannot be retained.
    mutating func skip(to next: Int) {
        offset = next
        isInterrupted = true
    }

    mutating func takeInterruption() -> Bool {
        defer { isInterrupted = false }
        return isInterrupted
    }

    /// Everything before `offset` is dropped. The subscriber discards its buffer, so the next frame plays at once.
    mutating func clear(to offset: Int, at now: Instant) {
        self = AheadCursor(offset: offset, at: now)
    }
}

/// Maps media time to instants, from the time of one sample at 48 kHz.
struct AheadClock: Sendable, Hashable {
    private var time: MediaTime
    private var playsAt: Instant

    init(_ time: MediaTime, playsAt: Instant) {
        self.time = time
        self.playsAt = playsAt
    }

    /// When the sample at `time` plays. Valid within 12.4 hours of the last `moveUp`.
    func instant(of time: MediaTime) -> Instant {
        playsAt.advanced(byNanoseconds: Self.nanoseconds(ofTicks: Int(time.distance(from: self.time))))
    }

    /// 48,000 ticks a second: three ticks are 62,500 ns.
    static func nanoseconds(ofTicks ticks: Int) -> Int64 { Int64(ticks) * 62_500 / 3 }

    /// Keeps the clock valid when timestamps wrap: moves its reference up by whole hours.
    mutating func moveUp(to time: MediaTime) {
        let hour = 3_600 * MediaTime.ticksPerSecond
        while Int(time.distance(from: self.time)) >= hour {
            self.time = self.time.advanced(by: hour)
            playsAt = playsAt + .seconds(3_600)
        }
    }
}

/// Reports to a publisher how far it is ahead: at 45 s, when frames are dropped, and below 30 s again (docs/protocol/events.md, "Playout").
struct AheadBacklog: Sendable {
    private var state = BacklogState.low
    /// Frames dropped since the last report.
    private var dropped = 0
    private var nextFullReportAt = Instant(nanoseconds: 0)

    /// Whether nothing is left to report.
    var isSettled: Bool { state == .low && dropped == 0 }

    mutating func recordDrop() { dropped += 1 }

    /// - Returns: the report due now. `full` at most once a second, however many frames are dropped.
    mutating func report(queuedMilliseconds queued: Int, at now: Instant) -> Room.PlayoutQueueReport? {
        if dropped > 0, now >= nextFullReportAt {
            nextFullReportAt = now + .seconds(1)
            return makeReport(.full, queued)
        }
        switch state {
        case .low where queued >= ProtocolLimits.backlogHighMilliseconds: return makeReport(.high, queued)
        case .high where queued < ProtocolLimits.backlogLowMilliseconds, .full where queued < ProtocolLimits.backlogLowMilliseconds:
            return makeReport(.low, queued)
        default: return nil
        }
    }

    private mutating func makeReport(_ state: BacklogState, _ queued: Int) -> Room.PlayoutQueueReport {
        defer { dropped = 0 }
        self.state = state
        return .backlog(state, queuedMilliseconds: queued, dropped: dropped)
    }
}
