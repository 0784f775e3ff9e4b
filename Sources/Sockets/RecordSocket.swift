internal import CLibwebsockets
internal import COpenSSL
internal import Glibc

/// One WebSocket's socket as OpenSSL sees it (a BIO of our own kind, see `RecordIO`), and the way for messages of ours past lws.
@safe final class RecordSocket {
    let descriptor: Int32
    /// Both outlive this: lws frees the SSL, and with it the BIO, before the wsi.
    private let wsi: OpaquePointer
    private let ssl: OpaquePointer
    /// Not retained and not checked: it outlives its loop's connections.
    private unowned(unsafe) let owner: RecordIO
    /// What was read: in the common buffer, or in `own`.
    @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer?
    private(set) var count = 0
    @exclusivity(unchecked) private var own: UnsafeMutableRawPointer?
    /// While lws is made to take what stayed: else a peer that sends without pause would have the loop for itself.
    var isForbiddenToRead = false
    /// Records that the socket did not take yet. Bounded by those who write: nobody begins a message while there are any, but for
    /// lws, which answers one ping each time the socket takes something, and what waited goes out before the answer is added.
    @exclusivity(unchecked) private var unsent: [UInt8] = []

    init(wsi: OpaquePointer, ssl: OpaquePointer, owner: RecordIO) {
        descriptor = unsafe lws_get_socket_fd(wsi)
        unsafe self.wsi = unsafe wsi
        unsafe self.ssl = unsafe ssl
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
    var isCongested: Bool { unsafe !unsent.isEmpty }

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

    func freed() {
        count = 0
        unsafe owner.forget(self)
    }
}

func recordSocket(of bio: OpaquePointer?) -> Unmanaged<RecordSocket>? {
    unsafe BIO_get_data(bio).map { unsafe Unmanaged<RecordSocket>.fromOpaque($0) }
}
