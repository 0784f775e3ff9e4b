import COpenSSL
import Foundation
import Glibc

@testable import TLSRecords

/// A client's TCP connection, optionally with TLS, without WebSocket or libwebsockets, so that the test controls every byte.
///
/// Blocks, for at most the time given. Used by one thread.
final class RawSocket {
    private(set) var descriptor: Int32
    private var tls: OpaquePointer?

    /// Connects by TCP.
    ///
    /// - Parameters:
    ///   - receiveBuffer: bytes that the kernel buffers for this socket; a small number makes it a slow reader early.
    ///   - segmentBytes: the greatest TCP segment that it accepts.
    init(port: Int, from source: String = Loopback.fresh(), receiveBuffer: Int32? = nil, segmentBytes: Int32? = nil) throws {
        _ = Self.prepared
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SocketFault("no socket", errno) }
        if let receiveBuffer { set(SOL_SOCKET, SO_RCVBUF, receiveBuffer) }
        if let segmentBytes { set(Int32(IPPROTO_TCP), TCP_MAXSEG, segmentBytes) }
        set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        var own = Self.address(source, 0)
        var other = Self.address("127.0.0.1", port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
        }
        guard isBound else { throw failed("cannot bind to \(source)") }
        let isUp = withUnsafePointer(to: &other) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
        }
        guard isUp else { throw failed("cannot connect to port \(port)") }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    /// Connects with TLS.
    static func secure(
        port: Int, from source: String = Loopback.fresh(), receiveBuffer: Int32? = nil, segmentBytes: Int32? = nil,
        offering versions: Versions = .recent
    ) throws -> RawSocket {
        let socket = try RawSocket(port: port, from: source, receiveBuffer: receiveBuffer, segmentBytes: segmentBytes)
        try socket.startTLS(offering: versions)
        return socket
    }

    deinit { close() }

    /// The TLS versions and suites that a client offers.
    enum Versions: Sendable {
        case recent, upTo11, upTo12
        /// TLS 1.2 with these suites, in OpenSSL's syntax.
        case suites12(String)
        /// TLS 1.3 with one cipher suite.
        case suite(String)
    }

    /// - Parameter protocols: names for ALPN (RFC 7301) in order of preference; without ALPN if empty.
    func startTLS(offering versions: Versions = .recent, protocols: [String] = []) throws {
        let tls = SSL_new(Self.context)!
        self.tls = tls
        switch versions {
        case .recent: break
        case .upTo11:
            SSL_ctrl(tls, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil)
            SSL_ctrl(tls, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_1_VERSION), nil)
        case .upTo12: SSL_ctrl(tls, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        case .suites12(let names):
            SSL_ctrl(tls, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
            SSL_set_cipher_list(tls, names)
        case .suite(let name): SSL_set_ciphersuites(tls, name)
        }
        let names = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !names.isEmpty { SSL_set_alpn_protos(tls, names, UInt32(names.count)) }
        SSL_set_fd(tls, descriptor)
        _ = try retry("TLS handshake") { SSL_connect(tls) }
    }

    var protocolVersion: String { tls.map { String(cString: SSL_get_version($0)) } ?? "" }

    /// The protocol negotiated by ALPN; empty if none.
    var applicationProtocol: String {
        var (name, length) = (nil as UnsafePointer<UInt8>?, 0 as UInt32)
        if let tls { SSL_get0_alpn_selected(tls, &name, &length) }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// The serial number of the server's certificate.
    var certificateSerial: Int? {
        guard let tls, let certificate = SSL_get1_peer_certificate(tls) else { return nil }
        defer { X509_free(certificate) }
        return ASN1_INTEGER_get(X509_get_serialNumber(certificate))
    }

    // MARK: Bytes

    /// Sends all bytes.
    func write(_ bytes: [UInt8], within span: Duration = Patience.usual) throws {
        var rest = bytes[...]
        while !rest.isEmpty { rest = rest.dropFirst(try writeSome(rest, within: span)) }
    }

    /// Sends everything that `body` writes together, so that the peer finds several records in one read.
    func together(_ body: () throws -> Void) rethrows {
        set(Int32(IPPROTO_TCP), TCP_CORK, 1)
        defer { set(Int32(IPPROTO_TCP), TCP_CORK, 0) }
        try body()
    }

    /// Sends as much as the kernel accepts.
    ///
    /// - Returns: how many bytes.
    func writeSome(_ bytes: ArraySlice<UInt8>, within span: Duration = Patience.usual) throws -> Int {
        let bytes = Array(bytes.prefix(16_384))
        if let tls { return Int(try retry("write", within: span) { SSL_write(tls, bytes, Int32(bytes.count)) }) }
        return try retryPlain("write", for: POLLOUT, within: span) { send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Waits for bytes and reads those available; empty at the end of the connection, whatever its reason.
    func read(within span: Duration = Patience.usual) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count: Int
        do {
            if let tls {
                count = Int(try retry("read", within: span) { SSL_read(tls, &buffer, Int32(buffer.count)) })
            } else {
                count = try retryPlain("read", for: POLLIN, within: span) { recv(descriptor, &buffer, buffer.count, 0) }
            }
        } catch is SocketFault {
            return []
        }
        return Array(buffer.prefix(count))
    }

    // MARK: Records

    /// The TLS records that `write` would send for these bytes.
    func sealed(_ bytes: [UInt8]) -> [UInt8] {
        guard let tls, let usual = SSL_get_wbio(tls), let sink = BIO_new(BIO_s_mem()) else { return [] }
        BIO_up_ref(usual)
        SSL_set0_wbio(tls, sink)
        SSL_write(tls, bytes, Int32(bytes.count))
        var records = [UInt8](repeating: 0, count: BIO_ctrl_pending(sink))
        BIO_read(sink, &records, Int32(records.count))
        SSL_set0_wbio(tls, usual)
        return records
    }

    /// Sends bytes that are already sealed, or never are.
    func writeAsTheyAre(_ bytes: [UInt8], within span: Duration = Patience.usual) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let some = Array(rest)
            rest = rest.dropFirst(
                try retryPlain("write", for: POLLOUT, within: span) { send(descriptor, some, some.count, Int32(MSG_NOSIGNAL)) })
        }
    }

    /// Sends a KeyUpdate, and requests one from the peer if `ofBoth` (RFC 8446 section 4.6.3).
    func updateKey(ofBoth: Bool) throws {
        SSL_key_update(tls, ofBoth ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED)
        _ = try retry("key update") { SSL_do_handshake(tls) }
    }

    /// Sends close_notify (RFC 8446 section 6.1).
    func sayGoodbye() { if let tls { SSL_shutdown(tls) } }

    /// Ends OpenSSL's part: the test seals and opens its own records from here on.
    func takeOverRecords() throws -> CraftedRecords {
        guard let tls, let ciphers = RecordCiphers(of: tls) else { throw DidNotHappen(what: "keys of the connection") }
        return CraftedRecords(socket: self, ciphers: ciphers)
    }

    // MARK: The end

    /// Closes with FIN, without a TLS alert.
    func close() {
        if let tls { SSL_free(tls) }
        tls = nil
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Closes with RST.
    func reset() {
        var lingering = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    // MARK: Below

    private func retry(_ what: String, within span: Duration = Patience.usual, _ body: () -> Int32) throws -> Int32 {
        let deadline = ContinuousClock.now + span
        while true {
            ERR_clear_error()
            let result = body()
            if result > 0 { return result }
            switch SSL_get_error(tls, result) {
            case SSL_ERROR_WANT_READ: try wait(for: POLLIN, what, until: deadline)
            case SSL_ERROR_WANT_WRITE: try wait(for: POLLOUT, what, until: deadline)
            default: throw SocketFault(what, errno)
            }
        }
    }

    private func retryPlain(_ what: String, for event: Int32, within span: Duration, _ body: () -> Int) throws -> Int {
        let deadline = ContinuousClock.now + span
        while true {
            let result = body()
            if result >= 0 { return result }
            guard errno == EAGAIN || errno == EINTR else { throw SocketFault(what, errno) }
            try wait(for: event, what, until: deadline)
        }
    }

    private func wait(for event: Int32, _ what: String, until deadline: ContinuousClock.Instant) throws {
        let span = deadline - .now
        guard span > .zero else { throw DidNotHappen(what: what) }
        var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        poll(&entry, 1, Int32(span.components.seconds * 1_000 + span.components.attoseconds / 1_000_000_000_000_000 + 1))
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func failed(_ what: String) -> SocketFault {
        let fault = SocketFault(what, errno)
        close()
        return fault
    }

    private static func address(_ host: String, _ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return address
    }

    /// Shared by all connections; OpenSSL counts its references under a lock. Verifies no certificates.
    private nonisolated(unsafe) static let context: OpaquePointer = {
        let context = SSL_CTX_new(TLS_client_method())!
        // For tests that craft their own records.
        HandshakeSecrets.record(of: context)
        return context
    }()

    /// Makes writing to a closed connection an error instead of a signal.
    private static let prepared: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
}

/// The connection has failed or could not be opened.
struct SocketFault: Error, CustomStringConvertible {
    let description: String

    init(_ what: String, _ code: Int32) {
        description = "\(what): \(String(cString: strerror(code)))"
    }
}

extension RawSocket {
    /// A TLS client's first message.
    static var clientHello: [UInt8] {
        let tls = SSL_new(context)!
        defer { SSL_free(tls) }
        let sink = BIO_new(BIO_s_mem())!
        SSL_set_bio(tls, BIO_new(BIO_s_mem()), sink)
        _ = SSL_connect(tls)
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(sink))
        BIO_read(sink, &bytes, Int32(bytes.count))
        return bytes
    }
}
