internal import Foundation
internal import Wire

/// The share of time for which a shard's thread uses a processor, from 0 to 1, smoothed over about 5 s.
///
/// A pure value; times are arguments.
struct BusyRatio: Sendable {
    /// The minimum time between two measurements.
    static let interval = Duration.seconds(1)
    /// A measurement over this time replaces all earlier ones.
    static let span = Duration.seconds(5)

    private(set) var value = 0.0
    private var last: (cpuTime: Duration, at: Instant)?

    /// Cheap enough for each tick.
    func isDue(at now: Instant) -> Bool { last.map { now - $0.at >= Self.interval } ?? true }

    /// - Parameter cpuTime: of the thread, since it started.
    mutating func measured(cpuTime: Duration, at now: Instant) {
        defer { last = (cpuTime, now) }
        guard let last, now > last.at else { return }
        let elapsed = now - last.at
        let ratio = min(max((cpuTime - last.cpuTime) / elapsed, 0), 1)
        value += (ratio - value) * min(elapsed / Self.span, 1)
    }

    /// The CPU time of the calling thread, user and system; nil if the system does not tell.
    static var threadTime: Duration? {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
