package import HTTPTypes
package import Sockets
package import Wire

/// An HTTP request as passed to a handler. A value that may outlive its connection.
package struct HTTPServerRequest: Sendable {
    package var method: HTTPRequest.Method
    /// Percent-decoded, without the query.
    package var path: String
    /// Path parameters by name (`:id` under `id`), set by the router.
    package var parameters: [String: String] = [:]
    /// A selection of the request's headers: `HTTPExchange.headers`.
    package var headers: HTTPFields
    /// The Host header, with the port.
    package var host: String?
    package var body: [UInt8]
    package var isSecure: Bool
    /// Without the port; for IPv6 the network prefix.
    package var peerAddress: String
    /// The client's `X-Request-ID` if valid, otherwise a new one. Appears in the response and in logs.
    package var requestID: String
    package var receivedAt: Instant
    private let queryItem: @Sendable (String) -> String?

    package init(
        method: HTTPRequest.Method, path: String, query: [String: String] = [:], headers: HTTPFields = [:], body: [UInt8] = [],
        isSecure: Bool = true, peerAddress: String = "127.0.0.1", receivedAt: Instant = Instant(nanoseconds: 0)
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.isSecure = isSecure
        self.peerAddress = peerAddress
        self.receivedAt = receivedAt
        requestID = RequestID.chosen(byClient: headers[.requestID])
        queryItem = { query[$0] }
    }

    package init(_ exchange: HTTPExchange, at now: Instant) {
        method = exchange.method
        path = exchange.path
        headers = exchange.headers
        host = exchange.host
        body = exchange.body
        isSecure = exchange.isSecure
        peerAddress = exchange.peerAddress
        receivedAt = now
        requestID = RequestID.chosen(byClient: headers[.requestID])
        let query = exchange.query
        queryItem = { query[$0] }
    }

    /// A percent-decoded query value, or nil if absent.
    package func query(_ name: String) -> String? { queryItem(name) }

    /// The value of a path parameter. Traps if the route's path does not declare it.
    package func parameter(_ name: String) -> String {
        guard let value = parameters[name] else { preconditionFailure("the route's path has no :\(name)") }
        return value
    }
}

/// The request identifier, which correlates the response, log lines and webhooks.
package enum RequestID {
    /// Longer identifiers are replaced.
    static let charactersMax = 128

    /// The identifier of the HTTP request that the current task handles; nil outside of requests.
    @TaskLocal package static var current: String?

    package static func chosen(byClient text: String?) -> String {
        if let text, 1...charactersMax ~= text.utf8.count, text.utf8.allSatisfy(isHarmless) { return text }
        return Hex.encode(randomBytes(8))
    }

    /// Whether the byte has no special meaning in a log or a header.
    private static func isHarmless(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
