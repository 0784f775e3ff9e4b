/// One request that the gateway makes of another server.
package struct OutgoingRequest: Sendable, Hashable {
    package var url: String
    package var headers: [OutgoingHeader]
    package var body: [UInt8]

    package init(url: String, headers: [OutgoingHeader], body: [UInt8]) {
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// One field of a request, its name in small letters.
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

/// Carries a request (always a POST) to its server. It gives up by itself after a while, by throwing.
package typealias Outgoing = @Sendable (OutgoingRequest) async throws -> OutgoingResponse
