/// Why the gateway closes a connection: the WebSocket close code and its names in events and logs (docs/protocol/close-codes.md).
///
/// Clients may reconnect after 4000 to 4099 and must not after 4100 to 4199.
public enum CloseReason: UInt16, Sendable, CaseIterable, Codable {
    case left = 1000
    case invalidText = 1007
    case messageTooBig = 1009
    case webSocketProtocol = 1002
    case serverShutdown = 4001
    case slowConsumer = 4002
    case pingTimeout = 4003
    case resumeWindowOver = 4004
    case moved = 4005
    case tokenRevoked = 4100
    case roomClosed = 4102
    case removed = 4103
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
        case .moved: "room moved"
        case .tokenRevoked: "token bad or revoked"
        case .roomClosed: "room closed"
        case .removed: "removed"
        case .duplicateIdentity: "duplicate identity"
        case .limit: "limit"
        case .protocolError: "protocol error"
        }
    }

    /// When the gateway closes with it, for the reference.
    package var meaning: String {
        switch self {
        case .left: "the client sent `leave`; the others get the reason that it gave"
        case .invalidText: "a text message, or the reason of a close frame"
        case .messageTooBig: "binary over 16 KiB, text over 64 KiB"
        case .webSocketProtocol:
            """
            the client violated RFC 6455: an unmasked frame, a reserved bit or opcode, wrong fragmentation, a control frame over \
            125 bytes, a length that is not in its shortest form or 2⁶³ or more, a close frame with one byte or with a code that \
            may not be sent
            """
        case .serverShutdown: "a drain's deadline passed, or the client's shard stood still and missed events"
        case .slowConsumer: "over 256 KiB of control messages are queued"
        case .pingTimeout: "no sign of life for 15 s; the session can be resumed"
        case .resumeWindowOver: "more events occurred during a resume than can be replayed"
        case .moved: "in a cluster: the room moves to another node, or the node that forwards the connection ends; resume at once"
        case .tokenRevoked:
            """
            own channels only: the user's token expired or was revoked by a change of the password, or the account was deleted. \
            Another token may connect. Never sent on a room connection
            """
        case .roomClosed: "the room has ended, or was deleted (`ROOM_DELETED`)"
        case .removed: "removed by an administrator"
        case .duplicateIdentity: "the same identity connected or resumed elsewhere; the newest connection wins"
        case .limit: "the last free place was taken in the meantime; on own channels, one device too many"
        case .protocolError: "one hundred malformed messages within a second"
        }
    }

    /// The reason in `participant.left` and `bye`.
    public var disconnectReason: DisconnectReason {
        switch self {
        case .left: .clientInitiated
        case .serverShutdown: .serverShutdown
        case .pingTimeout: .connectionTimeout
        case .moved: .migration
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
