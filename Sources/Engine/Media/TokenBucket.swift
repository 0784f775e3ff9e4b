package import Wire

/// So many a second, and so many at once.
package struct TokenBucket: Sendable, Hashable {
    private let nanosecondsPerToken: UInt64
    private let burst: UInt64
    /// The time up to which tokens have been taken; it lags behind now by what is left, at most a full bucket.
    private var spentUntil: UInt64 = 0

    /// Starts full.
    package init(perSecond: Int, burst: Int) {
        nanosecondsPerToken = 1_000_000_000 / UInt64(perSecond)
        self.burst = UInt64(burst)
    }

    /// Takes a token if there is one.
    package mutating func take(at now: Instant) -> Bool {
        let full = nanosecondsPerToken * burst
        let earliest = now.nanoseconds > full ? now.nanoseconds - full : 0
        let next = max(spentUntil, earliest) + nanosecondsPerToken
        // Instants start near zero, where a full bucket reaches back before the start.
        guard next <= max(now.nanoseconds, full) else { return false }
        spentUntil = next
        return true
    }
}
