package import Wire

/// How much of a listener's media may be on its way, so that what a stalled listener does not hear stays in our queue, where
/// it can grow old, and not in the kernel's buffers, where it cannot (PROTOCOL section 5).
///
/// Two things can stall. The *path*: bytes stay unacknowledged, which the kernel tells. The *listener*: its kernel goes on
/// acknowledging what nobody reads, for seconds, and says nothing but that its receive window no longer moves on. So the
/// budget looks at both, and when the window stands still it asks the listener itself: a ping goes out and no media until
/// the pong is back (a *receipt*). A listener that does read answers within a round trip and loses nothing.
///
/// Asking is a system call, so it is done by the clock (every 100 ms while media flows) or when what was written since could
/// alone exceed the budget, never per frame.
package struct SendBudget: Sendable, Hashable {
    /// What may be done with a frame of some size.
    package enum Verdict: Sendable, Hashable {
        case send
        /// Ask the kernel (`observe`), then decide again.
        case ask
        /// Not now: too much is on its way, or a receipt is awaited.
        case wait
    }

    /// What is to be done after the kernel was asked.
    package enum Advice: Sendable, Hashable {
        case nothing
        /// Send a ping and call `pingSent`.
        case ping
    }

    /// Never less than this, so that slow starts and single large frames pass.
    package static let bytesMin = 4_096
    package static let askInterval: Duration = .milliseconds(100)
    /// Media written without the window moving before a receipt is asked for. A window may stand still for a few frames
    /// because peers announce it in steps; some 100 ms of speech is more than that.
    package static let unreadBytesMax = 512
    /// A receipt that does not come is asked for no more than this long; then only the path counts. It is the ping timeout:
    /// a listener that answers no ping for that long is closed.
    private var askedAt = Instant(nanoseconds: 0)
    private var writtenSinceAsk = 0
    private var unacknowledged = 0
    private var budget = SendBudget.bytesMin
    private var windowEnd: UInt64?
    private var writtenSinceWindowMoved = 0
    private var awaitsReceipt = false

    package init() {}

    /// Whether media waits for a pong.
    package var isWaitingForReceipt: Bool { awaitsReceipt }

    @inlinable
    package func verdict(at now: Instant) -> Verdict {
        if isWaitingForReceipt { return .wait }
        return mayWrite(at: now)
    }

    @usableFromInline
    package func mayWrite(at now: Instant) -> Verdict {
        if now.nanoseconds &- askedAt.nanoseconds >= 100_000_000 || unacknowledged + writtenSinceAsk > budget { return .ask }
        return .send
    }

    /// Notes bytes that were handed to the socket.
    package mutating func wrote(_ bytes: Int) {
        writtenSinceAsk += bytes
        writtenSinceWindowMoved += bytes
    }

    /// Takes what the kernel says.
    ///
    /// - Parameters:
    ///   - unacknowledged: bytes sent or waiting that the peer's kernel has not confirmed.
    ///   - windowEnd: where the peer's receive window ends, counted from the first byte; nil if the kernel does not tell.
    package mutating func observe(unacknowledged: Int, windowEnd: UInt64?, roundTrip: Duration, at now: Instant) -> Advice {
        let elapsed = max(1, (now - askedAt).inMilliseconds)
        // What the listener gets in two round trips and 100 ms, at the rate of the last interval.
        let span = 2 * roundTrip.inMilliseconds + 100
        if elapsed <= 1_000 { budget = max(Self.bytesMin, writtenSinceAsk * Int(span) / Int(elapsed)) }
        askedAt = now
        self.unacknowledged = unacknowledged
        writtenSinceAsk = 0
        guard let windowEnd else { return .nothing }
        if windowEnd != self.windowEnd {
            self.windowEnd = windowEnd
            writtenSinceWindowMoved = 0
            return .nothing
        }
        return writtenSinceWindowMoved > Self.unreadBytesMax && !awaitsReceipt ? .ping : .nothing
    }

    /// Whether media may go after `observe`.
    package var hasRoom: Bool { !awaitsReceipt && unacknowledged + writtenSinceAsk <= budget }

    package mutating func pingSent() {
        awaitsReceipt = true
    }

    /// The listener has read everything up to our ping.
    package mutating func receiptCame() {
        awaitsReceipt = false
        writtenSinceWindowMoved = 0
    }
}
