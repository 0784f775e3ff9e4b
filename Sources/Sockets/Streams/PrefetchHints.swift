internal import CLibwebsockets

/// Addresses of memory that the next message from a connection will read, as the previous one did.
///
/// With hundreds of active connections, cache misses dominate the cost of a frame outside the kernel and the cipher. The lines are requested
/// before the kernel is asked for the message. Addresses are never dereferenced, so they may be stale.
package struct PrefetchHints {
    /// The stages of prefetching what a message to one of many subscribers reads. Each stage needs the one before to have arrived.
    package enum Step {
        case itself, stream, cipher
    }

    /// - Parameter lines: of 64 bytes each.
    package static func fetch(_ address: UInt, lines: Int32) {
        unsafe patchbay_prefetch(UnsafeRawPointer(bitPattern: address), lines)
    }

    /// The lines of OpenSSL's AES-GCM context that a record reads: nonce, state, hash table, key schedule.
    package static var cipherLines: Int32 { 15 }
    /// The lines of a connection's stream.
    package static var streamLines: Int32 { 5 }

    /// Of the sender: connection, stream, opening cipher, member, track.
    private var sender: InlineArray<5, UInt> = .init(repeating: 0)
    private static var senderLines: InlineArray<5, Int32> { [3, streamLines, cipherLines, 5, 4] }
    /// Of the first subscriber: member, connection, stream, sealing cipher.
    private var subscriber: InlineArray<4, UInt> = .init(repeating: 0)
    private static var subscriberLines: InlineArray<4, Int32> { [5, 2, streamLines, cipherLines] }

    package init() {}

    /// For a connection whose subscribers are not known yet.
    init(of connection: Connection, on stream: ByteStream) {
        sender = [Self.address(of: connection), Self.address(of: stream), stream.openingAddress, 0, 0]
    }

    /// For a connection whose messages go to another one.
    init(of end: TunnelEnd, on stream: ByteStream, to other: EdgeConnection) {
        sender = [Self.address(of: end), Self.address(of: stream), stream.openingAddress, 0, 0]
        let otherStream = unsafe other.stream
        subscriber = [Self.address(of: other), 0, Self.address(of: otherStream), otherStream.sealingAddress]
    }

    /// The hints for sending a frame to the first subscriber of a track.
    fileprivate init(sender: UInt, track: UInt, subscriber: UInt, connection: UInt, stream: UInt, cipher: UInt) {
        self.sender = [0, 0, 0, sender, track]
        self.subscriber = [subscriber, connection, stream, cipher]
    }

    private static func address(of object: some AnyObject) -> UInt { unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) }

    /// These hints with the receiving side's memory of others.
    func keepingReceiver(of other: PrefetchHints) -> PrefetchHints {
        var hints = self
        for index in 0..<3 { hints.sender[index] = other.sender[index] }
        return hints
    }

    func fetch() {
        for index in 0..<5 { Self.fetch(sender[index], lines: Self.senderLines[index]) }
        for index in 0..<4 { Self.fetch(subscriber[index], lines: Self.subscriberLines[index]) }
    }
}

// MARK: The memory of connections

extension Connection {
    /// The memory that a frame to this connection reads.
    ///
    /// - Parameters:
    ///   - sender: the address of the sender's state; `track`, of its track's.
    ///   - subscriber: the address of the subscriber's state.
    package func prefetchHints(sender: UInt, track: UInt, subscriber: UInt) -> PrefetchHints? {
        guard let stream = unsafe link?.stream else { return nil }
        return unsafe PrefetchHints(
            sender: sender, track: track, subscriber: subscriber,
            connection: UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), stream: UInt(bitPattern: stream.toOpaque()),
            cipher: stream._withUnsafeGuaranteedRef { $0.sealingAddress })
    }

    /// The next message from this connection will read this memory.
    package func prefetch(_ hints: PrefetchHints) {
        unsafe link?.edge._withUnsafeGuaranteedRef { $0.prefetch(hints) }
    }

    package func prefetch(_ step: PrefetchHints.Step) {
        switch step {
        case .itself: PrefetchHints.fetch(unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), lines: 3)
        case .stream:
            guard let stream = unsafe link?.stream else { return }
            PrefetchHints.fetch(unsafe UInt(bitPattern: stream.toOpaque()), lines: PrefetchHints.streamLines)
        case .cipher:
            guard let stream = unsafe link?.stream else { return }
            PrefetchHints.fetch(unsafe stream._withUnsafeGuaranteedRef { $0.sealingAddress }, lines: PrefetchHints.cipherLines)
        }
    }
}
