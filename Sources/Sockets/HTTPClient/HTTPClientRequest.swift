package import HTTPTypes

/// One request that is made of another server.
package struct HTTPClientRequest: Sendable {
    package var method: String
    /// Its `address` is found out.
    package var endpoint: Endpoint
    /// Without host and length, which are added.
    package var fields: HTTPFields
    package var body: [UInt8]
    /// How long all of it may take, from asking for the host's addresses to the last byte of the answer.
    package var timeout: Duration
    /// The longest answer that is taken, in bytes.
    package var answerBytesMax: Int

    package init(
        _ method: String, _ endpoint: Endpoint, fields: HTTPFields = [:], body: [UInt8] = [], timeout: Duration,
        answerBytesMax: Int = 16 << 20
    ) {
        self.method = method
        self.endpoint = endpoint
        self.fields = fields
        self.body = body
        self.timeout = timeout
        self.answerBytesMax = answerBytesMax
    }

    func endpoint(at address: String?) -> Endpoint {
        var endpoint = endpoint
        endpoint.address = address
        return endpoint
    }
}

/// An answer, whatever its status. Redirects are not followed.
package struct HTTPAnswer: Sendable {
    package var status: Int
    package var body: [UInt8]
}

/// Why there is no answer. None of these words tells more of a request than its host.
package enum HTTPClientError: Error, Sendable {
    /// The host has no address, for the reason that the system gives.
    case unknownHost(String, reason: String)
    case connection(ConnectError)
    case timeout
    /// As many requests wait as may.
    case busy
    case cancelled
}

extension HTTPClientError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownHost(let host, let reason): "the host \(host) is not known: \(reason)"
        case .connection(let error): error.message
        case .timeout: "no answer in time"
        case .busy: "too many requests wait to be made"
        case .cancelled: "nobody waits for this any more"
        }
    }
}
