/// A token bucket: a rate and a burst. A value; time is an argument.
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

    /// Starts full.
    ///
    /// - Parameters:
    ///   - tokens: of a full bucket, at least 1.
    ///   - span: in which an empty bucket fills.
    package init(_ tokens: Int, per span: Duration) {
        precondition(tokens > 0 && span > .zero, "limits must be positive")
        nanosecondsPerToken = UInt64(span.inNanoseconds) / UInt64(tokens)
        nanosecondsWhenFull = nanosecondsPerToken * UInt64(tokens)
    }

    /// Takes a token if one is left.
    package mutating func take(at now: Instant) -> Bool {
        let next = max(fullAt, now.nanoseconds) + nanosecondsPerToken
        guard next <= now.nanoseconds + nanosecondsWhenFull else { return false }
        fullAt = next
        return true
    }

    /// The time until there is a token; zero or less if there is one.
    fileprivate func wait(at now: Instant) -> Duration {
        .nanoseconds(Int64(fullAt + nanosecondsPerToken) - Int64(now.nanoseconds + nanosecondsWhenFull))
    }
}

/// Token buckets by key, such as an address or a user. A value; time is an argument.
///
/// Memory is limited (`RecentTable`): an attacker with very many addresses is not stopped by a limit per address.
package struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    private let full: TokenBucket
    private var buckets: RecentTable<Key, TokenBucket>

    /// - Parameters:
    ///   - tokens: what a key may take at once, at least 1.
    ///   - span: the time in which as many are allowed again.
    package init(_ tokens: Int, per span: Duration, keysMax: Int = 65_536) {
        full = TokenBucket(tokens, per: span)
        buckets = RecentTable(keeping: keysMax, for: span)
    }

    package var keyCount: Int { buckets.count }

    /// Takes a token from a key's bucket.
    ///
    /// - Returns: nil if there was one; otherwise the time until there is one, above zero.
    package mutating func take(for key: Key, at now: Instant) -> Duration? {
        let now = buckets.advance(to: now)
        var bucket = buckets[key] ?? full
        guard bucket.take(at: now) else { return bucket.wait(at: now) }
        buckets[key] = bucket
        return nil
    }
}

/// Values by key that matter only for a while after they were set, in limited memory. All operations take amortized constant time.
///
/// There are two generations. A new one begins when the newer one is `span` old, or has half of the permitted keys; the older one is
/// forgotten then. So a value is kept for at least `span`, unless there are too many keys.
package struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let span: Duration
    private let keysMax: Int
    private var newer: [Key: Value] = [:]
    private var older: [Key: Value] = [:]
    private var generationEnds: Instant?
    private var latest = Instant(nanoseconds: 0)

    /// - Parameter keysMax: at least 2.
    package init(keeping keysMax: Int, for span: Duration) {
        precondition(keysMax > 1, "a table has room for two keys")
        (self.span, self.keysMax) = (span, keysMax)
    }

    package var count: Int { newer.count + older.count }

    package subscript(key: Key) -> Value? {
        get { newer[key] ?? older[key] }
        set {
            older[key] = nil
            newer[key] = newValue
        }
    }

    /// Call before values are set.
    ///
    /// - Parameter now: may be a little earlier than that of an earlier call, because threads read the clock at different times.
    /// - Returns: the latest time so far.
    package mutating func advance(to now: Instant) -> Instant {
        latest = max(latest, now)
        if let ends = generationEnds, latest < ends, newer.count < keysMax / 2 { return latest }
        older = generationEnds == nil ? [:] : newer
        newer = [:]
        generationEnds = latest + span
        return latest
    }
}
