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
    package var headers: HTTPFields
    /// The Host header, with the port.
    package var host: String?
    package var body: [UInt8]
    package var isSecure: Bool
    /// Without the port; for IPv6 the network prefix.
    package var peerAddress: String
    package let context: RequestContext
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
        context = RequestContext(id: headers[.requestID], traceparent: headers[.traceparent])
        queryItem = { query[$0] }
    }

    package init(_ request: ReceivedRequest, body: [UInt8] = [], at now: Instant) {
        method = request.head.method
        path = Self.path(request.head.path)
        headers = request.head.fields
        host = request.head.host
        self.body = body
        isSecure = request.isSecure
        peerAddress = request.source.address
        receivedAt = now
        context = RequestContext(id: headers[.requestID], traceparent: headers[.traceparent])
        let query = request.head.query
        queryItem = { query[$0] }
    }

    /// LiveKit's server tolerates a double slash before `/twirp/`, which clients send whose URL ends with a slash.
    private static func path(_ path: String) -> String {
        path.hasPrefix("/" + TwirpError.pathPrefix) ? String(path.dropFirst()) : path
    }

    /// Appears in the response and in the log.
    package var requestID: String { context.id }

    /// A percent-decoded query value, or nil if absent.
    package func query(_ name: String) -> String? { queryItem(name) }

    /// The value of a path parameter. Traps if the route's path does not declare it.
    package func parameter(_ name: String) -> String {
        guard let value = parameters[name] else { preconditionFailure("the route's path has no :\(name)") }
        return value
    }
}
