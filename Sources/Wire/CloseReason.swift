/// Why the gateway closes a connection: the WebSocket close code and its names in events and logs (PROTOCOL, "Closing and resuming").
///
/// Clients may reconnect after 4000 to 4099 and must not after 4100 to 4199.
public enum CloseReason: UInt16, Sendable, CaseIterable, Codable {
    /// The client sent `leave`.
    case left = 1000
    /// Text that is not UTF-8 (RFC 6455 section 8.1).
    case invalidText = 1007
    case messageTooBig = 1009
    /// A violation of the WebSocket protocol (RFC 6455).
    case webSocketProtocol = 1002
    case serverShutdown = 4001
    /// More than 256 KiB of control messages were queued for a client that does not read.
    case slowConsumer = 4002
    case pingTimeout = 4003
    case resumeWindowOver = 4004
    case tokenRevoked = 4100
    case roomClosed = 4102
    case removed = 4103
    /// Another participant joined with the same identity; the newest one stays.
    case duplicateIdentity = 4104
    case limit = 4105
    case protocolError = 4106

    public var code: UInt16 { rawValue }

    /// Whether the client may reconnect.
    public var isRetryable: Bool { (4000...4099).contains(code) }

    /// Reason text of the close frame, at most 123 bytes (RFC 6455 section 5.5).
    public var phrase: String {
        switch self {
        case .left: "bye"
        case .invalidText: "text that is not UTF-8"
        case .messageTooBig: "message too big"
        case .webSocketProtocol: "WebSocket protocol error"
        case .serverShutdown: "server shutdown"
        case .slowConsumer: "slow consumer"
        case .pingTimeout: "ping timeout"
        case .resumeWindowOver: "resume window over"
        case .tokenRevoked: "token bad or revoked"
        case .roomClosed: "room closed"
        case .removed: "removed"
        case .duplicateIdentity: "duplicate identity"
        case .limit: "limit"
        case .protocolError: "protocol error"
        }
    }

    /// The reason in `participant.left` and `bye`.
    public var disconnectReason: DisconnectReason {
        switch self {
        case .left: .clientInitiated
        case .serverShutdown: .serverShutdown
        case .pingTimeout: .connectionTimeout
        case .roomClosed: .roomClosed
        case .removed: .participantRemoved
        case .duplicateIdentity: .duplicateIdentity
        case .tokenRevoked, .limit: .joinFailure
        case .slowConsumer: .mediaFailure
        case .resumeWindowOver, .invalidText, .messageTooBig, .webSocketProtocol, .protocolError: .stateMismatch
        }
    }
}

/// LiveKit's `DisconnectReason`, with its names.
public enum DisconnectReason: String, Sendable, Codable, CaseIterable {
    case unknown = "UNKNOWN_REASON"
    case clientInitiated = "CLIENT_INITIATED"
    case duplicateIdentity = "DUPLICATE_IDENTITY"
    case serverShutdown = "SERVER_SHUTDOWN"
    case participantRemoved = "PARTICIPANT_REMOVED"
    case roomDeleted = "ROOM_DELETED"
    case stateMismatch = "STATE_MISMATCH"
    case joinFailure = "JOIN_FAILURE"
    case migration = "MIGRATION"
    /// The socket closed without a `leave`.
    case signalClose = "SIGNAL_CLOSE"
    case roomClosed = "ROOM_CLOSED"
    case userUnavailable = "USER_UNAVAILABLE"
    case userRejected = "USER_REJECTED"
    case connectionTimeout = "CONNECTION_TIMEOUT"
    case mediaFailure = "MEDIA_FAILURE"
    case agentError = "AGENT_ERROR"
}
