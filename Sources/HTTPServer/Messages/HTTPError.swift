package import HTTPTypes
package import Sockets

/// Why an HTTP request, or one to upgrade, is not done: what it is answered with.
package struct HTTPError: Error, Sendable, Hashable {
    package var status: HTTPResponse.Status
    /// For programs: small letters and underscores.
    package var code: String
    /// A sentence for people that says what to do next.
    package var message: String
    /// When it is worth to try again, in seconds; nil where nothing is known of that.
    package var retryAfterSeconds: Int?

    package init(_ status: HTTPResponse.Status, _ code: String, _ message: String, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.retryAfterSeconds = retryAfterSeconds
    }
}

/// An error that knows how an HTTP request is answered that ran into it. Any other error of a handler's is answered with 500.
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
