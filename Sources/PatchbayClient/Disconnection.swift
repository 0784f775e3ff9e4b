public import Wire

/// Why a connection ended.
public enum Disconnection: Sendable, Hashable, CustomStringConvertible {
    /// We left.
    case left
    /// The gateway closed the connection and said why.
    case closed(CloseReason)
    /// It was closed with a code that PROTOCOL does not know.
    case closedWithCode(UInt16)
    /// The socket went away without a word.
    case lost
    /// Nothing came for as long as `hello` allows, or a ping went unanswered for 4 s while our place could still be taken back.
    case pingTimeout
    /// An attempt to connect failed.
    case attemptFailed(ConnectError)
    /// All attempts to come back failed; the last one so.
    case gaveUp(ConnectError)

    /// What a WebSocket close code means; nil is a socket that went away without one.
    init(closeCode code: UInt16?) {
        switch code {
        // 1005 and 1006 are "no code" (RFC 6455 section 7.1.5).
        case nil, 1005, 1006: self = .lost
        case let code?: self = CloseReason(rawValue: code).map(Disconnection.closed) ?? .closedWithCode(code)
        }
    }

    /// Whether coming back makes sense: the codes 4000–4099, and a line that went away. RFC 6455's 1001 and 1011 to 1014 are
    /// what a proxy on the way says when its own line went away.
    public var isRetryable: Bool {
        switch self {
        case .lost, .pingTimeout: true
        case .closed(let reason): reason.isRetryable
        case .closedWithCode(let code): (4000...4099).contains(code) || code == 1001 || (1011...1014).contains(code)
        case .attemptFailed(let error): error.isRetryable
        case .left, .gaveUp: false
        }
    }

    public var description: String {
        switch self {
        case .left: "left"
        case .closed(let reason): "closed by the gateway: \(reason.phrase) (\(reason.code))"
        case .closedWithCode(let code): "closed by the gateway with code \(code)"
        case .lost: "the connection was lost"
        case .pingTimeout: "the gateway fell silent"
        case .attemptFailed(let error): error.message
        case .gaveUp(let error): "gave up: \(error)"
        }
    }
}
