public import Wire

/// The state of a call with an assistant, for screens.
public struct AssistantCallState: Sendable, Hashable {
    public enum Phase: Sendable, Hashable {
        /// There has been no call yet.
        case idle
        /// The session is being started.
        case starting
        /// The session's room is being joined.
        case connecting
        case active
        /// The connection was lost and is being restored.
        case reconnecting
        case ended(Ending)
    }

    public enum Ending: Sendable, Hashable {
        /// The user hung up on this device.
        case hungUp
        /// Another device of the user, or the gateway, ended the session.
        case endedElsewhere
        case failed(Failure)
    }

    public enum Failure: Sendable, Hashable {
        case loggedOut
        /// The gateway refused to start the session.
        case refused(GatewayRefusal)
        /// Neither the session nor its room could be reached in time.
        case unreachable
        /// The room refused this device or did not let it reconnect.
        case disconnected(Disconnection)
    }

    /// The state of the assistant in the room.
    public enum Assistant: Sendable, Hashable {
        /// It has not joined yet.
        case expected
        /// All workers are busy, or none is connected.
        case waiting(AgentWaitReason)
        case present(AgentState)
        case gone
    }

    public internal(set) var phase = Phase.idle
    /// The session of the current or latest call.
    public internal(set) var sessionID: String?
    public internal(set) var context: Sessions.Context?
    /// Whether the session is logged and summarized.
    public internal(set) var isLogged = false
    public internal(set) var isMuted = false
    /// The reason why the microphone is not heard; nil while it works, and before the call.
    public internal(set) var microphoneProblem: String?
    public internal(set) var assistant = Assistant.expected
    /// The time at which the call became active, by `MediaClock`.
    public internal(set) var activeSince: Instant?
    /// The number of turns that were dropped because the gateway did not accept them.
    public internal(set) var turnsDropped = 0

    public init() {}

    /// Whether there is a call, even if it is only starting.
    public var isInCall: Bool {
        switch phase {
        case .idle, .ended: false
        case .starting, .connecting, .active, .reconnecting: true
        }
    }

    /// Whether to show "Assistant call may be recorded for your summaries." during the call. Always false on a car's display.
    public var showsRecordingNotice: Bool { isInCall && isLogged && context != .carplay }
}

/// A call to start.
public struct AssistantCallRequest: Sendable, Hashable {
    public var context: Sessions.Context
    /// The assistant's id; nil lets the gateway choose.
    public var assistant: String?
    /// Context for the assistant, up to 64 KiB.
    public var clientContext: String?
    /// The assistant's voice; nil for that of the user's settings.
    public var voice: String?
    /// The user's language as a BCP 47 tag; nil for that of the user's settings.
    public var language: String?
    /// The user's consent as known to this device, for gateways that do not report whether a session is logged.
    public var isLoggingEnabled: Bool

    public init(
        _ context: Sessions.Context, assistant: String? = nil, clientContext: String? = nil, voice: String? = nil,
        language: String? = nil, isLoggingEnabled: Bool = false
    ) {
        self.context = context
        self.assistant = assistant
        self.clientContext = clientContext
        self.voice = voice
        self.language = language
        self.isLoggingEnabled = isLoggingEnabled
    }
}
