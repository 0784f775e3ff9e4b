internal import CLibwebsockets
internal import COpenSSL
internal import Glibc
internal import Wire

/// An outgoing connection until its upgrade: TCP, TLS, one request, and the beginning of its response.
///
/// Subclasses know the request, and what follows from the response.
@safe class OutgoingRequest {
    final weak var edge: EdgeConnection?
    final let endpoint: Endpoint
    /// TCP is not connected yet.
    final private(set) var isConnecting = true
    private var hasAsked = false

    init(_ endpoint: Endpoint) {
        self.endpoint = endpoint
    }

    /// Starts to connect. A name is resolved here, which blocks the loop.
    ///
    /// - Parameter isNumeric: refuses names.
    /// - Returns: the socket, or why there is none.
    static func open(_ endpoint: Endpoint, isNumeric: Bool = false) -> Result<Int32, ConnectionFailure> {
        let flags = isNumeric || endpoint.address != nil ? AI_NUMERICHOST : 0
        return unsafe withResolved(endpoint.address ?? endpoint.host, port: endpoint.port, flags: flags) { found in
            guard let address = unsafe found else { return .failure(ConnectionFailure(message: "no such host, or no way to it")) }
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let descriptor = unsafe socket(address.ai_family, type, 0)
            guard descriptor >= 0 else { return .failure(.system(errno)) }
            if unsafe connect(descriptor, address.ai_addr, address.ai_addrlen) != 0, errno != EINPROGRESS {
                let failure = ConnectionFailure.system(errno)
                close(descriptor)
                return .failure(failure)
            }
            return .success(descriptor)
        }
    }

    /// The socket has become writable for the first time.
    final func connected() {
        guard let edge else { return }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(edge.tcp.descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0, code == 0 else {
            return failed(ConnectionFailure.system(code).message)
        }
        isConnecting = false
        edge.tcp.tuneForMedia()
        edge.tcp.tuneForLiveMedia()
        // With TLS, starts the handshake.
        edge.process()
        advance()
    }

    /// Sends the request once the handshake is done. Called after everything that may have advanced it.
    final func advance() {
        guard !hasAsked, !isConnecting, let edge, !edge.isClosed, edge.isHandshakeDone else { return }
        hasAsked = true
        let bytes = request
        unsafe bytes.withUnsafeBytes { _ = unsafe edge.write($0) }
    }

    // MARK: For subclasses

    /// The request's head.
    var request: [UInt8] { [] }
    /// A piece of the response.
    func receive(_ bytes: UnsafeRawBufferPointer) {}
    /// The server has ended its side.
    func inputEnded() { edge?.fail() }
    /// The connection cannot be established.
    func failed(_ message: String) {}
    func expired() { failed("it took too long") }
    /// The connection has ended before the upgrade.
    func ended() {}
}

enum WebSocketAcceptance {
    /// The Sec-WebSocket-Accept for a key (RFC 6455 section 4.2.2).
    static func value(for key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        unsafe SHA1(text, text.count, &digest)
        return Base64.standard.encode(digest)
    }
}

extension ConnectionFailure {
    fileprivate static func system(_ code: Int32) -> ConnectionFailure {
        ConnectionFailure(message: unsafe String(cString: strerror(code)))
    }
}

/// A server's address, and the credentials that a client presents.
package struct Endpoint: Sendable, Hashable {
    /// The name or numeric address that the certificate is for. Resolving a name blocks the loop.
    package var host: String
    /// The numeric address to connect to; nil: that of `host`.
    package var address: String?
    package var port: Int
    /// With its query.
    package var path: String
    package var authorization: String?
    package var usesTLS: Bool

    package init(
        host: String, address: String? = nil, port: Int, path: String = "/", authorization: String? = nil, usesTLS: Bool = true
    ) {
        self.host = host
        self.address = address
        self.port = port
        self.path = path
        self.authorization = authorization
        self.usesTLS = usesTLS
    }

    /// The request's `Host`.
    var hostField: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (usesTLS ? 443 : 80) ? name : "\(name):\(port)"
    }
}
