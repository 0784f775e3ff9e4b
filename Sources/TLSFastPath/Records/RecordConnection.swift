internal import CLibwebsockets
internal import COpenSSL
internal import Glibc
internal import Sockets
internal import Wire

/// A WebSocket connection whose TLS records are sealed and opened here instead of by OpenSSL, from the upgrade on (RFC 8446 section 5).
///
/// Messages are written past libwebsockets, and records of whole messages are read past it. Everything else libwebsockets goes on reading
/// and writing as before: its calls to OpenSSL are answered from here (`InterposedTLS`).
@safe final class RecordConnection: InterposedConnection {
    /// Not retained: the loop's layer outlives its connections.
    let common: Unmanaged<FastPathLoop>
    @exclusivity(unchecked) var ciphers: RecordCiphers
    @exclusivity(unchecked) var reader = RecordReader()
    @exclusivity(unchecked) var writer = RecordWriter()
    @exclusivity(unchecked) private(set) var hints: PrefetchHints

    init(wsi: OpaquePointer, connection: Connection, loop: FastPathLoop, ciphers: consuming RecordCiphers) {
        unsafe common = unsafe Unmanaged.passUnretained(loop)
        unsafe hints = unsafe PrefetchHints(
            connection: UInt(bitPattern: Unmanaged.passUnretained(connection).toOpaque()), cipher: ciphers.opening.address)
        unsafe self.ciphers = ciphers
        unsafe super.init(wsi: wsi, connection: connection, writesDirectly: true)
    }

    deinit {
        unsafe reader.own?.deallocate()
    }

    override func detached() {
        if unsafe reader.ending == nil { unsafe reader.ending = .cut }
        unsafe reader.count = 0
        unsafe writer.deadline = nil
        super.detached()
        loop.forget(self)
    }

    /// For calls that are not made per frame: those avoid its reference count.
    var loop: FastPathLoop { unsafe common.takeUnretainedValue() }

    // MARK: Prefetching

    override func setPrefetchHints(_ hints: PrefetchHints) { unsafe self.hints = unsafe hints.keepingReceiver(of: self.hints) }
    override var sealingCipherAddress: UInt { unsafe ciphers.sealing.address }
    override func prefetchSealingCipher() { unsafe ciphers.sealing.prefetch() }

    // MARK: OpenSSL's functions

    override func sslRead(_ ssl: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int32 {
        unsafe readPlain(buffer, count)
    }

    override func sslWrite(_ ssl: UnsafeMutableRawPointer, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard unsafe write(bytes, .now) else { return -1 }
        unsafe noteWritten(bytes)
        return Int32(bytes.count)
    }

    override func sslPending(_ ssl: UnsafeMutableRawPointer) -> Int32 { Int32(pending) }

    override func sslWant(_ ssl: UnsafeMutableRawPointer) -> Int32 {
        // A write never waits.
        unsafe reader.ending == nil ? SSL_READING : SSL_NOTHING
    }

    override func sslShutdown(_ ssl: UnsafeMutableRawPointer) -> Int32 { shutDown() }
    override func sslError(_ ssl: UnsafeMutableRawPointer, _ result: Int32) -> Int32 { error(of: result) }

    override func holdInput() {
        super.holdInput()
        unsafe (reader.plain, reader.plainTaken) = ([], 0)
    }

    // MARK: Messages

    override var isCongested: Bool { unsafe !writer.unsent.isEmpty }

    /// From now on libwebsockets reads everything, because flow control may stop it in the middle of data already read.
    override func readThroughLibrary() {
        unsafe reader.readsMessages = false
    }

    /// Writes one whole message as a server, which does not mask; the header goes into the 10 bytes before it.
    override func write(
        _ opcode: WebSocketOpcode, _ message: UnsafeMutableRawPointer, _ count: Int, _ timing: FlushTiming, followedByPing ping: UInt32?
    ) -> Bool {
        let start: UnsafeMutableRawPointer
        if count < 126 {
            unsafe start = unsafe message - 2
            unsafe start.storeBytes(of: UInt8(count), toByteOffset: 1, as: UInt8.self)
        } else if count < 65_536 {
            unsafe start = unsafe message - 4
            unsafe start.storeBytes(of: 126, toByteOffset: 1, as: UInt8.self)
            unsafe start.storeBytes(of: UInt16(count).bigEndian, toByteOffset: 2, as: UInt16.self)
        } else {
            unsafe start = unsafe message - 10
            unsafe start.storeBytes(of: 127, toByteOffset: 1, as: UInt8.self)
            unsafe start.storeBytes(of: UInt64(count).bigEndian, toByteOffset: 2, as: UInt64.self)
        }
        unsafe start.storeBytes(of: 0x80 | opcode.rawValue, as: UInt8.self)
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: message + count - start)
        return unsafe write(bytes, timing, followedByPing: ping)
    }

