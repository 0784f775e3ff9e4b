internal import Wire

/// One utterance on an `ahead` track: from the first frame released after silence until the last has played or was cleared.
///
/// The position follows from subscribers' reports, extrapolated by the time since, as far as their buffered audio reaches; the
/// furthest subscriber counts. Reports may be late: of two consecutive ones the earlier is believed. Without reports the position
/// follows the queue's clock. A reported position never goes back. Offsets are ticks since the first frame.
struct Utterance: Sendable {
    private struct Report {
        var offset: Int
        /// Ticks of audio buffered behind it.
        var buffered: Int
        var at: Instant
        /// Release position at that time.
        var release: Int
        /// Ticks by which the previous report puts the subscriber further ahead, if this one is merely late.
        var lateness = 0

        /// End of the audio that the subscriber can play: its buffer, plus the audio released since, but no more than its buffer, because a
        /// subscriber with almost nothing buffered may be cut off.
        func reach(release now: Int) -> Int {
            offset + buffered + min(max(0, now - release), buffered, Limits.playoutRefillMax.inTicks)
        }

        func offset(at now: Instant, release: Int) -> Int { min(offset + lateness + (now - at).inTicks, reach(release: release)) }

        /// Expected position by this report alone.
        func expected(at now: Instant, release: Int) -> Int { min(offset + (now - at).inTicks, reach(release: release)) }

        func instant(of offset: Int, by clock: UtteranceClock) -> Instant? {
            let instant = at + .ticks(max(0, offset - self.offset - lateness))
            return offset <= reach(release: clock.release(at: instant)) ? instant : nil
        }
    }

    /// Timestamp of its first frame.
    let first: MediaTime
    var clock: UtteranceClock
    /// Time of the last progress that could not be predicted: the clock started, or a subscriber got further.
    private(set) var movedAt: Instant

    private var reports = Roster<Identity, Report>()
    /// Position that was reported, or that a former subscriber had reached.
    private var floor = 0
    /// Ticks for which the clock is trusted without a report.
    private let unreportedMax: Int

    /// - Parameter isAwaitingReports: whether a subscriber is known to report. Its silence limits how far the clock is trusted.
    init(first: MediaTime, playsAt: Instant, isAwaitingReports: Bool, at now: Instant) {
        self.first = first
        clock = UtteranceClock(playsAt: playsAt)
        movedAt = now
        unreportedMax = isAwaitingReports ? Limits.playoutUnreportedMax.inTicks : .max
    }

    /// An utterance from an image, which is not playing.
    ///
    /// - Parameters:
    ///   - heard: offset played.
    ///   - reporter: a subscriber whose report gave that offset; nil for an estimate.
    ///   - end: offset released.
    init(first: MediaTime, heard: Int, by reporter: Identity?, end: Int, at now: Instant) {
        self.first = first
        clock = UtteranceClock(releasedTo: end, at: now)
        movedAt = now
        unreportedMax = 0
        floor = heard
        if let reporter { apply(played: time(at: heard), buffered: 0, from: reporter, at: now) }
    }

    func offset(of time: MediaTime) -> Int { Int(time.distance(from: first)) }

    func time(at offset: Int) -> MediaTime { first.advanced(by: offset) }

    /// Whether the position is an estimate without reports.
    var isEstimated: Bool { reports.isEmpty }

    func heard(at now: Instant) -> Int {
        guard !reports.isEmpty else { return max(floor, min(unreportedMax, clock.offset(at: now))) }
        let release = clock.release(at: now)
        return reports.values.reduce(floor) { max($0, $1.offset(at: now, release: release)) }
    }

    /// When that offset is played, nil if unknown yet.
    func instant(playing offset: Int) -> Instant? {
        if offset <= floor { return movedAt }
        guard reports.isEmpty else { return reports.values.lazy.compactMap { $0.instant(of: offset, by: clock) }.min() }
        return offset <= unreportedMax ? clock.instant(of: offset) : nil
    }

    /// Records a position that was reported to the room.
    mutating func settle(at offset: Int) {
        floor = max(floor, offset)
    }

    mutating func restartClock(at time: MediaTime, playsAt: Instant, now: Instant) {
        clock.start(at: offset(of: time), playsAt: playsAt)
        movedAt = now
    }

    mutating func refill(at now: Instant) {
        clock.refill()
        movedAt = now
    }

