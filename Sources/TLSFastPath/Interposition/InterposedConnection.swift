internal import CLibwebsockets
internal import COpenSSL
internal import Glibc
internal import Sockets

/// A WebSocket connection whose OpenSSL calls pass through this module.
///
/// This class checks what clients send (`ClientFrameScanner`) and holds back input after a violation until libwebsockets has sent its
/// CLOSE frame: more input would make it drop the connection with the frame unsent. Records are OpenSSL's here; `RecordConnection`
/// replaces them.
@safe class InterposedConnection: ConnectionRecordLayer, SSLAttachment {
    let descriptor: Int32
    /// Not retained: libwebsockets holds it as long as the `wsi`, and `detached` comes before that ends.
    let held: Unmanaged<Connection>
    let isServer: Bool
    /// Nil once the `SSL` is freed.
    @exclusivity(unchecked) private(set) var wsi: OpaquePointer?
    @exclusivity(unchecked) private var scanner = ClientFrameScanner()
    @exclusivity(unchecked) private(set) var input = Input.open

    enum Input {
        case open
        /// A violation was found; libwebsockets has not sent its CLOSE frame yet.
        case held
        /// The CLOSE frame has left. Input is discarded until the peer closes or libwebsockets' close timeout expires: closing a socket
        /// that still receives resets the connection, and the peer might never see the CLOSE frame.
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

    /// Without a connection, for `FastPathTrial`.
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
    /// - Returns: how many of the bytes libwebsockets may have; fewer if a frame among them violates RFC 6455.
    final func check(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard isServer else { return bytes.count }
        guard unsafe input == .open else { return 0 }
        guard let offset = unsafe scanner.firstViolation(in: bytes) else { return bytes.count }
        unsafe input = .held
        unsafe held._withUnsafeGuaranteedRef { $0.failProtocol() }
        return offset
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
        if unsafe input == .held, unsafe frame.first == 0x88 { unsafe input = .lingering }
    }

    // MARK: OpenSSL's functions

    func sslRead(_ ssl: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int32 {
        guard unsafe input == .open else {
            discardInput()
            return unsafe input == .ended ? 0 : -1
        }
        let received = unsafe OpenSSLFunction.read?(ssl, buffer, Int32(count)) ?? -1
        guard received > 0 else { return received }
        let allowed = unsafe check(UnsafeRawBufferPointer(start: buffer, count: Int(received)))
        return allowed > 0 ? Int32(allowed) : -1
    }

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
        return unsafe want == SSL_NOTHING && input != .open && input != .ended ? SSL_READING : want
    }

    func sslShutdown(_ ssl: UnsafeMutableRawPointer) -> Int32 {
        unsafe OpenSSLFunction.shutdown?(ssl) ?? -1
    }

    func sslError(_ ssl: UnsafeMutableRawPointer, _ result: Int32) -> Int32 {
        switch unsafe input {
        case .held where result <= 0, .lingering where result <= 0: SSL_ERROR_WANT_READ
        case .ended where result == 0: SSL_ERROR_ZERO_RETURN
        default: unsafe OpenSSLFunction.getError?(ssl, result) ?? SSL_ERROR_SSL
        }
    }
}

/// Finds frames from a client that a server must refuse (RFC 6455 sections 5.1, 5.2, 5.4 and 5.5), wherever reads and records cut them.
///
/// libwebsockets 4.1 accepts frames without a mask.
package struct ClientFrameScanner {
    private enum Expected {
        case first
        case second(opcode: UInt8)
        case length(bytesLeft: Int, value: UInt64)
    }

    private var expected = Expected.first
    /// Of the mask and the payload of the frame under way.
    private var bytesToSkip: UInt64 = 0
    private var isInMessage = false

    package init() {}

    /// - Returns: the offset of the first byte that shows a violation.
    package mutating func firstViolation(in bytes: UnsafeRawBufferPointer) -> Int? {
        var offset = 0
        while offset < bytes.count {
            if bytesToSkip > 0 {
                let skipped = min(bytesToSkip, UInt64(bytes.count - offset))
                bytesToSkip -= skipped
                offset += Int(skipped)
                continue
            }
            guard unsafe accept(bytes[offset]) else { return offset }
            offset += 1
        }
        return nil
    }

    /// Takes one byte of a header.
    private mutating func accept(_ byte: UInt8) -> Bool {
        switch expected {
        case .first:
            let (opcode, isFinal) = (byte & 0x0F, byte & 0x80 != 0)
            guard byte & 0x70 == 0 else { return false }
            switch opcode {
            case 0:
                guard isInMessage else { return false }
                isInMessage = !isFinal
            case 1, 2:
                guard !isInMessage else { return false }
                isInMessage = !isFinal
            case 8, 9, 10: guard isFinal else { return false }
            default: return false
            }
            expected = .second(opcode: opcode)
        case .second(let opcode):
            guard byte & 0x80 != 0 else { return false }
            let length = byte & 0x7F
            guard opcode < 8 || length < 126 else { return false }
            switch length {
            case 126: expected = .length(bytesLeft: 2, value: 0)
            case 127: expected = .length(bytesLeft: 8, value: 0)
            default: endHeader(payload: UInt64(length))
            }
        case .length(let bytesLeft, let value):
            let value = value << 8 | UInt64(byte)
            if bytesLeft > 1 { expected = .length(bytesLeft: bytesLeft - 1, value: value) } else { endHeader(payload: value) }
        }
        return true
    }

    private mutating func endHeader(payload: UInt64) {
        expected = .first
        let (total, overflows) = payload.addingReportingOverflow(4)
        bytesToSkip = overflows ? .max : total
    }
}
