internal import Engine
internal import Wire

/// Frames sent to and dropped for one participant, and how long they waited.
struct DeliveryStatistics {
    var framesSent: UInt64 = 0
    var framesDropped: UInt64 = 0
    var lateness = LatenessWindow()
    /// The totals at the last report.
    private var reported: (sent: UInt64, dropped: UInt64) = (0, 0)

    init() {}

    /// Continues another connection's totals. Frames dropped while there was no socket are not counted for the new one.
    mutating func continueFrom(sent: UInt64, dropped: UInt64) {
        (framesSent, framesDropped) = (sent, dropped)
        reported = (sent, dropped)
    }

    /// Frames since the last call.
    mutating func takeInterval() -> (sent: UInt64, dropped: UInt64) {
        defer { reported = (framesSent, framesDropped) }
        return (framesSent - reported.sent, framesDropped - reported.dropped)
    }
}

/// A histogram of how long frames waited in the gateway, with buckets of doubling width, so that recording is one increment.
struct LatenessWindow {
    /// Bucket 0 is below 1 ms, bucket n below 2ⁿ ms.
    private var buckets: InlineArray<13, UInt32> = .init(repeating: 0)

    mutating func record(_ wait: Duration) {
        let milliseconds = UInt64(max(0, wait.inMilliseconds))
        let bucket = min(12, UInt64.bitWidth - milliseconds.leadingZeroBitCount)
        buckets[bucket] += 1
    }

    /// Takes an upper bound of the 99th percentile, in milliseconds, and empties the window.
    ///
    /// - Parameter sent: all frames of the window, including those that did not wait.
    mutating func takeP99(sent: UInt64) -> Double {
        defer { buckets = .init(repeating: 0) }
        var queued: UInt64 = 0
        for bucket in buckets.indices { queued += UInt64(buckets[bucket]) }
        let total = max(sent, queued)
        guard queued > 0 else { return 0 }
        var above: UInt64 = 0
        for bucket in buckets.indices.reversed() {
            above += UInt64(buckets[bucket])
            if above * 100 > total { return bucket == 0 ? 1 : Double(1 << bucket) }
        }
        return 0
    }
}