    /// - Returns: whether nothing is left unsent; otherwise libwebsockets reports when the socket takes more.
    override func flush() -> Bool {
        guard unsafe wsi != nil else { return true }
        sealDeferred()
        guard unsafe !writer.unsent.isEmpty else { return true }
        let sent = unsafe writer.unsent.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if unsafe sent == writer.unsent.count {
            unsafe writer.unsent = []
            return true
        }
        // libwebsockets finds a broken connection when it reads.
        if sent > 0 { unsafe writer.unsent.removeFirst(sent) }
        askForWritable()
        return false
    }

    /// Flushes at the end of a batch or turn, unless the deferred messages may wait longer.
    func flushTurn() {
        if unsafe !writer.deferred.isEmpty && writer.deadline == nil { _ = flush() }
    }

    /// Flushes what cannot wait until `next`.
    ///
    /// - Returns: whether something is still deferred.
    func flushDelayed(unlessAfter next: Instant) -> Bool {
        guard let deadline = unsafe writer.deadline else { return false }
        if deadline >= next { return true }
        _ = flush()
        return false
    }

    // MARK: Records

    /// Seals bytes and writes them to the socket; bytes that it does not accept stay in `writer.unsent`.
    ///
    /// - Returns: false if the connection is dead.
    func write(_ content: UnsafeRawBufferPointer, _ timing: FlushTiming, followedByPing ping: UInt32? = nil) -> Bool {
        if unsafe writer.owesKeyUpdate || ciphers.sealing.sequence >= Self.recordsPerKeyMax, !updateKey() { return false }
        switch timing {
        case .turn where unsafe deferWrite(content, followedByPing: ping): return true
        case .delayed(let milliseconds) where unsafe deferWrite(content, followedByPing: ping, milliseconds: milliseconds): return true
        case .batch where unsafe (isInBatch || !writer.deferred.isEmpty) && deferWrite(content, followedByPing: ping):
            // Earlier messages were deferred to the end of the turn; this one takes them along now.
            if !isInBatch { flushTurn() }
            return true
        default: break
        }
        var rest = unsafe content
        repeat {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(RecordCipher.contentMax - Self.pingBytes))
            let isLast = piece.count == rest.count
            guard unsafe send(piece, of: .applicationData, followedByPing: isLast ? ping : nil) else {
                if unsafe reader.ending == nil { unsafe reader.ending = .cut }
                return false
            }
            unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        } while unsafe !rest.isEmpty
        return true
    }

    /// Sends an alert on a best-effort basis.
    func send(_ alert: TLSAlert) {
        unsafe writer.hasSentAlert = true
        let level: UInt8 = alert == .closeNotify ? 1 : 2
        unsafe withUnsafeBytes(of: (level, alert.rawValue)) { _ = unsafe send($0, of: .alert) }
    }

    /// Below the 2^24.5 records that one AES-GCM key is good for (RFC 8446 section 5.5).
    private static var recordsPerKeyMax: UInt64 { 1 << 24 }

    private func updateKey() -> Bool {
        unsafe writer.owesKeyUpdate = false
        // key_update, three bytes of length, update_not_requested.
        let isSent = unsafe withUnsafeBytes(of: (HandshakeMessage.keyUpdate, UInt8(0), UInt8(0), UInt8(1), UInt8(0))) {
            unsafe send($0, of: .handshake)
        }
        return unsafe isSent && ciphers.sealing.update()
    }

    private func send(_ content: UnsafeRawBufferPointer, of type: ContentType, followedByPing ping: UInt32? = nil) -> Bool {
        let isFree = flush()
        let record = unsafe common._withUnsafeGuaranteedRef { unsafe $0.outgoing }
        let start = unsafe record + RecordCipher.headerBytes
        if let bytes = content.baseAddress { unsafe start.copyMemory(from: bytes, byteCount: content.count) }
        var count = content.count
        if let ping {
            unsafe Self.writePing(ping, to: start + count)
            count += Self.pingBytes
        }
        guard unsafe ciphers.sealing.seal(record, content: count, of: type) else { return false }
        return unsafe offer(UnsafeRawBufferPointer(start: record, count: RecordCipher.sealedBytes(count)), isFree: isFree)
    }

    /// Makes a record of the deferred messages, behind unsent records.
    private func sealDeferred() {
        guard unsafe !writer.deferred.isEmpty else { return }
        let record = unsafe common._withUnsafeGuaranteedRef { unsafe $0.outgoing }
        let count = unsafe writer.deferred.count
        unsafe writer.deferred.withUnsafeBytes {
            unsafe (record + RecordCipher.headerBytes).copyMemory(from: $0.baseAddress!, byteCount: count)
        }
        unsafe (writer.deferred, writer.deadline) = ([], nil)
        guard unsafe ciphers.sealing.seal(record, content: count, of: .applicationData) else {
            // libwebsockets finds the end when it reads.
            unsafe reader.ending = .cut
            return
        }
        let bytes = unsafe UnsafeRawBufferPointer(start: record, count: RecordCipher.sealedBytes(count))
        _ = unsafe offer(bytes, isFree: writer.unsent.isEmpty)
    }

    /// Gives a record to the socket if it `isFree`, and keeps the rest.
    ///
    /// - Returns: false if the connection is dead.
    private func offer(_ record: UnsafeRawBufferPointer, isFree: Bool) -> Bool {
        var sent = 0
        if isFree {
            sent = unsafe Glibc.send(descriptor, record.baseAddress, record.count, Int32(MSG_NOSIGNAL))
            if sent == record.count { return true }
            if sent < 0 {
                guard errno == EAGAIN || errno == EINTR else { return false }
                sent = 0
            }
        }
        unsafe writer.unsent.append(contentsOf: record[sent...])
        askForWritable()
        return true
    }

    /// A ping's header (RFC 6455 section 5.5.2) and its payload.
    private static var pingBytes: Int { 6 }

    private static func writePing(_ number: UInt32, to start: UnsafeMutableRawPointer) {
        unsafe start.storeBytes(of: 0x80 | WebSocketOpcode.ping.rawValue, as: UInt8.self)
        unsafe start.storeBytes(of: UInt8(MemoryLayout<UInt32>.size), toByteOffset: 1, as: UInt8.self)
        unsafe start.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt32.self)
    }

    private var isInBatch: Bool { unsafe common._withUnsafeGuaranteedRef { unsafe $0.isBatch } }

    private func askForWritable() {
        if let wsi = unsafe wsi { unsafe lws_callback_on_writable(wsi) }
    }

    /// Keeps messages to be sealed together later, up to one record.
    ///
    /// - Returns: false if they have to leave at once.
    private func deferWrite(_ messages: UnsafeRawBufferPointer, followedByPing ping: UInt32?, milliseconds: UInt8? = nil) -> Bool {
        let total = unsafe writer.deferred.count + messages.count + (ping == nil ? 0 : Self.pingBytes)
        guard unsafe writer.unsent.isEmpty && total <= RecordCipher.contentMax else { return false }
        let deadline = milliseconds.map { milliseconds in
            unsafe common._withUnsafeGuaranteedRef { $0.clock.now.advanced(byNanoseconds: Int64(milliseconds) * 1_000_000) }
        }
        if unsafe writer.deferred.isEmpty {
            unsafe writer.deadline = deadline
            unsafe writer.deferred.reserveCapacity(1_024)
            deadline == nil ? loop.flushAtTurnEnd(self) : loop.flushOnTimer(self)
        } else if let earlier = unsafe writer.deadline {
            unsafe writer.deadline = deadline.map { min($0, earlier) }
            if deadline == nil { loop.flushAtTurnEnd(self) }
        }
        unsafe writer.deferred.append(contentsOf: messages)
        if let ping {
            unsafe withUnsafeTemporaryAllocation(byteCount: Self.pingBytes, alignment: 4) { bytes in
                unsafe Self.writePing(ping, to: bytes.baseAddress!)
                unsafe writer.deferred.append(contentsOf: UnsafeRawBufferPointer(bytes))
            }
        }
        return true
    }
}

/// Data that a connection has yet to write.
struct RecordWriter {
    /// Records that the socket did not take. Bounded by the callers: none starts a message or a pong while there are any, and
    /// libwebsockets writes one CLOSE frame.
    var unsent: [UInt8] = []
    /// Messages without a record yet; at most one record's worth. Sealed at the end of the batch or turn, or with the next message.
    var deferred: [UInt8] = []
    /// The latest time for `deferred` to leave; nil: the end of the turn.
    var deadline: Instant?
    /// The connection is in `FastPathLoop`'s list of those with a deadline.
    var isOnTimerList = false
    /// The peer has requested a new key of ours (RFC 8446 section 4.6.3), once or more often.
    var owesKeyUpdate = false
    var hasSentAlert = false
}
