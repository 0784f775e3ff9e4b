internal import COpenSSL
internal import Glibc
internal import TLSRecords

/// TLS by OpenSSL's public interface, on a BIO that reads what `receive` has brought and writes to the socket.
///
/// One `recv` brings a whole record, where OpenSSL's own BIO needs two. A write always completes, because the BIO takes everything.
@safe final class OpenSSLStream: ByteStream {
    private(set) var ssl: OpaquePointer?
    /// The handshake has failed or the peer has violated TLS.
    private var isBroken = false
    private var hasBegun = false
    private var hasEnded = false

    /// Fails if OpenSSL has no memory.
    init?(descriptor: Int32, buffers: StreamBuffers, context: TLSContext) {
        guard let ssl = unsafe SSL_new(context.pointer) else { return nil }
        unsafe self.ssl = unsafe ssl
        super.init(descriptor: descriptor, buffers: buffers)
        guard let method = unsafe StreamBIO.method, let bio = unsafe BIO_new(method) else {
            unsafe SSL_free(ssl)
            unsafe self.ssl = nil
            return nil
        }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_set_bio(ssl, bio, bio)
        if context.isServer { unsafe SSL_set_accept_state(ssl) } else { unsafe SSL_set_connect_state(ssl) }
    }

    deinit { release() }

    /// Frees OpenSSL's state, when another stream takes the connection over.
    func release() {
        unsafe SSL_free(ssl)
        unsafe ssl = nil
    }

    /// The server that this client connects to.
    func setPeer(_ host: String, isChecked: Bool) {
        if let ssl = unsafe ssl { unsafe TLSPeerName.set(host, on: ssl, isChecked: isChecked) }
    }

    var isHandshakeDone: Bool { unsafe SSL_is_init_finished(ssl) == 1 }

    /// Why the peer's certificate was refused; nil if it was not.
    var certificateFault: String? {
        let result = unsafe SSL_get_verify_result(ssl)
        guard result != Int(X509_V_OK) else { return nil }
        return unsafe String(cString: X509_verify_cert_error_string(result))
    }

    // MARK: Receiving

    override func next() -> Piece {
        guard !isBroken, unsafe ssl != nil else { return .broken }
        if !hasBegun, let first = unsafe arrived.first {
            hasBegun = true
            if unsafe SSL_is_server(ssl) == 1 && UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first { return .notTLS }
        }
        ERR_clear_error()
        let buffer = unsafe buffers._withUnsafeGuaranteedRef { unsafe $0.opened }
        let count = unsafe SSL_read(ssl, buffer, Int32(StreamBuffers.contentMax))
        if count > 0 { return unsafe .content(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))) }
        switch unsafe SSL_get_error(ssl, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .nothing
        case SSL_ERROR_ZERO_RETURN: return .end
        default:
            isBroken = true
            ERR_clear_error()
            return .broken
        }
    }

    // MARK: Sending

    override func write(_ content: UnsafeRawBufferPointer, followedByPing ping: UInt32? = nil) -> Bool {
        if let ping { return unsafe withPing(ping, after: content) { unsafe seal($0) } }
        return unsafe seal(content)
    }

    private func seal(_ content: UnsafeRawBufferPointer) -> Bool {
        guard !isBroken, unsafe ssl != nil, unsafe !content.isEmpty else { return !isBroken }
        ERR_clear_error()
        return unsafe SSL_write(ssl, content.baseAddress, Int32(content.count)) == content.count
    }

    override func end() {
        guard !isBroken, !hasEnded, unsafe ssl != nil, isHandshakeDone else { return }
        hasEnded = true
        ERR_clear_error()
        unsafe SSL_shutdown(ssl)
        ERR_clear_error()
    }

    // MARK: The BIO

    fileprivate func read(into buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        let taken = unsafe min(count, arrived.count)
        guard taken > 0 else { return 0 }
        unsafe buffer.copyMemory(from: arrived.baseAddress!, byteCount: taken)
        unsafe arrived = unsafe UnsafeMutableRawBufferPointer(rebasing: arrived[taken...])
        return taken
    }
}

/// A BIO whose two ends are a stream's `arrived` and `offer` (BIO_meth_new(3)).
private enum StreamBIO {
    /// Made once per process; nil if OpenSSL has no memory.
    nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "patchbay") else { return nil }
        unsafe BIO_meth_set_read(method) { bio, buffer, count in
            unsafe BIO_clear_flags(bio, Self.retryFlags)
            guard let stream = unsafe Self.stream(of: bio), let buffer = unsafe buffer else { return -1 }
            let taken = unsafe stream._withUnsafeGuaranteedRef { unsafe $0.read(into: buffer, Int(count)) }
            if taken > 0 { return Int32(taken) }
            unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
        unsafe BIO_meth_set_write(method) { bio, bytes, count in
            unsafe BIO_clear_flags(bio, Self.retryFlags)
            guard let stream = unsafe Self.stream(of: bio) else { return -1 }
            let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
            return unsafe stream._withUnsafeGuaranteedRef { unsafe $0.offer(bytes) } ? count : -1
        }
        unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        unsafe BIO_meth_set_create(method) { bio in
            unsafe BIO_set_init(bio, 1)
            return 1
        }
        return unsafe method
    }()

    private static var retryFlags: Int32 { BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY }

    private static func stream(of bio: OpaquePointer?) -> Unmanaged<OpenSSLStream>? {
        unsafe BIO_get_data(bio).map { unsafe Unmanaged<OpenSSLStream>.fromOpaque($0) }
    }
}

extension ByteStream {
    /// - Parameter context: nil for a connection without TLS.
    /// - Returns: nil if OpenSSL has no memory.
    static func open(_ descriptor: Int32, _ buffers: StreamBuffers, _ context: TLSContext?) -> ByteStream? {
        guard let context else { return ByteStream(descriptor: descriptor, buffers: buffers) }
        return OpenSSLStream(descriptor: descriptor, buffers: buffers, context: context)
    }
}
