public import Wire

/// What a call with an assistant is doing, for the screens that show it.
public struct AssistantCallState: Sendable, Hashable {
    public enum Phase: Sendable, Hashable {
        /// No call since the start.
        case idle
        /// The session is being started.
        case starting
        /// The session's room is being joined.
        case connecting
        case active
        /// The connection was lost and is being restored; the call goes on.
        case reconnecting
        case ended(Ending)
    }

    public enum Ending: Sendable, Hashable {
        /// The user hung up on this device.
        case hungUp
        /// The session was ended by another device of the user, or by the gateway.
        case endedElsewhere
        case failed(Failure)
    }

    public enum Failure: Sendable, Hashable {
        case loggedOut
        /// The session could not be started: the gateway's reason.
        case refused(GatewayRefusal)
        /// Neither the session nor its room could be reached in time.
        case unreachable
        /// The room refused this device or did not let it back in.
        case disconnected(Disconnection)
    }

    /// What is known of the assistant in the room.
    public enum Assistant: Sendable, Hashable {
        /// It has not joined yet.
        case expected
        /// All workers are busy, or none is connected.
        case waiting(AgentWaitReason)
        case present(AgentState)
        case gone
    }

    public internal(set) var phase = Phase.idle
    /// The session of this call; after its end, that of the last one.
    public internal(set) var sessionID: String?
    public internal(set) var context: Sessions.Context?
    /// Whether the session is logged and summarized.
    public internal(set) var isLogged = false
    public internal(set) var isMuted = false
    /// Why the microphone is not heard; nil while it is, and before the call.
    public internal(set) var microphoneProblem: String?
    public internal(set) var assistant = Assistant.expected
    /// By `MediaClock`, when the call became active.
    public internal(set) var activeSince: Instant?
    /// Turns that were dropped because the gateway did not take them.
    public internal(set) var turnsDropped = 0

    public init() {}

    /// Whether there is a call, also one that is only being started.
    public var isInCall: Bool {
        switch phase {
        case .idle, .ended: false
        case .starting, .connecting, .active, .reconnecting: true
        }
    }

    /// Whether the call's screen says "Assistant call may be recorded for your summaries." A car's display never does.
    public var showsRecordingNotice: Bool { isInCall && isLogged && context != .carplay }
}

/// A call to start.
public struct AssistantCallRequest: Sendable, Hashable {
    public var context: Sessions.Context
    /// The id of an assistant; nil lets the gateway choose.
    public var assistant: String?
    /// For the assistant, up to 64 KiB.
    public var clientContext: String?
    /// The user's consent as this device knows it, for gateways that do not say whether a session is logged.
    public var isLoggingEnabled: Bool

    public init(
        _ context: Sessions.Context, assistant: String? = nil, clientContext: String? = nil, isLoggingEnabled: Bool = false
    ) {
        self.context = context
        self.assistant = assistant
        self.clientContext = clientContext
        self.isLoggingEnabled = isLoggingEnabled
    }
}
