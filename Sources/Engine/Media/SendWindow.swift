package import Wire

/// How many bytes to a subscriber may be on their way: sent or waiting in the kernel, and not acknowledged.
///
/// The kernel's send buffer would take seconds of audio from us that the path does not carry; what is in there can no longer
/// grow old. So media goes to the kernel only while what it holds is under a window: what the subscriber gets in two round trips
/// and 100 ms, at its present rate (PROTOCOL section 5). Asking the kernel is a system call (SIOCOUTQ), so it is asked only when what
/// was written since the last time could have used the window up.
///
/// The rate is what was acknowledged over a round trip or more, however often the kernel is asked meanwhile: a window that has
/// become too small, after a stall or because more people talk, doubles with every round trip until the path is used.
package struct SendWindow: Sendable, Hashable {
    package enum Verdict: Sendable, Hashable {
        case send
        /// Ask the kernel, tell `observe`, and see `hasRoom`.
        case measure
    }

    /// Never less than this, so that a burst of a few frames passes and the kernel is not asked for every one.
    package static let bytesMin = 2_048

    private var writtenSinceAsk = 0
    private var unacknowledged = 0
    /// Since when the rate is measured, and what was acknowledged since then.
    private var measuredFrom = Instant(nanoseconds: 0)
    private var acknowledged = 0
    private var window = SendWindow.bytesMin

    package init() {}

    package var verdict: Verdict { hasRoom ? .send : .measure }

    /// Whether media may go, as far as is known.
    package var hasRoom: Bool { unacknowledged + writtenSinceAsk <= window }

    /// Notes bytes that were handed to the socket.
    package mutating func recordWrite(_ bytes: Int) {
        writtenSinceAsk += bytes
    }

    /// Takes what the kernel says.
    ///
    /// - Parameter unacknowledged: bytes that the peer's kernel has not confirmed, sent or not.
    package mutating func observe(unacknowledged: Int, roundTrip: Duration, at now: Instant) {
        // What else the kernel holds, control messages and pings, comes and goes between two looks.
        acknowledged = max(0, acknowledged + self.unacknowledged + writtenSinceAsk - unacknowledged)
        self.unacknowledged = unacknowledged
        writtenSinceAsk = 0
        let elapsed = Int((now - measuredFrom).inMilliseconds)
        let trip = Int(roundTrip.inMilliseconds)
        // A rate over less than a round trip is none: acknowledgements come in bursts. But it will not be less than this; and what is
        // taken for a round trip may have been a stall, after which the window would stay what it is for long.
        guard elapsed >= max(20, trip) else {
            if trip > 0 { window = max(window, acknowledged * (2 * trip + 100) / max(20, trip)) }
            return
        }
        // Over a long while it is none either: after a pause the last one stands.
        if elapsed <= 2_000 { window = max(Self.bytesMin, acknowledged * (2 * trip + 100) / elapsed) }
        measuredFrom = now
        acknowledged = 0
    }
}
