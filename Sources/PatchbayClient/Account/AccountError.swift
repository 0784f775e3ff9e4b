/// The reason why a request of an `Account` failed.
public enum AccountError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no login, or the gateway has revoked it: show the login screen.
    case loggedOut
    /// There was no response.
    case unreachable(ConnectError)
    /// The gateway refused the request.
    case refused(GatewayRefusal)
    /// The response did not come from a gateway, or from one of another version.
    case badAnswer(status: Int)
    /// The `TokenStorage` threw an error.
    case storage(String)

    /// The gateway's error code, if it refused the request.
    public var code: GatewayRefusal.Code? {
        if case .refused(let refusal) = self { refusal.code } else { nil }
    }

    /// Whether repeating the request may succeed without any action by the user.
    public var isRetryable: Bool {
        switch self {
        case .loggedOut, .badAnswer, .storage: false
        case .unreachable(let error): error.isRetryable
        case .refused(let refusal): refusal.isRetryable
        }
    }

    public var description: String {
        switch self {
        case .loggedOut: "not logged in, or the login has ended; log in again"
        case .unreachable(let error): error.description
        case .refused(let refusal): refusal.description
        case .badAnswer(let status): "the response (HTTP \(status)) is not that of a gateway; check the URL"
        case .storage(let reason): "the tokens cannot be kept on this device: \(reason)"
        }
    }
}

/// An error response of a gateway (docs/protocol/errors.md, "HTTP").
public struct GatewayRefusal: Sendable, Hashable, CustomStringConvertible {
    /// An error code. Codes of later gateway versions have no constant here.
    public struct Code: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(stringLiteral text: String) {
            self.init(rawValue: text)
        }
    }

    /// The HTTP status.
    public var status: Int
    public var code: Code
    /// A description for people, in English.
    public var message: String
    /// The time after which the request may be repeated.
    public var retryAfter: Duration?

    public init(status: Int, code: Code, message: String, retryAfter: Duration? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    /// Whether repeating the request may succeed.
    public var isRetryable: Bool { status == 408 || status == 429 || status >= 500 }

    public var description: String { "\(message) (HTTP \(status), \(code.rawValue))" }
}

/// The codes that apps are likely to distinguish.
extension GatewayRefusal.Code {
    /// The gateway is shutting down; use another one.
    public static let draining: Self = "draining"
    public static let emailTaken: Self = "email_taken"
    /// The e-mail address must be confirmed first.
    public static let emailUnconfirmed: Self = "email_unconfirmed"
    public static let handleTaken: Self = "handle_taken"
    /// The body does not match the route's schema; the message names the member.
    public static let invalidBody: Self = "invalid_body"
    public static let invalidCredentials: Self = "invalid_credentials"
    /// A value is not permitted, or the account has reached a limit.
    public static let invalidValue: Self = "invalid_value"
    public static let notFound: Self = "not_found"
    public static let sessionEnded: Self = "session_ended"
    /// The store is full; nothing was written.
    public static let storeFull: Self = "store_full"
    public static let tooManyAttempts: Self = "too_many_attempts"
    public static let tooManyRegistrations: Self = "too_many_registrations"
    public static let tooManySessions: Self = "too_many_sessions"

    /// All codes, for the test that compares them with the gateway's.
    package static let known: [Self] = [
        draining, emailTaken, emailUnconfirmed, handleTaken, invalidBody, invalidCredentials, invalidValue, notFound, sessionEnded,
        storeFull, tooManyAttempts, tooManyRegistrations, tooManySessions,
    ]
}
