internal import CLibwebsockets
internal import Glibc

/// The way that the bytes of one socket take: plain, through OpenSSL, or through records of our own.
///
/// A write never waits: what the socket does not take stays in `unsent`, until `flush`. Callers bound it, because none starts a message
/// while there is something. Receiving is two steps, so that what one `recv` brings is processed before the next: `receive`, then `next`
/// until there is nothing more.
///
/// This class is the plain way; subclasses override.
@safe class ByteStream {
    /// The socket; closed by its `EdgeConnection`.
    let descriptor: Int32
    /// Not retained: the loop keeps it longer than its connections.
    let buffers: Unmanaged<StreamBuffers>
    /// Bytes that the socket has not taken.
    @exclusivity(unchecked) final var unsent: [UInt8] = []
    /// Received bytes that have not been taken. They lie in the loop's buffer, so they are valid only until the next socket is served.
    @exclusivity(unchecked) final var arrived = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)

    init(descriptor: Int32, buffers: StreamBuffers) {
        self.descriptor = descriptor
        unsafe self.buffers = unsafe Unmanaged.passUnretained(buffers)
    }

    enum Arrival {
        case bytes, nothing
        /// The peer has ended its side, without an alert of TLS.
        case end
        /// The connection is broken, for example reset.
        case broken
    }

    @safe enum Piece {
        /// Valid until the next call. At least `headroom` bytes before it may be overwritten.
        case content(UnsafeMutableRawBufferPointer)
        case nothing
        /// The peer has ended its side.
        case end
        /// The connection is broken, or the peer has violated TLS. An alert has been written if one is due.
        case broken
        /// The first byte is that of an HTTP request and not of a ClientHello. It is in `arrived`.
        case notTLS
    }

    // MARK: Receiving

    /// Reads what the socket has, up to the size of the loop's buffer.
    final func receive() -> Arrival {
        let buffer = unsafe buffers._withUnsafeGuaranteedRef { unsafe $0.received }
        let kept = unsafe takeKept(into: buffer)
        let count = unsafe recv(descriptor, buffer + kept, StreamBuffers.receivedMax - kept, 0)
        guard count > 0 else {
            if kept > 0 {
                unsafe arrived = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: kept)
                keep()
            }
            if count == 0 { return .end }
            return errno == EAGAIN || errno == EINTR ? .nothing : .broken
        }
        unsafe arrived = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: kept + count)
        return .bytes
    }

    /// Takes the next content of what has arrived. After `nothing`, `arrived` is empty.
    func next() -> Piece {
        let content = unsafe arrived
        guard unsafe !content.isEmpty else { return .nothing }
        unsafe arrived = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
        return unsafe .content(content)
    }

    /// Copies bytes kept from earlier reads to the front of the buffer.
    ///
    /// - Returns: how many.
    func takeKept(into buffer: UnsafeMutableRawPointer) -> Int { 0 }
    /// Keeps the bytes of `arrived` until the next `receive`.
    func keep() {}
    /// Whether more than one piece has probably arrived.
    var hasSeveral: Bool { false }

    // MARK: Sending

    /// Whether bytes of an earlier write wait for the socket.
    final var isCongested: Bool { unsafe !unsent.isEmpty }

    /// Writes content.
    ///
    /// - Parameter ping: the payload of a WebSocket ping that leaves with it.
    /// - Returns: false if the connection is dead.
    func write(_ content: UnsafeRawBufferPointer, followedByPing ping: UInt32? = nil) -> Bool {
        guard let ping else { return unsafe offer(content) }
        return unsafe withPing(ping, after: content) { unsafe offer($0) }
    }

    /// Ends this side's content (for TLS, by `close_notify`).
    func end() {}

    /// Content and a ping in one piece.
    final func withPing(_ ping: UInt32, after content: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        unsafe withUnsafeTemporaryAllocation(byteCount: content.count + Ping.bytes, alignment: 16) { room in
            unsafe room.copyMemory(from: content)
            unsafe Ping.write(ping, to: room.baseAddress! + content.count)
            return unsafe body(UnsafeRawBufferPointer(room))
        }
    }

    /// Gives bytes to the socket, and keeps what it does not take. False if the connection is dead.
    final func offer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var sent = 0
        if unsafe unsent.isEmpty {
            sent = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if sent == bytes.count { return true }
            if sent < 0 {
                guard errno == EAGAIN || errno == EINTR else { return false }
                sent = 0
            }
        }
        unsafe unsent.append(contentsOf: bytes[sent...])
        return true
    }

    /// Gives the socket what it did not take before. False if the connection is dead.
    final func flush() -> Bool {
        guard unsafe !unsent.isEmpty else { return true }
        let sent = unsafe unsent.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if sent < 0 { return errno == EAGAIN || errno == EINTR }
        if unsafe sent == unsent.count { unsafe unsent = [] } else { unsafe unsent.removeFirst(sent) }
        return true
    }

    // MARK: Prefetching

    /// The memory that opening and sealing a record reads; 0 if unknown.
    var openingAddress: UInt { 0 }
    var sealingAddress: UInt { 0 }
}

/// The ping that a message may take along (RFC 6455 section 5.5.2).
enum Ping {
    static var bytes: Int { 6 }

    static func write(_ number: UInt32, to start: UnsafeMutableRawPointer) {
        unsafe start.storeBytes(of: 0x80 | WebSocketOpcode.ping.rawValue, as: UInt8.self)
        unsafe start.storeBytes(of: UInt8(MemoryLayout<UInt32>.size), toByteOffset: 1, as: UInt8.self)
        unsafe start.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt32.self)
    }
}
