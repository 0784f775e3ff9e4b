public import Wire

/// The monotonic clock for pacing, timestamps and measurements, in nanoseconds since its first use in the process.
///
/// All `Instant`s of this library are of this clock. It continues while the machine sleeps.
public enum MediaClock {
    private static let start = ContinuousClock.now

    public static var now: Instant {
        // Read first: the first access sets `start`, which must not be later than now.
        let start = start
        return Instant(nanoseconds: UInt64((ContinuousClock.now - start).inNanoseconds))
    }

    /// Suspends until `deadline`; returns at once if it has passed.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public static func sleep(until deadline: Instant) async throws {
        try await ContinuousClock().sleep(until: start + .nanoseconds(Int64(deadline.nanoseconds)), tolerance: .zero)
    }
}

extension Duration {
    /// The duration of 48 kHz ticks, to the nanosecond.
    static func ticks(_ count: Int) -> Duration {
        // 1,000,000,000 / 48,000, reduced.
        .nanoseconds(Int64(count) * 62_500 / 3)
    }

    /// Whole 48 kHz ticks, rounded towards zero.
    var inTicks: Int {
        Int(inNanoseconds / 1_000 * 6 / 125)
    }
}

/// Schedules the frames of a live track: the first is due at once, each other one at the end of those before it.
///
/// Deadlines count from the first frame, so that late wake-ups do not add up. After a stall of 200 ms or more the remaining frames are
/// rescheduled instead of sent in a burst. A pure value.
struct Pacer {
    static let lagMax = TrackNumbering.pause

    private var start: Instant?
    private var ticks = 0

    /// When the next frame is due.
    ///
    /// - Parameters:
    ///   - ticks: its duration.
    ///   - silenceBefore: ticks of silence before it that are not sent.
    mutating func deadline(ticks: Int, silenceBefore: Int = 0, at now: Instant) -> Instant {
        var due = start.map { $0 + .ticks(self.ticks + silenceBefore) } ?? now
        if now - due >= Self.lagMax {
            due = now
        }
        if start == nil || due == now {
            start = due
            self.ticks = 0
        } else {
            self.ticks += silenceBefore
        }
        self.ticks += ticks
        return due
    }

    /// The end of all paced frames; nil before the first.
    var end: Instant? { start.map { $0 + .ticks(ticks) } }
}

/// Schedules the frames of an `ahead` track: at once, until 30 s of audio are ahead. A pure value.
///
/// The gateway refuses more than 60 s; half of that allows for its playout to start late.
struct AheadPacer {
    static let aheadMax = Duration.seconds(30)

    /// When everything sent will have been played, at the earliest.
    private var playedBy: Instant?

    /// - Parameter ticks: the frame's duration with the silence before it.
    mutating func deadline(ticks: Int, at now: Instant) -> Instant {
        let begins = max(playedBy ?? now, now)
        playedBy = begins + .ticks(ticks)
        return begins - now > Self.aheadMax ? begins + (.zero - Self.aheadMax) : now
    }
}
