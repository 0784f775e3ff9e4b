internal import CLibwebsockets
internal import COpenSSL
internal import Glibc

/// One WebSocket's socket as OpenSSL sees it (a BIO of our own kind, see `RecordIO`), and the way for messages of ours past lws.
@safe final class RecordSocket {
    let descriptor: Int32
    /// Both outlive this: lws frees the SSL, and with it the BIO, before the wsi.
    private let wsi: OpaquePointer
    private let ssl: OpaquePointer
    /// Not retained and not checked: lws holds it as long as the wsi.
    private unowned(unsafe) let connection: Connection
    private let isServer: Bool
    /// Not retained and not checked: it outlives its loop's connections.
    private unowned(unsafe) let owner: RecordIO
    /// Each record so far began and ended with a frame, so that those with media need not go through lws, which knows as much.
    @exclusivity(unchecked) private var readsWholeFrames = true
    /// What was read: in the common buffer, or in `own`.
    @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer?
    private(set) var count = 0
    @exclusivity(unchecked) private var own: UnsafeMutableRawPointer?
    /// While lws is made to take what stayed: else a peer that sends without pause would have the loop for itself.
    var isForbiddenToRead = false
    /// Records that the socket did not take yet. Bounded by those who write: nobody begins a message while there are any, but for
    /// lws, which answers one ping each time the socket takes something, and what waited goes out before the answer is added.
    @exclusivity(unchecked) private var unsent: [UInt8] = []
    /// What is in there has not been offered to the socket: it leaves when the batch ends, or with what lws has to say before.
    @exclusivity(unchecked) private var isGathering = false
    /// What OpenSSL writes is a message of ours, not lws's.
    @exclusivity(unchecked) private var isOurs = false

    @exclusivity(unchecked) var foresight = Foresight()

    init(wsi: OpaquePointer, ssl: OpaquePointer, connection: Connection, owner: RecordIO) {
        descriptor = unsafe lws_get_socket_fd(wsi)
        unsafe self.wsi = unsafe wsi
        unsafe self.ssl = unsafe ssl
        unsafe self.connection = connection
        isServer = connection.endpoint == nil
        unsafe self.owner = owner
    }

    deinit {
        unsafe own?.deallocate()
    }

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
    /// - Returns: false if the connection is dead.
    func write(_ opcode: Opcode, _ message: UnsafeMutableRawPointer, _ count: Int) -> Bool {
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
        unsafe isOurs = true
        defer { unsafe isOurs = false }
        var (next, left) = unsafe (UnsafeRawPointer(start), message + count - start)
        while left > 0 {
            // Up to one record at a time (`SSL_MODE_ENABLE_PARTIAL_WRITE`).
            let written = unsafe SSL_write(ssl, next, Int32(left))
            guard written > 0 else {
                // lws asks what went wrong with the next call of its own, and is not to find this.
                ERR_clear_error()
                return false
            }
            unsafe next += Int(written)
            left -= Int(written)
        }
        return true
    }

    /// Writes what has waited.
    ///
    /// - Returns: whether nothing waits any more; else lws was asked to tell when the socket takes more.
    func flush() -> Bool {
        guard unsafe !unsent.isEmpty else { return true }
        unsafe isGathering = false
        let sent = unsafe unsent.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if unsafe sent == unsent.count {
            unsafe unsent = []
            return true
        }
        // A broken connection is found by lws, which reads from it.
        if sent > 0 { unsafe unsent.removeFirst(sent) }
        unsafe lws_callback_on_writable(wsi)
        return false
    }

