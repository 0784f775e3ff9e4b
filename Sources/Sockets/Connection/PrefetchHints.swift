internal import CLibwebsockets

/// Addresses of memory that the next message from a connection will read, as the previous one did.
///
/// With hundreds of active connections, cache misses dominate the cost of a frame outside the kernel and the cipher. The lines are requested
/// before the kernel is asked for the message. Addresses are never dereferenced, so they may be stale.
public struct PrefetchHints {
    /// The stages of prefetching what a message to one of many subscribers reads. Each stage needs the one before to have arrived.
    package enum Step {
        case itself, records, cipher
    }

    /// - Parameter lines: of 64 bytes each.
    package static func fetch(_ address: UInt, lines: Int32) {
        unsafe patchbay_prefetch(UnsafeRawPointer(bitPattern: address), lines)
    }

    /// The lines of OpenSSL's AES-GCM context that a record reads: nonce, state, hash table, key schedule.
    package static var cipherLines: Int32 { 15 }
    /// The lines of a connection's record layer.
    package static var recordLines: Int32 { 6 }

    /// Of the sender: connection, opening cipher, member, track.
    private var sender: InlineArray<4, UInt> = .init(repeating: 0)
    private static var senderLines: InlineArray<4, Int32> { [3, cipherLines, 5, 4] }
    /// Of the first subscriber: member, connection, record layer, sealing cipher.
    private var subscriber: InlineArray<4, UInt> = .init(repeating: 0)
    private static var subscriberLines: InlineArray<4, Int32> { [5, 2, recordLines - 1, cipherLines] }

    package init() {}

    /// For a connection whose subscribers are not known yet.
    package init(connection: UInt, cipher: UInt) {
        sender = [connection, cipher, 0, 0]
    }

    init(sender: UInt, track: UInt, subscriber: UInt, connection: UInt, records: UInt, cipher: UInt) {
        self.sender = [0, 0, sender, track]
        self.subscriber = [subscriber, connection, records, cipher]
    }

    /// These hints with the sender's connection and cipher of others.
    package func keepingReceiver(of other: PrefetchHints) -> PrefetchHints {
        var hints = self
        (hints.sender[0], hints.sender[1]) = (other.sender[0], other.sender[1])
        return hints
    }

    package func fetch() {
        for index in 0..<4 { Self.fetch(sender[index], lines: Self.senderLines[index]) }
        for index in 0..<4 { Self.fetch(subscriber[index], lines: Self.subscriberLines[index]) }
    }
}
