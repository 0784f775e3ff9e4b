/// Why a connection ends: the WebSocket close code and what events and logs call it.
///
/// The catalogue of PROTOCOL section 7. Codes 4000–4099 invite to reconnect, 4100–4199 forbid it.
public enum CloseReason: UInt16, Sendable, CaseIterable, Codable {
    /// The client asked for it.
    case left = 1000
    /// RFC 6455 section 8.1: text that is not UTF-8.
    case invalidText = 1007
    case messageTooBig = 1009
    /// RFC 6455: the client broke the WebSocket protocol itself.
    case webSocketProtocol = 1002
    case serverShutdown = 4001
    /// Over 256 KiB of control messages waited for a listener that does not read.
    case slowConsumer = 4002
    case pingTimeout = 4003
    case resumeWindowOver = 4004
    case tokenRevoked = 4100
    case roomClosed = 4102
    case removed = 4103
    /// Somebody joined under the same identity; the newest wins.
    case duplicateIdentity = 4104
    case limit = 4105
    case protocolError = 4106

    public var code: UInt16 { rawValue }

    /// Whether reconnecting makes sense.
    public var isRetryable: Bool { (4000...4099).contains(code) }

    /// What the close frame says, at most 123 bytes (RFC 6455 section 5.5).
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

    /// What `participant.left` and `bye` call it.
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

/// LiveKit's `DisconnectReason`, by its names.
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
    /// The socket went away without a word.
    case signalClose = "SIGNAL_CLOSE"
    case roomClosed = "ROOM_CLOSED"
    case userUnavailable = "USER_UNAVAILABLE"
    case userRejected = "USER_REJECTED"
    case connectionTimeout = "CONNECTION_TIMEOUT"
    case mediaFailure = "MEDIA_FAILURE"
    case agentError = "AGENT_ERROR"
}
