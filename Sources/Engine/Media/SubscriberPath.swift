package import Wire

/// Measures whether a subscriber reads what is sent to it, by WebSocket pings among the frames.
///
/// A kernel acknowledges seconds of audio that the application never reads. A pong proves that everything before the ping was read.
/// While a pong is overdue no media is sent; it waits in the outbox, where it can expire. A subscriber that reads answers within a
/// round trip and notices nothing.
///
/// Probes are sent only while media flows, and the shard limits their rate. A pong is overdue as in RFC 6298 (smoothed round trip
/// plus four times its variation), but not before two round trips: a pong that is lost and retransmitted is no stall. Clients that
/// never answer pings (against RFC 6455 section 5.5.2) are exempt.
package struct DeliveryProbe: Sendable, Hashable {
    /// Minimum time between probes.
    package static let interval: Duration = .milliseconds(40)
    /// Lower bound: clients process in batches too.
    package static let overdueMin: Duration = .milliseconds(30)

    private static let overdueMax: UInt64 = 500_000_000

    private var number: UInt32 = 0
    private var sentAt: UInt64 = 0
    private var isOutstanding = false
    /// The current probe was found overdue, and stays so until its pong arrives, whatever the gateway's own lag.
    private var wasOverdue = false
    private var hasAnswered = false
    private var smoothed: UInt64 = 0
    private var variation: UInt64 = 0
    private var overdueAfter = UInt64(DeliveryProbe.overdueMin.inNanoseconds)

    package init() {}

    /// Smoothed time from ping to pong: network, kernels and the client's event loop.
    package var roundTrip: Duration { .nanoseconds(Int64(smoothed)) }

    /// Whether to send a probe along with media.
    package func isDue(at now: Instant) -> Bool {
        !isOutstanding && now.nanoseconds &- sentAt >= UInt64(Self.interval.inNanoseconds)
    }

    /// Whether media must wait.
    ///
    /// - Parameter ownLag: how late the gateway itself is; the pong may be unread here.
    package mutating func isOverdue(at now: Instant, ownLag: Duration = .zero) -> Bool {
        guard isOutstanding, isLate(at: now) else { return false }
        if now.nanoseconds > sentAt &+ overdueAfter &+ 3 &* UInt64(ownLag.inNanoseconds) { wasOverdue = true }
        return wasOverdue
    }

    private func isLate(at now: Instant) -> Bool {
        hasAnswered && now.nanoseconds > sentAt &+ overdueAfter
    }

    /// Starts a probe and returns its number, the ping's payload (4 bytes, big-endian).
    package mutating func nextPing(at now: Instant) -> UInt32 {
        number &+= 1
        sentAt = now.nanoseconds
        isOutstanding = true
        wasOverdue = false
        return number
    }

    /// Handles a pong.
    ///
    /// - Returns: whether it belongs to the current probe.
    package mutating func receivePong(_ payload: UnsafeRawBufferPointer, at now: Instant) -> Bool {
        guard isOutstanding, payload.count == 4,
            UInt32(bigEndian: payload.loadUnaligned(as: UInt32.self)) == number
        else { return false }
        // A stall is no sample of the path. But a slower path looks the same, so the timeout doubles after each, until a sample in
        // time resets it.
        guard !isLate(at: now) else {
            isOutstanding = false
            overdueAfter = min(overdueAfter * 2, Self.overdueMax)
            return true
        }
        isOutstanding = false
        let sample = now.nanoseconds &- sentAt
        if hasAnswered {
            let deviation = sample > smoothed ? sample - smoothed : smoothed - sample
            variation = (3 * variation + deviation) / 4
            smoothed = (7 * smoothed + sample) / 8
        } else {
            hasAnswered = true
            smoothed = sample
            variation = sample / 2
        }
        overdueAfter = min(max(smoothed + 4 * variation, 2 * smoothed, UInt64(Self.overdueMin.inNanoseconds)), Self.overdueMax)
        return true
    }
}

/// Limits the bytes to a subscriber that are unacknowledged: sent, or queued in the kernel.
///
/// Data in the kernel's send buffer can no longer expire. So media is written only while the unacknowledged bytes fit a window: the bytes
/// that the subscriber receives in two round trips plus 100 ms at its current rate (docs/protocol/media.md, "What delays frames"). A query
/// is a system call (SIOCOUTQ), made only when the writes since the last query could have filled the window.
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
