internal import Histogram

/// A histogram of durations: microsecond resolution, three significant digits, at most a minute.
struct Latencies: Sendable {
    private var histogram = Histogram<UInt32>(
        lowestDiscernibleValue: 1, highestTrackableValue: Self.maxMicroseconds, numberOfSignificantValueDigits: .three)
    private static let maxMicroseconds: UInt64 = 60_000_000
    /// The histogram's own maximum is rounded up.
    private(set) var maxNanoseconds: UInt64 = 0

    var count: Int { Int(histogram.totalCount) }

    mutating func record(nanoseconds: UInt64) {
        if nanoseconds > maxNanoseconds { maxNanoseconds = nanoseconds }
        histogram.record(min(nanoseconds / 1000, Self.maxMicroseconds))
    }

    mutating func reset() {
        histogram.reset()
        maxNanoseconds = 0
    }

    /// In milliseconds; 0 if nothing was recorded.
    func percentile(_ percent: Double) -> Double {
        count == 0 ? 0 : Double(histogram.valueAtPercentile(percent)) / 1000
    }

    var maxMilliseconds: Double { Double(maxNanoseconds) / 1e6 }

    /// The share (0…1) of durations over the limit.
    func share(overMilliseconds limit: UInt64) -> Double {
        guard count > 0 else { return 0 }
        return Double(histogram.count(within: (limit * 1000 + 1)...Self.maxMicroseconds)) / Double(count)
    }

    /// Buckets for a plot, each a quarter wider than the one before: upper bound in milliseconds, and count.
    func buckets() -> [(milliseconds: Double, count: Int)] {
        var buckets: [(milliseconds: Double, count: Int)] = []
        var from: UInt64 = 0
        var to: UInt64 = 20
        while from < Self.maxMicroseconds, count > 0 {
            buckets.append((Double(to) / 1000, Int(histogram.count(within: from...to))))
            from = to + 1
            to = min(Self.maxMicroseconds, to + max(4, to / 4))
        }
        let first = buckets.firstIndex { $0.count > 0 } ?? 0
        let last = buckets.lastIndex { $0.count > 0 } ?? -1
        return last < first ? [] : Array(buckets[first...last])
    }
}
