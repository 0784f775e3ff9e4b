internal import HTTPTypes
package import Sockets
internal import Wire

/// An error response of LiveKit's server API, `{"code","msg","meta"}` (Twirp specification, "Errors").
package struct TwirpError: Error, Sendable, Hashable {
    /// The codes of Twirp that the gateway uses, with their statuses.
    package enum Code: String, Sendable {
        case invalidArgument = "invalid_argument"
        /// The body cannot be decoded.
        case malformed
        case unauthenticated
        case permissionDenied = "permission_denied"
        case notFound = "not_found"
        /// No such service or method, or a content type that is neither Protocol Buffers nor JSON.
        case badRoute = "bad_route"
        case alreadyExists = "already_exists"
        case failedPrecondition = "failed_precondition"
        case resourceExhausted = "resource_exhausted"
        case deadlineExceeded = "deadline_exceeded"
        case canceled
        case unimplemented
        case unavailable
        case `internal`

        var status: HTTPResponse.Status {
            switch self {
            case .invalidArgument, .malformed: .badRequest
            case .unauthenticated: .unauthorized
            case .permissionDenied: .forbidden
            case .notFound, .badRoute: .notFound
            case .alreadyExists: .conflict
            case .failedPrecondition: .preconditionFailed
            case .resourceExhausted: .tooManyRequests
            case .deadlineExceeded, .canceled: .requestTimeout
            case .unimplemented: .notImplemented
            case .unavailable: .serviceUnavailable
            case .internal: .internalServerError
            }
        }
    }

    package let code: Code
    package let message: String
    /// Further facts, such as the name of a wrong argument.
    package var meta: [String: String] = [:]
    /// The error as other routes report it, for metrics and logs.
    private let cause: HTTPError

    package init(_ code: Code, _ message: String) {
        (self.code, self.message) = (code, message)
        // `internal` from here is a participant's failure. The gateway's own come as an `HTTPError`, and are logged.
        cause = HTTPError(code.cause, status: code == .internal ? .badGateway : code.status, message)
    }

    /// `invalid_argument` of a field of the request.
    package init(argument: String, _ message: String) {
        self.init(.invalidArgument, message)
        meta = ["argument": argument]
    }

    /// The error of a service, or of the token.
    package init(_ cause: HTTPError) {
        self.cause = cause
        code = Code(cause)
        message = cause.code == .missingGrant ? "permissions denied: \(cause.message)" : cause.message
    }
}

extension TwirpError: HTTPErrorConvertible {
    package var httpError: HTTPError { cause }
}

extension TwirpError.Code {
    fileprivate init(_ error: HTTPError) {
        self =
            switch (error.code, error.status.code) {
            // As LiveKit, also for a valid token.
            case (.missingGrant, _), (_, 401): .unauthenticated
            case (.invalidBody, _), (.badRequest, _): .malformed
            case (_, 403): .permissionDenied
            case (_, 404): .notFound
            case (_, 405): .badRoute
            case (_, 408), (_, 504): .deadlineExceeded
            case (_, 409): .failedPrecondition
            case (_, 413), (_, 429), (_, 507): .resourceExhausted
            case (_, 400..<500): .invalidArgument
            case (_, 501): .unimplemented
            case (_, 503): .unavailable
            default: .internal
            }
    }

    fileprivate var cause: ErrorCode {
        switch self {
        case .invalidArgument: .invalidArgument
        case .malformed: .invalidBody
        case .unauthenticated, .permissionDenied: .notAllowed
        case .notFound, .badRoute: .notFound
        case .alreadyExists, .failedPrecondition: .conflict
        case .resourceExhausted: .limitExceeded
        case .deadlineExceeded, .canceled, .unavailable, .unimplemented, .internal: .unsupported
        }
    }
}

extension HTTPServerResponse {
    /// An error response in the format of the path: below `/twirp/` that of LiveKit's server API.
    package init(_ error: any HTTPErrorConvertible, to request: HTTPServerRequest) {
        guard request.path.hasPrefix(TwirpError.pathPrefix) else {
            self.init(error.httpError)
            return
        }
        self.init(error as? TwirpError ?? TwirpError(error.httpError, unroutedAt: request))
    }

    private init(_ error: TwirpError) {
        let cause = error.httpError
        self.init(cause)
        // Too large a body has a status of its own, which Twirp lacks.
        status = cause.status == .contentTooLarge ? cause.status : error.code.status
        // Encoding only throws for infinite numbers, which do not occur.
        body = (try? JSON.encode(error, names: .asDeclared)) ?? []
    }
}

extension TwirpError: Encodable {
    package static let pathPrefix = "/twirp/"

    /// Every error of the API in the OpenAPI document.
    package static let schema = Schema.named(
        "TwirpError", .object([.required("code", .text(1...64)), .required("msg", .text), .optional("meta", .map(of: .text))]))

    private enum Key: String, CodingKey {
        case code, msg, meta
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(code.rawValue, forKey: .code)
        try members.encode(message, forKey: .msg)
        if !meta.isEmpty { try members.encode(meta, forKey: .meta) }
    }

    /// An error that no method has thrown: a missing path or method is Twirp's `bad_route`.
    fileprivate init(_ cause: HTTPError, unroutedAt request: HTTPServerRequest) {
        guard cause.code == .notFound || cause.code == .methodNotAllowed else {
            self.init(cause)
            return
        }
        self.init(badRoute: request, "there is no such method: send POST /twirp/livekit.<Service>/<Method>")
    }

    package init(badRoute request: HTTPServerRequest, _ message: String) {
        self.init(.badRoute, message)
        meta = ["twirp_invalid_route": "\(request.method.rawValue) \(request.path)"]
    }
}
