package import Wire

/// Limits failures, such as wrong tokens and passwords: a key with 20 failures in the last 60 seconds is refused (HTTP 429). A value; time is
/// an argument.
///
/// A key is the text that identifies a source or a target: an IPv4 address, the /64 prefix of an IPv6 address, an account. Successful attempts do
/// not count, so a busy office behind one address is not limited. An attempt whose outcome takes time is reserved: it counts as a failure until
/// it is settled, so that attempts made at once cannot exceed the limit.
///
/// Keeps at most 65,536 keys, about 20 MB (`RecentTable`).
package struct FailureLimiter: Sendable {
    /// Attempts in progress, which count as failures.
    package struct Reservation: Sendable {
        package let keys: [String]
        /// Attempts per key.
        package let count: Int
        fileprivate let at: Instant
    }

    /// Failures in the last 60 seconds after which a key is refused.
    package static let failuresMax = 20

    private var windows: RecentTable<String, FailureWindow>
    /// Reservations in progress by key.
    private var pending: [String: Int] = [:]

    package init(keysMax: Int = 65_536) {
        windows = RecentTable(keeping: keysMax, for: FailureWindow.span)
    }

    package var keyCount: Int { windows.count }

    /// The time until an attempt is allowed, at most 60 seconds; nil if it is allowed now.
    package func wait(for key: String, at now: Instant) -> Duration? { windows[key]?.remainingBan(at: now) }

    /// Records a failure, replacing the oldest if the window is full.
    package mutating func recordFailure(of key: String, at now: Instant) {
        let now = windows.advance(to: now)
        var window = windows[key] ?? FailureWindow()
        window.record(at: now)
        windows[key] = window
    }

    // MARK: Attempts that take time

    /// Counts `count` attempts, or as many as are left, as failures of each key.
    ///
    /// - Returns: nil if one of the keys is over its limit.
    package mutating func reserve(_ count: Int, for keys: [String], at now: Instant) -> Reservation? {
        let now = windows.advance(to: now)
        let left = keys.map { FailureWindow.failuresMax - (windows[$0]?.recentCount(at: now) ?? 0) }.min() ?? count
        guard left > 0 else { return nil }
        let reservation = Reservation(keys: keys, count: min(count, left), at: now)
        for key in keys {
            pending[key, default: 0] += 1
            for _ in 0..<reservation.count { recordFailure(of: key, at: now) }
        }
        return reservation
    }

    /// - Parameter failures: attempts that have failed; may be more than were reserved.
    package mutating func settle(_ reservation: Reservation, failures: Int, at now: Instant) {
        for key in reservation.keys {
            pending[key] = pending[key].flatMap { $0 > 1 ? $0 - 1 : nil }
            for _ in 0..<max(0, reservation.count - failures) { withdrawFailure(of: key, at: reservation.at) }
            for _ in 0..<max(0, failures - reservation.count) { recordFailure(of: key, at: now) }
        }
    }

    /// Whether attempts with this key are in progress.
    package func hasPending(_ key: String) -> Bool { pending[key] != nil }

    /// Removes a failure that was recorded for this instant, if it is still known.
    private mutating func withdrawFailure(of key: String, at instant: Instant) {
        guard var window = windows[key] else { return }
        window.withdraw(at: instant)
        windows[key] = window.isEmpty ? nil : window
    }
}

/// The times of a key's last failures, in a ring of as many as are allowed.
private struct FailureWindow: Sendable {
    /// Failures within `span` after which a key is limited (docs/protocol/connecting.md, "Rejected connections").
    static let failuresMax = FailureLimiter.failuresMax
    static let span = Duration.seconds(60)

    private var instants = InlineArray<20, Instant>(repeating: Instant(nanoseconds: 0))
    private var count = 0
    /// Index of the next failure, and of the oldest once the ring is full.
    private var next = 0

    /// Notes a failure. In a full ring the oldest makes room: only the last `failuresMax` matter.
    mutating func record(at now: Instant) {
        instants[next] = now
        next = (next + 1) % Self.failuresMax
        count = min(count + 1, Self.failuresMax)
    }

    var isEmpty: Bool { count == 0 }

    /// The failures of the last `span`.
    func recentCount(at now: Instant) -> Int {
        (0..<count).count { now - instants[position(ofNewest: $0)] < Self.span }
    }

    /// Removes the newest failure of this instant.
    mutating func withdraw(at instant: Instant) {
        guard let age = (0..<count).first(where: { instants[position(ofNewest: $0)] == instant }) else { return }
        for age in (0..<age).reversed() { instants[position(ofNewest: age + 1)] = instants[position(ofNewest: age)] }
        next = (next + Self.failuresMax - 1) % Self.failuresMax
        count -= 1
    }

    /// - Parameter age: 0 for the last failure.
    private func position(ofNewest age: Int) -> Int { (next + 2 * Self.failuresMax - 1 - age) % Self.failuresMax }

    /// Time until an attempt is allowed, at most `span`; nil if it is allowed now.
    func remainingBan(at now: Instant) -> Duration? {
        guard count == Self.failuresMax else { return nil }
        let remaining = Self.span - (now - instants[next])
        return remaining > .zero ? min(remaining, Self.span) : nil
    }
}
