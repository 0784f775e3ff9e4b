package import Wire

/// Whether a subscriber reads what is sent to it.
///
/// A kernel acknowledges what nobody reads, for many seconds of audio, and shows no sign of it. So the subscriber itself is asked,
/// by a WebSocket ping among the frames: its pong is a receipt for all that was sent before. While a receipt is overdue no
/// media follows; it waits in the outbox, where it can still grow old. A subscriber that reads answers in a round trip and
/// never notices.
///
/// Asking costs a message each way, so it is done only while media flows, and the shard bounds how often in all. When a receipt
/// is overdue follows RFC 6298: smoothed round trip and four times its variation; but two round trips at the least, because a pong that
/// is lost on the way and repaired is no stall. Taken for one, each lost pong would hold up media that nothing is wrong with. A client
/// that has never answered a ping (against RFC 6455 section 5.5.2) is not held to it.
package struct DeliveryProbe: Sendable, Hashable {
    /// How long after one receipt was asked for the next one is due.
    package static let interval: Duration = .milliseconds(40)
    /// Never overdue before this: clients take turns too.
    package static let overdueMin: Duration = .milliseconds(30)

    private static let overdueMax: UInt64 = 500_000_000

    private var number: UInt32 = 0
    private var askedAt: UInt64 = 0
    private var isOutstanding = false
    /// A receipt was once found to be overdue: it stays so until it comes, whatever our own lag is then.
    private var wasOverdue = false
    private var hasAnswered = false
    private var smoothed: UInt64 = 0
    private var variation: UInt64 = 0
    private var overdueAfter = UInt64(DeliveryProbe.overdueMin.inNanoseconds)

    package init() {}

    /// From ping to pong, smoothed: network, kernels and the subscriber's own turn.
    package var roundTrip: Duration { .nanoseconds(Int64(smoothed)) }

    /// Whether to ask, now that media goes out.
    package func isDue(at now: Instant) -> Bool {
        !isOutstanding && now.nanoseconds &- askedAt >= UInt64(Self.interval.inNanoseconds)
    }

    /// Whether media must wait.
    ///
    /// - Parameter ownLag: how late the gateway itself is, which is not the subscriber's fault: its pong may lie unread here.
    package mutating func isOverdue(at now: Instant, ownLag: Duration = .zero) -> Bool {
        guard isOutstanding, isLate(at: now) else { return false }
        if now.nanoseconds > askedAt &+ overdueAfter &+ 3 &* UInt64(ownLag.inNanoseconds) { wasOverdue = true }
        return wasOverdue
    }

    private func isLate(at now: Instant) -> Bool {
        hasAnswered && now.nanoseconds > askedAt &+ overdueAfter
    }

    /// Notes that a ping goes out, and gives its number, which is its payload (4 bytes, big-endian).
    package mutating func nextPing(at now: Instant) -> UInt32 {
        number &+= 1
        askedAt = now.nanoseconds
        isOutstanding = true
        wasOverdue = false
        return number
    }

    /// Takes a pong.
    ///
    /// - Returns: whether it is the receipt that was asked for.
    package mutating func receivePong(_ payload: UnsafeRawBufferPointer, at now: Instant) -> Bool {
        guard isOutstanding, payload.count == 4,
            UInt32(bigEndian: payload.loadUnaligned(as: UInt32.self)) == number
        else { return false }
        // A stall is no sample of the path. But a path that has become slower looks like one, so after each the patience doubles,
        // and the next sample in time sets it anew.
        guard !isLate(at: now) else {
            isOutstanding = false
            overdueAfter = min(overdueAfter * 2, Self.overdueMax)
            return true
        }
        isOutstanding = false
        let sample = now.nanoseconds &- askedAt
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
