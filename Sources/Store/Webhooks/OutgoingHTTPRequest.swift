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
