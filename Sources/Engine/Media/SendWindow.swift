package import Wire

/// Limits the bytes to a subscriber that are unacknowledged: sent, or queued in the kernel.
///
/// Data in the kernel's send buffer can no longer expire. So media is written only while the unacknowledged bytes fit a window:
/// the bytes that the subscriber receives in two round trips plus 100 ms at its current rate (PROTOCOL, "What delays frames"). A query is a
/// system call (SIOCOUTQ), made only when the writes since the last query could have filled the window.
///
/// The rate counts the bytes acknowledged over at least a round trip. A window that has become too small, after a stall or because more
/// participants talk, doubles with every round trip until the path is used.
package struct SendWindow: Sendable, Hashable {
    package enum Verdict: Sendable, Hashable {
        case send
        /// Query the kernel, call `observe`, then check `hasRoom`.
        case measure
    }

    /// Lower bound, so that a small burst passes without querying the kernel.
    package static let bytesMin = 2_048

    private var writtenSinceQuery = 0
    private var unacknowledged = 0
    /// Start of the rate measurement, and bytes acknowledged since.
    private var measuredFrom = Instant(nanoseconds: 0)
    private var acknowledged = 0
    private var window = SendWindow.bytesMin

    package init() {}

    package var verdict: Verdict { hasRoom ? .send : .measure }

    /// Whether media may be sent, as far as known.
    package var hasRoom: Bool { unacknowledged + writtenSinceQuery <= window }

    /// Records bytes handed to the socket.
    package mutating func recordWrite(_ bytes: Int) {
        writtenSinceQuery += bytes
    }

    /// Updates the window.
    ///
    /// - Parameter unacknowledged: bytes that the peer's kernel has not acknowledged, sent or not.
    package mutating func observe(unacknowledged: Int, roundTrip: Duration, at now: Instant) {
        // Other data, control messages and pings, comes and goes between two queries.
        acknowledged = max(0, acknowledged + self.unacknowledged + writtenSinceQuery - unacknowledged)
        self.unacknowledged = unacknowledged
        writtenSinceQuery = 0
        let elapsed = Int((now - measuredFrom).inMilliseconds)
        let trip = Int(roundTrip.inMilliseconds)
        // Less than a round trip gives no rate, because acknowledgements come in bursts. But it is a lower bound, and the measured
        // round trip may have been a stall, after which the window would stay small for long.
        guard elapsed >= max(20, trip) else {
            if trip > 0 { window = max(window, acknowledged * (2 * trip + 100) / max(20, trip)) }
            return
        }
        // A long pause gives no rate either: the last one is kept.
        if elapsed <= 2_000 { window = max(Self.bytesMin, acknowledged * (2 * trip + 100) / elapsed) }
        measuredFrom = now
        acknowledged = 0
    }
}
