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
    @exclusivity(unchecked) var foresight = Foresight()

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
    /// What is in there has not been offered to the socket: it leaves when the batch or the turn ends, or with what is said before.
    @exclusivity(unchecked) private var isGathering = false
    /// And the turn may end without it, until then.
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

    // MARK: Messages

    /// The opcodes that a server of ours sends (RFC 6455 section 5.2).
    enum Opcode: UInt8 {
        case text = 1
        case binary = 2
        case ping = 9
    }

    /// Whether bytes of an earlier write still wait for the socket.
    var isCongested: Bool { unsafe !unsent.isEmpty && !isGathering }

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
        guard unsafe !unsent.isEmpty, unsafe wsi != nil else { return true }
        unsafe (isGathering, lingersUntil) = (false, nil)
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
        if unsafe isGathering && lingersUntil == nil { _ = flush() }
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
        var rest = unsafe content
        repeat {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(RecordCipher.contentMax))
            let isLast = piece.count == rest.count
            guard unsafe send(piece, of: .applicationData, departure, followedByPing: isLast ? ping : nil) else {
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
        unsafe withUnsafeBytes(of: (isFatal, alert.rawValue)) { _ = unsafe send($0, of: .alert, .now) }
    }

    /// Fewer than the 2^24.5 that a key of AES-GCM is good for (RFC 8446 section 5.5): two days of talking all the time.
    private static var recordsOfAKeyMax: UInt64 { 1 << 24 }

    private func updateKey() -> Bool {
        unsafe owesKeyUpdate = false
        // key_update, three bytes of length, update_not_requested.
        let isSent = unsafe withUnsafeBytes(of: (HandshakeMessage.keyUpdate, UInt8(0), UInt8(0), UInt8(1), UInt8(0))) {
            unsafe send($0, of: .handshake, .withTheBatch)
        }
        return unsafe isSent && ciphers.sealing.update()
    }

    private func send(
        _ content: UnsafeRawBufferPointer, of type: ContentType, _ departure: Departure, followedByPing ping: UInt32? = nil
    ) -> Bool {
        let record = unsafe common._withUnsafeGuaranteedRef { unsafe $0.outgoing }
        if let start = content.baseAddress { unsafe (record + RecordCipher.headerBytes).copyMemory(from: start, byteCount: content.count) }
        guard unsafe ciphers.sealing.seal(record, content: content.count, of: type) else { return false }
        var count = RecordCipher.sealedBytes(content.count)
        if let ping {
            // Behind the longest record there is room for it.
            guard unsafe sealPing(ping, at: record + count) else { return false }
            count += RecordCipher.sealedBytes(Self.pingBytes)
        }
        return unsafe send(UnsafeRawBufferPointer(start: record, count: count), departure)
    }

    /// A ping's header (RFC 6455 section 5.5.2) and its payload.
    private static var pingBytes: Int { 6 }

    private func sealPing(_ number: UInt32, at record: UnsafeMutableRawPointer) -> Bool {
        let content = unsafe record + RecordCipher.headerBytes
        unsafe content.storeBytes(of: 0x80 | Opcode.ping.rawValue, as: UInt8.self)
        unsafe content.storeBytes(of: UInt8(MemoryLayout<UInt32>.size), toByteOffset: 1, as: UInt8.self)
        unsafe content.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt32.self)
        return unsafe ciphers.sealing.seal(record, content: Self.pingBytes, of: .applicationData)
    }

    private func send(_ record: UnsafeRawBufferPointer, _ departure: Departure) -> Bool {
        switch departure {
        case .withTheTurn where unsafe gather(record): return true
        case .withTheNext(let patience) where unsafe gather(record, lingering: patience): return true
        case .withTheBatch where unsafe (isInABatch || isGathering) && gather(record):
            // What waited for the end of the turn need not wait any longer.
            if !isInABatch { sendGathered() }
            return true
        default: break
        }
        var sent = 0
        if flush() {
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

    private var isInABatch: Bool { unsafe common._withUnsafeGuaranteedRef { unsafe $0.isBatch } }

    private func askForWritable() {
        if let wsi = unsafe wsi { unsafe lws_callback_on_writable(wsi) }
    }

    /// Keeps a record, up to as much as a system call likes.
    ///
    /// - Returns: false where it has to go the usual way.
    private func gather(_ record: UnsafeRawBufferPointer, lingering patience: UInt8? = nil) -> Bool {
        let until = patience.map { unsafe connection.loop.now + .milliseconds($0) }
        if unsafe !isGathering {
            guard unsafe unsent.isEmpty else { return false }
            unsafe (isGathering, lingersUntil) = (true, until)
            unsafe unsent.reserveCapacity(1_024)
            until == nil ? owner.gathers(self) : owner.lingers(self)
        } else if let earlier = unsafe lingersUntil {
            unsafe lingersUntil = until.map { min($0, earlier) }
            if until == nil { owner.gathers(self) }
        }
        guard unsafe unsent.count + record.count <= RecordIO.bytesMax else { return false }
        unsafe unsent.append(contentsOf: record)
        return true
    }
}
