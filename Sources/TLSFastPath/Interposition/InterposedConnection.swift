internal import CLibwebsockets
internal import COpenSSL
internal import Glibc
internal import Sockets

/// A WebSocket connection whose OpenSSL calls pass through this module.
///
/// This class checks what clients send (`ClientFrameScanner`), keeps pings for itself, and holds back input after a violation until
/// libwebsockets has sent its CLOSE frame: more input would make it drop the connection with the frame unsent. Records are OpenSSL's here;
/// `RecordConnection` replaces them.
@safe class InterposedConnection: ConnectionRecordLayer, SSLAttachment {
    let descriptor: Int32
    /// Not retained: libwebsockets holds it as long as the `wsi`, and `detached` comes before that ends.
    let held: Unmanaged<Connection>
    let isServer: Bool
    /// Nil once the `SSL` is freed.
    @exclusivity(unchecked) private(set) var wsi: OpaquePointer?
    @exclusivity(unchecked) private var scanner = ClientFrameScanner()
    @exclusivity(unchecked) private(set) var input = Input.open
    @exclusivity(unchecked) private var hasSentClose = false
    /// The last read left no bytes for libwebsockets.
    @exclusivity(unchecked) final var isWithheld = false

    enum Input {
        case open
        /// A violation was found; libwebsockets has not sent its CLOSE frame yet.
        case held
        /// The CLOSE frame has left. Input is discarded until the peer closes or the time of `Connection.linger` is over: closing a
        /// socket that still receives resets the connection, and the peer might never see the CLOSE frame.
        case lingering
        /// The peer has closed.
        case ended
    }

    init(wsi: OpaquePointer, connection: Connection, writesDirectly: Bool = false) {
        descriptor = unsafe lws_get_socket_fd(wsi)
        unsafe self.wsi = unsafe wsi
        unsafe held = unsafe Unmanaged.passUnretained(connection)
        isServer = connection.isServer
        super.init(writesDirectly: writesDirectly)
    }

    /// Without a connection, for `GatedConnection` and `FastPathTrial`.
    init() {
        descriptor = -1
        unsafe held = unsafe Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: 16)!)
        isServer = true
        super.init(writesDirectly: false)
    }

    func detached() {
        unsafe wsi = nil
    }

    /// For calls that are not made per frame: those avoid its reference count.
    var connection: Connection { unsafe held.takeUnretainedValue() }

    // MARK: Input

    /// Nothing more is given to libwebsockets before its CLOSE frame has left.
    override func holdInput() {
        if unsafe input == .open { unsafe input = .held }
    }

    /// Checks bytes received from a client.
    ///
    /// - Returns: how many of the bytes libwebsockets may have, moved to the front: not pings, which are answered here, and nothing after a
    ///   violation of RFC 6455.
    final func check(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
        guard isServer else { return bytes.count }
        guard unsafe input == .open else { return 0 }
        let findings = unsafe scanner.scan(bytes)
        if let ping = findings.ping { connection.owePong(ping) }
        if let code = findings.closeCode { connection.peerSentClose(code) }
        if let violation = findings.violation {
            unsafe input = .held
            connection.failProtocol(violation.reason)
            if unsafe hasSentClose { linger() }
        }
        return findings.kept
    }

    /// Discards what the socket has received, so that it does not keep the event loop spinning.
    final func discardInput() {
        let count = unsafe withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 16) { buffer in
            unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        }
        let isEnd = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
        if isEnd, unsafe input == .lingering { unsafe input = .ended }
    }

    /// To be called with each WebSocket frame that libwebsockets writes.
    final func noteWritten(_ frame: UnsafeRawBufferPointer) {
        guard unsafe frame.first == 0x88 else { return }
        unsafe hasSentClose = true
        if unsafe input == .held { linger() } else { connection.closeFrameLeft() }
    }

    private func linger() {
        unsafe input = .lingering
        connection.linger()
    }

    // MARK: OpenSSL's functions

    func sslRead(_ ssl: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int32 {
        guard unsafe input == .open else {
            discardInput()
            return unsafe input == .ended ? 0 : -1
        }
        for _ in 0..<Self.readsMax {
            let received = unsafe OpenSSLFunction.read?(ssl, buffer, Int32(count)) ?? -1
            unsafe isWithheld = false
            guard received > 0 else { return received }
            let allowed = unsafe check(UnsafeMutableRawBufferPointer(start: buffer, count: Int(received)))
            if allowed > 0 { return Int32(allowed) }
            unsafe isWithheld = true
            guard unsafe input == .open else { break }
        }
        return -1
    }

    /// Consecutive reads that may contain nothing but pings, before other connections are served.
    static var readsMax: Int { 8 }

    func sslWrite(_ ssl: UnsafeMutableRawPointer, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        let written = unsafe OpenSSLFunction.write?(ssl, bytes.baseAddress, Int32(bytes.count)) ?? -1
        if written > 0 { unsafe noteWritten(bytes) }
        return written
    }

    func sslPending(_ ssl: UnsafeMutableRawPointer) -> Int32 {
        unsafe input == .open ? OpenSSLFunction.pending?(ssl) ?? 0 : 0
    }

    func sslWant(_ ssl: UnsafeMutableRawPointer) -> Int32 {
        let want = unsafe OpenSSLFunction.want?(ssl) ?? SSL_NOTHING
        // Without this value, libwebsockets treats a failed read as an error.
        return unsafe want == SSL_NOTHING && (isWithheld || input != .open) && input != .ended ? SSL_READING : want
    }

    func sslShutdown(_ ssl: UnsafeMutableRawPointer) -> Int32 {
        unsafe OpenSSLFunction.shutdown?(ssl) ?? -1
    }

    func sslError(_ ssl: UnsafeMutableRawPointer, _ result: Int32) -> Int32 {
        switch unsafe input {
        case .held where result <= 0, .lingering where result <= 0: SSL_ERROR_WANT_READ
        case .open where unsafe isWithheld && result < 0: SSL_ERROR_WANT_READ
        case .ended where result == 0: SSL_ERROR_ZERO_RETURN
        default: unsafe OpenSSLFunction.getError?(ssl, result) ?? SSL_ERROR_SSL
        }
    }
}
