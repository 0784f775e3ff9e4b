internal import CLibwebsockets
internal import COpenSSL
internal import Glibc
internal import Wire

/// One WebSocket's TLS records, from the upgrade on: OpenSSL has made the handshake, what comes after it is ours (RFC 8446 section 5).
///
/// Messages of ours are written past lws, and media read past it. All else lws goes on to read and write as if nothing had happened:
/// what it asks OpenSSL for is answered from here (`LibraryTLS`).
@safe final class RecordSocket: SSLGuest {
    let descriptor: Int32
    /// Nil once OpenSSL's connection is freed.
    private var wsi: OpaquePointer?
    /// Not retained and not checked: lws holds it as long as the wsi.
    let held: Unmanaged<Connection>
    let isServer: Bool
    /// Not retained and not checked: it outlives its loop's connections.
    let common: Unmanaged<RecordIO>

    @exclusivity(unchecked) var ciphers: RecordCiphers

    // MARK: What was read

    /// Records that nobody has opened yet: in the loop's common buffer, or in `own`.
    @exclusivity(unchecked) var bytes: UnsafeMutableRawPointer?
    @exclusivity(unchecked) var count = 0
    @exclusivity(unchecked) var own: UnsafeMutableRawPointer?
    /// Opened, and for lws, which has taken those before `plainTaken`. At most a record's.
    @exclusivity(unchecked) var plain: [UInt8] = []
    @exclusivity(unchecked) var plainTaken = 0
    /// Each record so far began and ended with a frame, so that those with media need not go through lws, which knows as much.
    @exclusivity(unchecked) var readsWholeFrames = true
    /// While lws is made to take what stayed: else a peer that sends without pause would have the loop for itself.
    @exclusivity(unchecked) var isForbiddenToRead = false
    /// Nothing is read after it.
    @exclusivity(unchecked) var ending: Ending?

    /// How what the peer sends comes to its end.
    enum Ending {
        /// By its `close_notify` (RFC 8446 section 6.1).
        case closed
        /// Without a word.
        case cut
        /// By a fault, theirs or ours; the peer was told if it was theirs.
        case broken
    }

    // MARK: What is to be written

    /// Records that the socket did not take yet. Bounded by those who write: nobody begins a message while there are any, but for
    /// lws, which answers one ping each time the socket takes something, and what waited goes out before the answer is added.
    @exclusivity(unchecked) private var unsent: [UInt8] = []
    /// What no record has been made of yet: it leaves when the batch or the turn ends, or with what is said before. At most a record's.
    @exclusivity(unchecked) private var gathered: [UInt8] = []
    /// The turn may end without it, until then.
    @exclusivity(unchecked) private var lingersUntil: Instant?
    /// It is on the list of those that linger.
    @exclusivity(unchecked) var isListed = false
    /// The peer has asked for a new key of ours (RFC 8446 section 4.6.3), once or more often.
    @exclusivity(unchecked) var owesKeyUpdate = false
    @exclusivity(unchecked) var hasSaidGoodbye = false

    init(wsi: OpaquePointer, connection: Connection, owner: RecordIO, ciphers: consuming RecordCiphers) {
        descriptor = unsafe lws_get_socket_fd(wsi)
        unsafe self.wsi = unsafe wsi
        unsafe held = unsafe Unmanaged.passUnretained(connection)
        isServer = connection.endpoint == nil
        unsafe common = unsafe Unmanaged.passUnretained(owner)
        unsafe self.ciphers = ciphers
    }

    deinit {
        unsafe own?.deallocate()
    }

    override func freed() {
        if unsafe ending == nil { unsafe ending = .cut }
        unsafe count = 0
        unsafe lingersUntil = nil
        unsafe wsi = nil
        owner.forget(self)
    }

    /// For what is not on every frame's way: that does without their reference counts.
    var connection: Connection { unsafe held.takeUnretainedValue() }
    var owner: RecordIO { unsafe common.takeUnretainedValue() }

    /// See `PrefetchHints`.
    func prefetch(_ prefetchHints: PrefetchHints) {
        unsafe common._withUnsafeGuaranteedRef { $0.prefetch(prefetchHints, at: self) }
    }

    // MARK: Messages

    /// The opcodes that a server of ours sends (RFC 6455 section 5.2).
    enum Opcode: UInt8 {
        case text = 1
        case binary = 2
        case ping = 9
    }

    /// Whether bytes of an earlier write still wait for the socket.
    var isCongested: Bool { unsafe !unsent.isEmpty }

    /// Writes one whole message from the server's side, which does not mask; the header goes into the 10 bytes before it.
    ///
    /// - Parameter ping: the payload of a ping that leaves right behind it, by the same system call.
    /// - Returns: false if the connection is dead.
    func write(
        _ opcode: Opcode, _ message: UnsafeMutableRawPointer, _ count: Int, _ departure: Departure, followedByPing ping: UInt32? = nil
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
        return unsafe write(bytes, departure, followedByPing: ping)
    }

    /// Writes what has waited.
    ///
    /// - Returns: whether nothing waits any more; else lws was asked to tell when the socket takes more.
    func flush() -> Bool {
        guard unsafe wsi != nil else { return true }
        sealGathered()
        guard unsafe !unsent.isEmpty else { return true }
        let sent = unsafe unsent.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if unsafe sent == unsent.count {
            unsafe unsent = []
            return true
        }
        // A broken connection is found by lws, which reads from it.
        if sent > 0 { unsafe unsent.removeFirst(sent) }
        askForWritable()
        return false
    }

    /// The batch ends, or the turn.
    func sendGathered() {
        if unsafe !gathered.isEmpty && lingersUntil == nil { _ = flush() }
    }

