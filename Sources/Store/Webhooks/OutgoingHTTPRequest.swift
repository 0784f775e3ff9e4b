/// An outgoing POST request.
package struct OutgoingHTTPRequest: Sendable, Hashable {
    package var url: String
    package var headers: [OutgoingHeader]
    package var body: [UInt8]

    package init(url: String, headers: [OutgoingHeader], body: [UInt8]) {
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A header field with a lower-case name.
package struct OutgoingHeader: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

package struct OutgoingResponse: Sendable, Hashable {
    package var status: Int
    package var body: [UInt8]

    package init(status: Int, body: [UInt8] = []) {
        self.status = status
        self.body = body
    }
}

/// Sends a request. Throws on failure, including its own timeout.
package typealias Outgoing = @Sendable (OutgoingHTTPRequest) async throws -> OutgoingResponse

/// An error of `Outgoing` that says what the sender may do about it. Other errors count as `unreachable`.
package protocol OutgoingFailure: Error {
    var cause: OutgoingFailureCause { get }
}

package enum OutgoingFailureCause: Sendable, Hashable {
    /// No complete response in time.
    case timeout
    /// Unknown host, no connection, TLS or protocol error.
    case unreachable
    case responseTooLong
    /// Too many requests of this process are waiting.
    case overloaded
    case cancelled
    case invalidURL
}
