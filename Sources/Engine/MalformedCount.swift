package import Wire

/// Messages of one peer that cannot be read: so many in a second (`Limits.malformedPerSecondMax`) are no accident.
package struct MalformedMessageCounter: Sendable, Hashable {
    private var since: Instant
    private var count = 0

    package init(now: Instant) {
        since = now
    }

    /// Notes one.
    ///
    /// - Returns: whether the peer is to be closed for it.
    package mutating func exceedsLimit(afterMessageAt now: Instant) -> Bool {
        if now - since >= .seconds(1) {
            since = now
            count = 0
        }
        count += 1
        return count >= Limits.malformedPerSecondMax
    }
}
