internal import Foundation

/// An outgoing request.
package struct OutgoingHTTPRequest: Sendable, Hashable {
    package var url: String
    package var method: String
    /// `host:port` to connect to instead of the URL's.
    package var connectTo: String?
    package var headers: [OutgoingHeader]
    package var body: [UInt8]

    package init(url: String, connectTo: String? = nil, method: String = "POST", headers: [OutgoingHeader], body: [UInt8]) {
        self.url = url
        self.method = method
        self.connectTo = connectTo
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

/// Sends a request. Throws on failure, including its own timeout; `OutgoingClient` throws `OutgoingError`.
package typealias Outgoing = @Sendable (OutgoingHTTPRequest) async throws -> OutgoingResponse

/// Why a request failed. The description reveals only the request's host.
package enum OutgoingError: Error, Sendable, Hashable, CustomStringConvertible {
    case invalidURL(String)
    case unknownHost(String)
    /// Nothing accepts connections there.
    case refused(String)
    /// No TLS, or a certificate that is not trusted.
    case untrusted(String)
    /// Connecting failed otherwise, or the connection or its protocol did before the response was complete.
    case connection(String)
    /// No complete response in time.
    case timeout
    /// Too many requests are waiting.
    case busy
    case cancelled
    case responseTooLong(bytesMax: Int)
    /// The file with trusted certificates cannot be read.
    case trust(path: String)

    package var description: String {
        switch self {
        case .invalidURL(let reason), .connection(let reason): reason
        case .unknownHost(let host): "the host \(host) is unknown"
        case .refused(let host): "\(host) does not accept the connection"
        case .untrusted(let host): "no trusted TLS connection with \(host)"
        case .timeout: "no response in time"
        case .busy: "too many requests are waiting"
        case .cancelled: "the request was cancelled"
        case .responseTooLong(let bytesMax): "the response is longer than \(bytesMax) bytes"
        case .trust(let path): "\(path) holds no certificate that can be read"
        }
    }
}

/// A checked URL of another server: `https://host[:port]/path[?query]`, or `http://` for servers that need no secrecy.
package struct OutgoingURL: Sendable, Hashable {
    let host: String
    let isEncrypted: Bool

    /// - Throws: `OutgoingError.invalidURL`, whose description says how to fix the URL.
    package init(_ text: String) throws(OutgoingError) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw .invalidURL("\"\(text)\" is not a URL; write it as https://host/path")
        }
        guard let scheme = parts.scheme?.lowercased(), ["https", "http"].contains(scheme) else {
            throw .invalidURL("\"\(text)\" is neither https:// nor http://")
        }
        guard parts.user == nil, parts.password == nil, parts.fragment == nil else {
            throw .invalidURL("the URL of \(host) has more than host, port, path and query")
        }
        guard parts.port.map({ (1...65_535).contains($0) }) ?? true else {
            throw .invalidURL("\"\(text)\" has an impossible port; use 1 to 65535")
        }
        guard !(host.hasPrefix("[") && scheme == "https") else {
            throw .invalidURL("\"\(text)\" has an IPv6 address; https:// needs a host name")
        }
        self.host = host
        isEncrypted = scheme == "https"
    }
}