    /// What could wait has waited, if it can't wait until `next`.
    ///
    /// - Returns: whether it waits on.
    func sendLingering(unlessAfter next: Instant) -> Bool {
        guard let until = unsafe lingersUntil else { return false }
        if until >= next { return true }
        _ = flush()
        return false
    }

    // MARK: Records

    /// When a record leaves.
    enum Departure {
        case now
        /// With all others of the batch, if one is under way.
        case withTheBatch
        /// With all others of this turn of the loop: what is told at once to one socket takes one system call.
        case withTheTurn
        /// With the next that has less time, and within that many milliseconds, at least 20.
        case withTheNext(within: UInt8)
    }

    /// Seals bytes and gives them to the socket: all of them, what it has no room for stays.
    ///
    /// - Returns: false if the connection is dead.
    func write(_ content: UnsafeRawBufferPointer, _ departure: Departure, followedByPing ping: UInt32? = nil) -> Bool {
        if unsafe owesKeyUpdate || ciphers.sealing.sequence >= Self.recordsOfAKeyMax, !updateKey() { return false }
        switch departure {
        case .withTheTurn where unsafe gather(content, followedByPing: ping): return true
        case .withTheNext(let patience) where unsafe gather(content, followedByPing: ping, lingering: patience): return true
        case .withTheBatch where unsafe (isInABatch || !gathered.isEmpty) && gather(content, followedByPing: ping):
            // What waited for the end of the turn need not wait any longer.
            if !isInABatch { sendGathered() }
            return true
        default: break
        }
        var rest = unsafe content
        repeat {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(RecordCipher.contentMax - Self.pingBytes))
            let isLast = piece.count == rest.count
            guard unsafe send(piece, of: .applicationData, followedByPing: isLast ? ping : nil) else {
                if unsafe ending == nil { unsafe ending = .cut }
                return false
            }
            unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        } while unsafe !rest.isEmpty
        return true
    }

    /// Tells the peer why nothing more comes. Whether it hears that is of no importance.
    func send(_ alert: TLSAlert) {
        unsafe hasSaidGoodbye = true
        let isFatal: UInt8 = alert == .closeNotify ? 1 : 2
        unsafe withUnsafeBytes(of: (isFatal, alert.rawValue)) { _ = unsafe send($0, of: .alert) }
    }

    /// Fewer than the 2^24.5 that a key of AES-GCM is good for (RFC 8446 section 5.5): two days of talking all the time.
    private static var recordsOfAKeyMax: UInt64 { 1 << 24 }

    private func updateKey() -> Bool {
        unsafe owesKeyUpdate = false
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

    /// Makes a record of what was gathered, behind those that wait.
    private func sealGathered() {
        guard unsafe !gathered.isEmpty else { return }
        let record = unsafe common._withUnsafeGuaranteedRef { unsafe $0.outgoing }
        let count = unsafe gathered.count
        unsafe gathered.withUnsafeBytes {
            unsafe (record + RecordCipher.headerBytes).copyMemory(from: $0.baseAddress!, byteCount: count)
        }
        unsafe (gathered, lingersUntil) = ([], nil)
        guard unsafe ciphers.sealing.seal(record, content: count, of: .applicationData) else {
            // lws finds it ended when it reads.
            unsafe ending = .cut
            return
        }
        _ = unsafe offer(UnsafeRawBufferPointer(start: record, count: RecordCipher.sealedBytes(count)), isFree: unsent.isEmpty)
    }

    /// Gives a record to the socket, if it `isFree`, and keeps what it does not take.
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
        unsafe unsent.append(contentsOf: record[sent...])
        askForWritable()
        return true
    }

    /// A ping's header (RFC 6455 section 5.5.2) and its payload.
    private static var pingBytes: Int { 6 }

    private static func writePing(_ number: UInt32, to start: UnsafeMutableRawPointer) {
        unsafe start.storeBytes(of: 0x80 | Opcode.ping.rawValue, as: UInt8.self)
        unsafe start.storeBytes(of: UInt8(MemoryLayout<UInt32>.size), toByteOffset: 1, as: UInt8.self)
        unsafe start.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt32.self)
    }

    private var isInABatch: Bool { unsafe common._withUnsafeGuaranteedRef { unsafe $0.isBatch } }

    private func askForWritable() {
        if let wsi = unsafe wsi { unsafe lws_callback_on_writable(wsi) }
    }

    /// Keeps messages, up to as much as a record holds.
    ///
    /// - Returns: false where they have to go the usual way.
    private func gather(_ messages: UnsafeRawBufferPointer, followedByPing ping: UInt32?, lingering patience: UInt8? = nil) -> Bool {
        let total = unsafe gathered.count + messages.count + (ping == nil ? 0 : Self.pingBytes)
        guard unsafe unsent.isEmpty && total <= RecordCipher.contentMax else { return false }
        let until = patience.map { patience in
            unsafe common._withUnsafeGuaranteedRef { $0.clock.now.advanced(byNanoseconds: Int64(patience) * 1_000_000) }
        }
        if unsafe gathered.isEmpty {
            unsafe lingersUntil = until
            unsafe gathered.reserveCapacity(1_024)
            until == nil ? owner.gathers(self) : owner.lingers(self)
        } else if let earlier = unsafe lingersUntil {
            unsafe lingersUntil = until.map { min($0, earlier) }
            if until == nil { owner.gathers(self) }
        }
        unsafe gathered.append(contentsOf: messages)
        if let ping {
            unsafe withUnsafeTemporaryAllocation(byteCount: Self.pingBytes, alignment: 4) { bytes in
                unsafe Self.writePing(ping, to: bytes.baseAddress!)
                unsafe gathered.append(contentsOf: UnsafeRawBufferPointer(bytes))
            }
        }
        return true
    }
}
