public import Wire

/// The clock by which media is paced, stamped and measured: monotonic, in nanoseconds since this process first asked it.
///
/// All `Instant`s of this library are of this clock, so they may be subtracted from each other. It goes on while the machine sleeps.
public enum MediaClock {
    private static let start = ContinuousClock.now

    /// This very moment.
    public static var now: Instant {
        // In this order: the first call makes `start`, which must not be later than now.
        let start = start
        return Instant(nanoseconds: UInt64((ContinuousClock.now - start).inNanoseconds))
    }

    /// Suspends until `deadline`, or not at all if it has passed.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public static func sleep(until deadline: Instant) async throws {
        try await ContinuousClock().sleep(until: start + .nanoseconds(Int64(deadline.nanoseconds)), tolerance: .zero)
    }
}

extension Duration {
    /// What so many 48 kHz ticks last, to the nanosecond.
    static func ticks(_ count: Int) -> Duration {
        // 1,000,000,000 / 48,000, reduced.
        .nanoseconds(Int64(count) * 62_500 / 3)
    }

    /// Whole 48 kHz ticks in this span, cut off towards zero.
    var inTicks: Int {
        Int(inNanoseconds / 1_000 * 6 / 125)
    }
}
