package import HTTPTypes
package import Sockets

/// An error response to an HTTP or upgrade request.
package struct HTTPError: Error, Sendable, Hashable {
    package var status: HTTPResponse.Status
    /// Machine-readable: lower-case letters and underscores.
    package var code: String
    /// For humans: what is wrong and what to do next.
    package var message: String
    /// Sent as `Retry-After`, in seconds; nil if unknown.
    package var retryAfterSeconds: Int?

    package init(_ status: HTTPResponse.Status, _ code: String, _ message: String, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.retryAfterSeconds = retryAfterSeconds
    }
}

/// An error that maps to an `HTTPError`. If its status is 500, its description is logged, so it must not quote user content. Any other error
/// that a handler throws is answered with 500, and only its type is logged.
package protocol HTTPErrorConvertible: Error {
    var httpError: HTTPError { get }
}

extension HTTPError: HTTPErrorConvertible {
    package var httpError: HTTPError { self }
}

extension HTTPServerResponse {
    package init(_ error: HTTPError) {
        self = .error(error.status, error.code, error.message)
        if let seconds = error.retryAfterSeconds { fields[.retryAfter] = String(seconds) }
    }
}