    /// Handles a subscriber's report. It cannot have played or buffered more than was released.
    ///
    /// - Parameters:
    ///   - played: nil if nothing of this epoch was played.
    ///   - buffered: ticks.
    mutating func apply(played: MediaTime?, buffered: Int, from subscriber: Identity, at now: Instant) {
        let release = clock.release(at: now)
        let claimed = min(played.map(offset(of:)) ?? 0, release)
        // Less than a frame before the end counts as the end.
        let isAtEnd = clock.isDrained && release - claimed - buffered <= Self.frameTicks
        var report = Report(
            offset: claimed, buffered: isAtEnd ? release - claimed : min(buffered, release - claimed), at: now, release: release)
        if let last = reports[subscriber] {
            let lateness = last.expected(at: now, release: release) - claimed
            // Beyond that it has really fallen behind.
            if 0...Limits.playoutReportLatenessMax.inTicks ~= lateness { report.lateness = lateness }
        }
        if report.offset > reports.values.reduce(floor, { max($0, $1.offset) }) { movedAt = now }
        if let offset = reports.index(of: subscriber) {
            reports[at: offset] = report
        } else {
            reports.append(report, for: subscriber)
        }
    }

    func lastReport(of subscriber: Identity) -> MediaTime? {
        reports[subscriber].map { time(at: $0.offset) }
    }

    /// Position of the subscriber furthest behind; nil without reports.
    var leastReported: MediaTime? {
        reports.values.map(\.offset).min().map(time(at:))
    }

    /// Removes a subscriber. The position it had reached is kept.
    mutating func remove(_ subscriber: Identity, at now: Instant) {
        guard let report = reports.remove(subscriber) else { return }
        settle(at: report.offset(at: now, release: clock.release(at: now)))
    }

    private static let frameTicks = 20 * MediaTime.ticksPerMillisecond
}

/// Maps offsets of an utterance to time, as its queue releases it. Offsets are ticks since the first frame.
///
/// Consists of stretches, one per run of the queue's clock. A stretch with an end is released up to there; one without as far as
/// the lead allows.
struct UtteranceClock: Sendable {
    private struct Stretch {
        var start: Int
        var playsAt: Instant
        var end: Int?
    }

    /// Earliest first, never empty; the last one is current.
    private var stretches: [Stretch]
    /// Everything published has been released.
    private(set) var isDrained = false

    /// - Parameter playsAt: when the first sample plays.
    init(playsAt: Instant) {
        stretches = [Stretch(start: 0, playsAt: playsAt)]
    }

    /// A stopped clock.
    init(releasedTo end: Int, at now: Instant) {
        stretches = [Stretch(start: 0, playsAt: now, end: end)]
    }

    /// The clock restarted: `offset` plays at `playsAt`, and nothing before it is left.
    mutating func start(at offset: Int, playsAt: Instant) {
        let last = stretches.count - 1
        stretches[last].end = min(stretches[last].end ?? offset, offset)
        removeStretches(before: playsAt)
        stretches.append(Stretch(start: offset, playsAt: playsAt))
        isDrained = false
    }

    mutating func drain(at end: Int) {
        stretches[stretches.count - 1].end = end
        isDrained = true
    }

    mutating func refill() {
        stretches[stretches.count - 1].end = nil
        isDrained = false
    }

    /// The queue stops until its clock restarts. Its release position is reported only then, so it is assumed to be all that the
    /// lead allows.
    mutating func pause(at now: Instant) {
        guard !isDrained else { return }
        stretches[stretches.count - 1].end = release(at: now)
    }

    /// Current position by the clock.
    func offset(at now: Instant) -> Int {
        guard let stretch = stretches.last(where: { $0.playsAt <= now }) else { return 0 }
        let offset = stretch.start + (now - stretch.playsAt).inTicks
        return stretch.end.map { min($0, offset) } ?? offset
    }

    /// Current release position.
    func release(at now: Instant) -> Int {
        let last = stretches[stretches.count - 1]
        return last.end ?? last.start + max(0, (now - last.playsAt).inTicks + Self.leadTicks)
    }

    /// When that offset plays; nil if unknown yet.
    func instant(of offset: Int) -> Instant? {
        for stretch in stretches {
            if offset <= stretch.start { return stretch.playsAt }
            if offset <= stretch.end ?? .max { return stretch.playsAt + .ticks(offset - stretch.start) }
        }
        return nil
    }

    /// End of all released audio, once there is one.
    var end: (offset: Int, at: Instant)? {
        let last = stretches[stretches.count - 1]
        return last.end.map { ($0, last.playsAt + .ticks(max(0, $0 - last.start))) }
    }

    private mutating func removeStretches(before now: Instant) {
        while stretches.count > 1, stretches[1].playsAt <= now { stretches.removeFirst() }
    }

    static let leadTicks = ProtocolLimits.leadMilliseconds * MediaTime.ticksPerMillisecond
}

extension Duration {
    /// Whole 48 kHz ticks, rounded towards zero.
    var inTicks: Int { Int(inNanoseconds * 48 / 1_000_000) }

    /// The shortest span in whole nanoseconds that lasts this many ticks.
    static func ticks(_ count: Int) -> Duration {
        .nanoseconds((Int64(count) * 1_000_000 + (count > 0 ? 47 : 0)) / 48)
    }
}
