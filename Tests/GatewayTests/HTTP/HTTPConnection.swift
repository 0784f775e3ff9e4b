import Foundation

/// An HTTP client on one connection that sends exactly the test's bytes.
final class HTTPConnection {
    let socket: RawSocket
    private var inbox: [UInt8] = []

    init(_ gateway: TestGateway, from source: String = Loopback.fresh(), receiveBuffer: Int32? = nil) throws {
        socket = try .secure(port: gateway.port, from: source, receiveBuffer: receiveBuffer)
    }

    init(on socket: RawSocket) { self.socket = socket }

    /// Pipelines requests, in one TLS record if they fit.
    func send(_ asks: HTTPAsk...) throws { try socket.write(asks.flatMap(\.bytes)) }

    /// The next response; nil at the end of the connection.
    func next(toHead: Bool = false) throws -> HTTPAnswer? { try HTTPAnswer.read(from: socket, inbox: &inbox, hasBody: !toHead) }

    func answer(to ask: HTTPAsk) throws -> HTTPAnswer? {
        try send(ask)
        return try next(toHead: ask.method == "HEAD")
    }

    /// Whether the gateway closes the connection without sending another byte.
    func isAtEnd() throws -> Bool { try inbox.isEmpty && socket.read().isEmpty }
}

extension HTTPAsk {
    /// A request with a JSON body and its length.
    static func json(
        _ method: String, _ path: String, _ body: String, with fields: [(String, String)] = [], type: String = "application/json"
    ) -> HTTPAsk {
        json(method, path, Array(body.utf8), with: fields, type: type)
    }

    static func json(
        _ method: String, _ path: String, _ body: [UInt8], with fields: [(String, String)] = [], type: String = "application/json"
    ) -> HTTPAsk {
        let own = [("Content-Type", type), ("Content-Length", String(body.count))]
        return HTTPAsk(method: method, path: path, fields: (own + fields).map { (name: $0.0, value: $0.1) }, body: body)
    }
}
