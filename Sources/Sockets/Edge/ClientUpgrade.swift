internal import CLibwebsockets
internal import COpenSSL
internal import Glibc
internal import HTTPTypes
internal import Wire

/// An outgoing connection until its upgrade: TCP, TLS, and the opening handshake of RFC 6455 section 4.1.
@safe final class ClientUpgrade {
    weak var edge: EdgeConnection?
    let endpoint: Endpoint
    private let connection: Connection
    private let key: String
    private var response: [UInt8] = []
    /// TCP is not connected yet.
    private(set) var isConnecting = true
    private var hasAsked = false

    init(_ endpoint: Endpoint, for connection: Connection) {
        self.endpoint = endpoint
        self.connection = connection
        var bytes = [UInt8](repeating: 0, count: 16)
        _ = unsafe RAND_bytes(&bytes, 16)
        key = Base64.standard.encode(bytes)
    }

    /// Starts to connect. A name is resolved here, which blocks the loop.
    ///
    /// - Returns: the socket, or why there is none.
    static func open(_ endpoint: Endpoint) -> Result<Int32, ConnectionFailure> {
        unsafe withResolved(endpoint.host, port: endpoint.port) { found in
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
    func connected() {
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
    func advance() {
        guard !hasAsked, !isConnecting, let edge, !edge.isClosed, edge.isHandshakeDone else { return }
        hasAsked = true
        var request = "GET \(endpoint.path) HTTP/1.1\r\nHost: \(endpoint.hostField)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        request += "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: \(ProtocolLimits.subprotocol)\r\n"
        if let authorization = endpoint.authorization { request += "Authorization: \(authorization)\r\n" }
        var bytes = Array((request + "\r\n").utf8)
        unsafe bytes.withUnsafeMutableBytes { _ = unsafe edge.write(UnsafeRawBufferPointer($0)) }
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        unsafe response += bytes
        guard let end = headEnd else {
            if response.count > RequestHead.bytesMax { failed("the response's head is too long") }
            return
        }
        let head = ResponseHead(response[..<end])
        var rest = Array(response[end...])
        response = []
        guard head.status == 101 else {
            return fail(ConnectionFailure(status: head.status, code: head[HTTPField.Name.patchbayError.canonicalName], message: "refused"))
        }
        guard head["upgrade"]?.lowercased() == "websocket", head["sec-websocket-accept"] == acceptance,
            head["sec-websocket-protocol"] == ProtocolLimits.subprotocol
        else { return failed("the response is no WebSocket handshake") }
        edge?.begin(connection)
        if !rest.isEmpty { unsafe rest.withUnsafeMutableBytes { unsafe connection.receive($0) } }
    }

    private var headEnd: Int? {
        let blank = Array("\r\n\r\n".utf8)
        guard response.count >= 4 else { return nil }
        return (4...response.count).first { response[($0 - 4)..<$0].elementsEqual(blank) }
    }

    /// The Sec-WebSocket-Accept for our key (RFC 6455 section 4.2.2).
    private var acceptance: String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        unsafe SHA1(text, text.count, &digest)
        return Base64.standard.encode(digest)
    }

    func failed(_ message: String) { fail(ConnectionFailure(message: message)) }

    private func fail(_ failure: ConnectionFailure) {
        connection.failure = failure
        edge?.fail()
    }

    /// The connection has ended before the upgrade.
    func ended() {
        if connection.failure == nil {
            connection.failure = ConnectionFailure(message: edge?.certificateFault ?? "the connection was refused")
        }
        connection.ended()
    }
}

extension ConnectionFailure {
    fileprivate static func system(_ code: Int32) -> ConnectionFailure {
        ConnectionFailure(message: unsafe String(cString: strerror(code)))
    }
}

/// The parts of a response's head that a client looks at.
private struct ResponseHead {
    let status: Int
    private var fields: [String: String] = [:]

    init(_ bytes: ArraySlice<UInt8>) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: true)
        status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = HeaderList.items(of: String(line[line.index(after: colon)...])).joined(separator: ",")
        }
    }

    subscript(name: String) -> String? { fields[name.lowercased()] }
}

/// A server's address, and the credentials that a client presents.
package struct Endpoint: Sendable, Hashable {
    /// Resolving a name blocks the loop.
    package var host: String
    package var port: Int
    /// With its query.
    package var path: String
    package var authorization: String?
    package var usesTLS: Bool

    package init(host: String, port: Int, path: String, authorization: String? = nil, usesTLS: Bool = true) {
        self.host = host
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
