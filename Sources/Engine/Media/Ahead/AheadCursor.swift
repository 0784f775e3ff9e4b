internal import Wire

/// How far an `ahead` track was let out to one subscriber, and by which clock the rest plays.
///
/// A frame is let out once it plays within 200 ms, together with what follows within 100 ms of audio and 300 ms from now. So with a
/// look every 20 ms a subscriber has 180 to 300 ms in hand, and gets ten messages a second (twelve in the first). A look that comes late finds more that is due,
/// and nothing is reckoned from when the last one was.
struct AheadCursor: Sendable {
    /// Frames that leave as one message.
    struct Batch {
        let range: Range<Int>
        let frames: Int
    }

    /// Of the first frame that was not let out yet.
    private(set) var offset: Int
    private(set) var clock: AheadClock?
    /// When all that was let out will have played.
    private(set) var playedOut: Instant
    /// The track's time there; nil if nothing was let out.
    private(set) var endOfOutput: MediaTime?
    /// The next frame must say that some before it were dropped.
    private(set) var isInterrupted = false

    init(offset: Int, at now: Instant) {
        self.offset = offset
        playedOut = now
    }

    /// A newcomer that listens by the same clock, from an offset that was let out already, or is just to be.
    func joining(at offset: Int, now: Instant) -> AheadCursor {
        var newcomer = self
        if offset < self.offset { newcomer.playedOut = now }
        newcomer.offset = offset
        newcomer.isInterrupted = false
        return newcomer
    }

    // MARK: Clock

    /// A frame has come behind which nothing waits: it plays now, or when what was let out before it has played.
    ///
    /// - Returns: whether the clock goes on as it was: the frame follows in time what was let out, and came in time.
    mutating func take(frameAt time: MediaTime, now: Instant) -> Bool {
        if clock != nil, endOfOutput == time, playedOut >= now { return true }
        startClock(at: time, now: now)
        return false
    }

    /// What waits plays from now on, the sample at `time` first.
    mutating func startClock(at time: MediaTime, now: Instant) {
        clock = AheadClock(time, playsAt: max(now, playedOut))
    }

    /// Here everybody's clock began anew. One that is behind and has not noticed the silence before it keeps it all the same.
    mutating func keepSilence(before time: MediaTime, of reference: AheadClock) {
        if let clock, clock.instant(of: time) < reference.instant(of: time) { self.clock = reference }
    }

    // MARK: Letting out

    /// Whether the subscriber has so little in hand that the next look may come too late for what is there now.
    func isUrgent(at now: Instant) -> Bool { playedOut < now + Limits.aheadUrgentSpan }

    func isDue(in queue: AheadQueue, at now: Instant) -> Bool {
        nextDue(in: queue).map { $0 <= now } ?? false
    }

    /// When the next message leaves; nil while nothing waits.
    func nextDue(in queue: AheadQueue) -> Instant? {
        guard let clock, offset < queue.end else { return nil }
        return clock.instant(of: queue.entry(at: offset).timestamp).advanced(byNanoseconds: -Self.refillLead)
    }

    /// Takes what leaves next; nil while nothing is due.
    ///
    /// - Parameter limit: where a batch ends at the latest.
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

    /// Passes over a frame that can wait no longer.
    mutating func skip(to next: Int) {
        offset = next
        isInterrupted = true
    }

    mutating func takeInterruption() -> Bool {
        defer { isInterrupted = false }
        return isInterrupted
    }

    /// All before `offset` is dead. What the subscriber has in hand it throws away, so the next frame plays at once.
    mutating func clear(to offset: Int, at now: Instant) {
        self = AheadCursor(offset: offset, at: now)
    }
}
