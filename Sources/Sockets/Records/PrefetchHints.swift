internal import CLibwebsockets

/// Memory that the next frame from a connection will look at: the same as the one before.
///
/// With a thousand connections in turn nothing of any of them is at hand when it is needed, and waiting for that is most of what a frame
/// costs beside the kernel and the cipher. So it is asked for before the kernel is asked for the frame, and comes meanwhile. The
/// addresses are never followed, so they may be old. They stand apart from what they lead to, or they would be waited for too.
///
/// Of a frame for many listeners, what the next ones will have us look at comes while the kernel takes it for one (`Step`); so does what is
/// let out next of what was sent ahead.
package struct PrefetchHints {
    /// What a message to a connection looks at, in the order in which one leads to the next.
    package enum Step {
        case itself, records, cipher
    }

    /// - Parameter lines: of 64 bytes each.
    package static func fetch(_ address: UInt, lines: Int32) {
        unsafe patchbay_prefetch(UnsafeRawPointer(bitPattern: address), lines)
    }

    /// Of the one who sends: the connection, the cipher that opens, who it is, the track.
    private var senders: InlineArray<4, UInt> = .init(repeating: 0)
    private static var linesOfSenders: InlineArray<4, Int32> { [3, RecordCipher.cacheLines, 5, 4] }
    /// Of the one who gets it: who it is, the connection, its records, the cipher that seals.
    private var listeners: InlineArray<4, UInt> = .init(repeating: 0)
    private static var linesOfListeners: InlineArray<4, Int32> { [5, 2, 4, RecordCipher.cacheLines] }

    package init() {}

    /// Where it goes is not known yet.
    init(connection: UInt, cipher: UInt) {
        senders = [connection, cipher, 0, 0]
    }

    init(sender: UInt, track: UInt, subscriber: UInt, connection: UInt, records: UInt, cipher: UInt) {
        senders = [0, 0, sender, track]
        listeners = [subscriber, connection, records, cipher]
    }

    /// The same of a frame that comes from a connection.
    func coming(from other: PrefetchHints) -> PrefetchHints {
        var both = self
        (both.senders[0], both.senders[1]) = (other.senders[0], other.senders[1])
        return both
    }

    package func fetch() {
        for index in 0..<4 { Self.fetch(senders[index], lines: Self.linesOfSenders[index]) }
        for index in 0..<4 { Self.fetch(listeners[index], lines: Self.linesOfListeners[index]) }
    }
}
