package import Wire

/// So many a second, and so many at once.
package struct TokenBucket: Sendable, Hashable {
    private let nanosecondsPerToken: UInt64
    private let nanosecondsWhenFull: UInt64
    /// When the bucket will be full again: never in the past, at most a full bucket ahead.
    private var fullAt: UInt64 = 0

    /// Starts full.
    package init(perSecond: Int, burst: Int) {
        nanosecondsPerToken = 1_000_000_000 / UInt64(perSecond)
        nanosecondsWhenFull = nanosecondsPerToken * UInt64(burst)
    }

    /// Takes a token if there is one.
    package mutating func take(at now: Instant) -> Bool {
        let next = max(fullAt, now.nanoseconds) + nanosecondsPerToken
        guard next <= now.nanoseconds + nanosecondsWhenFull else { return false }
        fullAt = next
        return true
    }
}
