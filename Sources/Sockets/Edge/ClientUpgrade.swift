internal import COpenSSL
internal import HTTPTypes
internal import Wire

/// Asks a server for a WebSocket: the opening handshake of RFC 6455 section 4.1, and the check of the response.
@safe final class ClientUpgrade: OutgoingRequest {
    private let connection: Connection
    private let key: String
    private var response: [UInt8] = []
    private var failure: ConnectionFailure?

    init(_ endpoint: Endpoint, for connection: Connection) {
        self.connection = connection
        var bytes = [UInt8](repeating: 0, count: 16)
        _ = unsafe RAND_bytes(&bytes, 16)
        key = Base64.standard.encode(bytes)
        super.init(endpoint)
    }

    override var request: [UInt8] {
        var request = "GET \(endpoint.path) HTTP/1.1\r\nHost: \(endpoint.hostField)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        request += "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: \(ProtocolLimits.subprotocol)\r\n"
        if let authorization = endpoint.authorization { request += "Authorization: \(authorization)\r\n" }
        return Array((request + "\r\n").utf8)
    }

    override func receive(_ bytes: UnsafeRawBufferPointer) {
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
        guard head["upgrade"]?.lowercased() == "websocket", head["sec-websocket-accept"] == WebSocketAcceptance.value(for: key),
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

    override func failed(_ message: String) { fail(ConnectionFailure(message: message)) }

    private func fail(_ failure: ConnectionFailure) {
        self.failure = failure
        edge?.fail()
    }

    override func ended() {
        connection.ended(failure ?? ConnectionFailure(message: edge?.certificateFault ?? "the connection was refused"))
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
