package import Wire

/// A token bucket: a rate per second and a burst.
package struct TokenBucket: Sendable, Hashable {
    private let nanosecondsPerToken: UInt64
    private let nanosecondsWhenFull: UInt64
    /// When the bucket will be full: never in the past, at most a full bucket ahead.
    private var fullAt: UInt64 = 0

    /// Starts full.
    package init(perSecond: Int, burst: Int) {
        nanosecondsPerToken = 1_000_000_000 / UInt64(perSecond)
        nanosecondsWhenFull = nanosecondsPerToken * UInt64(burst)
    }

    /// Takes a token if one is left.
    package mutating func take(at now: Instant) -> Bool {
        let next = max(fullAt, now.nanoseconds) + nanosecondsPerToken
        guard next <= now.nanoseconds + nanosecondsWhenFull else { return false }
        fullAt = next
        return true
    }
}

/// Counts malformed messages of one peer; `Limits.malformedPerSecondMax` in a second close it.
package struct MalformedMessageCounter: Sendable, Hashable {
    private var since: Instant
    private var count = 0

    package init(now: Instant) {
        since = now
    }

    /// Counts a message.
    ///
    /// - Returns: whether to close the peer.
    package mutating func exceedsLimit(afterMessageAt now: Instant) -> Bool {
        if now - since >= .seconds(1) {
            since = now
            count = 0
        }
        count += 1
        return count >= Limits.malformedPerSecondMax
    }
}