    /// Takes one record, if it holds nothing but whole binary messages.
    ///
    /// - Parameter plain: room for a record.
    /// - Returns: whether there is nothing in it for lws; else it finds all as it was.
    func takeMessages(with plain: UnsafeMutableRawPointer) -> Bool {
        // Something of a record that lws has begun.
        guard unsafe readsWholeFrames && SSL_pending(ssl) == 0 else { return false }
        unsafe foresight.fetch()
        let count = unsafe SSL_peek(ssl, plain, Int32(RecordIO.bytesMax))
        guard count > 0 else {
            let isIncomplete = unsafe SSL_get_error(ssl, count) == SSL_ERROR_WANT_READ
            ERR_clear_error()
            return isIncomplete
        }
        let record = unsafe UnsafeMutableRawBufferPointer(start: plain, count: Int(count))
        switch unsafe RecordFrames.look(at: UnsafeRawBufferPointer(record), areMasked: isServer) {
        case .messages:
            _ = unsafe SSL_read(ssl, plain, count)
            unsafe RecordFrames.forEachMessage(in: record) { unsafe connection.received(message: $0) }
            return true
        case .others:
            return false
        case .pieces:
            unsafe readsWholeFrames = false
            return false
        }
    }

    /// From now on lws takes all, for it may be told to wait (`lws_rx_flow_control`) with what has been read.
    func readOnlyByLws() {
        unsafe readsWholeFrames = false
    }

    // MARK: Records, for OpenSSL

    func lend(_ buffer: UnsafeMutableRawPointer, _ count: Int) {
        unsafe bytes = unsafe buffer
        self.count = count
    }

    /// The common buffer is needed for somebody else.
    func moveOut() {
        guard let bytes = unsafe bytes, unsafe own == nil else { return }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        unsafe copy.copyMemory(from: bytes, byteCount: count)
        unsafe own = unsafe copy
        unsafe self.bytes = unsafe copy
    }

    /// As OpenSSL wants it: how many bytes, 0 at the end, -1 with "again" set or on an error.
    func read(_ bio: OpaquePointer?, _ out: UnsafeMutableRawPointer, _ wanted: Int) -> Int32 {
        unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        if count == 0 {
            let got = unsafe isForbiddenToRead ? -1 : owner.fill(for: self)
            guard got > 0 else {
                if got < 0, isForbiddenToRead || errno == EAGAIN || errno == EINTR {
                    unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
                }
                return Int32(got)
            }
        }
        guard let from = unsafe bytes else { return -1 }
        let taken = min(wanted, count)
        unsafe out.copyMemory(from: from, byteCount: taken)
        count -= taken
        unsafe bytes = unsafe from + taken
        if count == 0, let own = unsafe own {
            unsafe own.deallocate()
            unsafe self.own = nil
        }
        return Int32(taken)
    }

    /// Takes all that it is given: what the socket has no room for stays.
    ///
    /// - Returns: the count, or -1 if the connection is dead.
    func write(_ bio: OpaquePointer?, _ record: UnsafeRawPointer, _ count: Int) -> Int32 {
        unsafe BIO_clear_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
        var sent = 0
        if unsafe isOurs && owner.isBatch && gather(UnsafeRawBufferPointer(start: record, count: count)) { return Int32(count) }
        if flush() {
            sent = unsafe send(descriptor, record, count, Int32(MSG_NOSIGNAL))
            if sent == count { return Int32(count) }
            if sent < 0 {
                guard errno == EAGAIN || errno == EINTR else { return -1 }
                sent = 0
            }
        }
        unsafe unsent.append(contentsOf: UnsafeRawBufferPointer(start: record + sent, count: count - sent))
        unsafe lws_callback_on_writable(wsi)
        return Int32(count)
    }

    /// Keeps a record of a batch, up to as much as a system call likes.
    ///
    /// - Returns: false where it has to go the usual way.
    private func gather(_ record: UnsafeRawBufferPointer) -> Bool {
        if unsafe !isGathering {
            guard unsafe unsent.isEmpty else { return false }
            unsafe isGathering = true
            unsafe unsent.reserveCapacity(1_024)
            unsafe owner.gathers(self)
        }
        guard unsafe unsent.count + record.count <= RecordIO.bytesMax else { return false }
        unsafe unsent.append(contentsOf: record)
        return true
    }

    /// The batch ends.
    func sendGathered() {
        if unsafe isGathering { _ = flush() }
    }

    func freed() {
        count = 0
        unsafe owner.forget(self)
    }
}

func recordSocket(of bio: OpaquePointer?) -> Unmanaged<RecordSocket>? {
    unsafe BIO_get_data(bio).map { unsafe Unmanaged<RecordSocket>.fromOpaque($0) }
}
