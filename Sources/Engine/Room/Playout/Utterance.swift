package import Wire

/// What is being heard of an `ahead` track: from the first frame that is let out after silence until the last was heard or cleared.
///
/// Where the subscribers are is known from what they report, carried on by the time since, as far as their audio reaches; the one who is
/// furthest counts. A report says where its sender was when it left, and may be late: of two that follow each other, the one that came
/// sooner is believed. As long as nobody has reported it is reckoned from the queue's clock. What was told once is never taken back.
/// Places are ticks since the first frame.
package struct Utterance: Sendable {
    private struct Report {
        var offset: Int
        /// Ticks of audio that come after it.
        var buffered: Int
        var at: Instant
        /// Up to where the track had been let out then.
        var release: Int
        /// How many ticks further the report before lets expect its sender, if this one is no more than late.
        var lateness = 0

        /// Up to where its sender can go on: by what it had, and by what was let out since. Of that no more than it had, for whoever has
        /// next to nothing is cut off.
        func reach(release now: Int) -> Int {
            offset + buffered + min(max(0, now - release), buffered, Limits.playoutRefillMax.inTicks)
        }

        func offset(at now: Instant, release: Int) -> Int { min(offset + lateness + (now - at).inTicks, reach(release: release)) }

        /// Where its sender would be, told by this report alone.
        func expected(at now: Instant, release: Int) -> Int { min(offset + (now - at).inTicks, reach(release: release)) }

        func instant(of offset: Int, by clock: UtteranceClock) -> Instant? {
            let instant = at + .ticks(max(0, offset - self.offset - lateness))
            return offset <= reach(release: clock.release(at: instant)) ? instant : nil
        }
    }

    /// The timestamp of its first frame.
    package let first: MediaTime
    package var clock: UtteranceClock
    /// When it last went on in a way that nobody could prefetch: the queue's clock started, or a subscriber got further.
    package private(set) var movedAt: Instant

    private var reports = Roster<Identity, Report>()
    /// What was told, or what somebody had heard who no longer listens.
    private var floor = 0
    /// How far the clock is believed without a report, in ticks.
    private let belief: Int

    /// - Parameter isAwaitingReports: somebody listens who is known to report. Who then does not is not taken to hear for long.
    package init(first: MediaTime, playsAt: Instant, isAwaitingReports: Bool, at now: Instant) {
        self.first = first
        clock = UtteranceClock(playsAt: playsAt)
        movedAt = now
        belief = isAwaitingReports ? Limits.playoutUnreportedMax.inTicks : .max
    }

    package func offset(of time: MediaTime) -> Int { Int(time.distance(from: first)) }

    package func time(at offset: Int) -> MediaTime { first.advanced(by: offset) }

    /// Nobody has said how far it was heard.
    package var isEstimated: Bool { reports.isEmpty }

    package func heard(at now: Instant) -> Int {
        guard !reports.isEmpty else { return max(floor, min(belief, clock.offset(at: now))) }
        let release = clock.release(at: now)
        return reports.values.reduce(floor) { max($0, $1.offset(at: now, release: release)) }
    }

    /// When it is heard up to there, nil if that can't be said yet.
    package func instant(hearing offset: Int) -> Instant? {
        if offset <= floor { return movedAt }
        guard reports.isEmpty else { return reports.values.lazy.compactMap { $0.instant(of: offset, by: clock) }.min() }
        return offset <= belief ? clock.instant(of: offset) : nil
    }

    /// What has been told as heard stays heard.
    package mutating func settle(at offset: Int) {
        floor = max(floor, offset)
    }

    package mutating func restartClock(at time: MediaTime, playsAt: Instant, now: Instant) {
        clock.start(at: offset(of: time), playsAt: playsAt)
        movedAt = now
    }

    package mutating func refill(at now: Instant) {
        clock.refill()
        movedAt = now
    }

    /// Takes in what a subscriber reports. Nobody has heard, or has, what was not let out.
    ///
    /// - Parameters:
    ///   - played: nil if nothing of this epoch was.
    ///   - buffered: ticks.
    package mutating func take(played: MediaTime?, buffered: Int, from subscriber: Identity, at now: Instant) {
        let release = clock.release(at: now)
        let claimed = min(played.map(offset(of:)) ?? 0, release)
        // Less than a frame before the end is the end: nobody waits for a report of what no device tells apart.
        let isAtEnd = clock.isDry && release - claimed - buffered <= Self.frameTicks
        var report = Report(
            offset: claimed, buffered: isAtEnd ? release - claimed : min(buffered, release - claimed), at: now, release: release)
        if let last = reports[subscriber] {
            let lateness = last.expected(at: now, release: release) - claimed
            // Later than that, and it has really fallen behind.
            if 0...Limits.playoutReportLatenessMax.inTicks ~= lateness { report.lateness = lateness }
        }
        if report.offset > reports.values.reduce(floor, { max($0, $1.offset) }) { movedAt = now }
        if let offset = reports.index(of: subscriber) {
            reports[at: offset] = report
        } else {
            reports.append(report, for: subscriber)
        }
    }

    package func lastReport(of subscriber: Identity) -> MediaTime? {
        reports[subscriber].map { time(at: $0.offset) }
    }

    /// Where the one is who is furthest behind of those who have reported; nil if nobody has.
    package var leastReported: MediaTime? {
        reports.values.map(\.offset).min().map(time(at:))
    }

    /// Somebody no longer listens. What it had heard stays heard.
    package mutating func forget(_ subscriber: Identity, at now: Instant) {
        guard let report = reports.remove(subscriber) else { return }
        settle(at: report.offset(at: now, release: clock.release(at: now)))
    }

    private static let frameTicks = 20 * MediaTime.ticksPerMillisecond
}
