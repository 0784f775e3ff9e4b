package import HTTPTypes
package import Identity
package import Sockets

/// An error response to an HTTP or upgrade request.
package struct HTTPError: Error, Sendable, Hashable {
    package var status: HTTPResponse.Status
    package var code: ErrorCode
    /// For humans: what is wrong and what to do next.
    package var message: String
    /// Sent as `Retry-After`, in seconds; nil if unknown.
    package var retryAfterSeconds: Int?
    /// In a cluster: the node that can respond instead, by its name there.
    package var node: String?

    /// - Parameter status: of a code that has several; nil for the usual one.
    package init(_ code: ErrorCode, status: HTTPResponse.Status? = nil, _ message: String, retryAfterSeconds: Int? = nil) {
        self.status = status ?? code.status
        self.code = code
        self.message = message
        self.retryAfterSeconds = retryAfterSeconds
    }
}

extension HTTPError {
    package static let homeUnavailable = HTTPError(
        .homeUnavailable, "the node that serves the room could not be reached; try again", retryAfterSeconds: 1)
    package static let storeUnavailable = HTTPError(
        .storeBusy, "the store cannot be reached at the moment; try again", retryAfterSeconds: 5)

    /// The room is at home on another node, to which the request is forwarded.
    package static func elsewhere(_ node: String) -> HTTPError {
        var error = homeUnavailable
        error.node = node
        return error
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

/// 401: the token does not verify.
extension TokenError: HTTPErrorConvertible {
    package var httpError: HTTPError { HTTPError(ErrorCode(self), message) }
}

/// 403: the token lacks the grant.
extension GrantError: HTTPErrorConvertible {
    package var httpError: HTTPError { HTTPError(.missingGrant, message) }
}

extension HTTPServerResponse {
    package init(_ error: HTTPError) {
        self = .error(error.status, error.code.rawValue, error.message)
        if let seconds = error.retryAfterSeconds { fields[.retryAfter] = String(seconds) }
        if let node = error.node { fields[.patchbayElsewhere] = node }
    }
}
