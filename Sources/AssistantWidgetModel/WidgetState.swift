/// What a widget shows and knows. `WidgetMachine.handle` changes it.
public struct WidgetState: Sendable, Hashable {
    public enum View: String, Sendable {
        case idle, loading, collapsed, connecting, expanded, transcript, error
    }

    /// What the assistant does, for the status line.
    public enum AgentStatus: String, Sendable {
        case initializing, idle, thinking
        /// It speaks and can be interrupted.
        case waiting
        case error
    }

    public struct Problem: Sendable, Hashable {
        public enum Kind: String, Sendable {
            case initialization, connection, other
        }

        public var kind: Kind
        public var code: String
        public var message: String
        /// Of the WebSocket, if it was closed.
        public var closeCode: Int?
        /// Whether a call was lost that had begun.
        public var hadBegun: Bool
    }

    public internal(set) var view = View.idle
    /// Whether the app wants the widget to load; false keeps it without any network activity.
    public internal(set) var isWanted = false
    /// The assistant's id.
    public internal(set) var assistant = ""
    /// Whether the presentation is the full-screen talk view.
    public internal(set) var isTalk = false
    /// Only a button without text, and the transcript: the panel is never shown as `expanded`.
    public internal(set) var isIconOnly = false
    /// The app's, a BCP 47 tag or empty.
    public internal(set) var language = ""
    /// Of the assistant that was loaded; nil before.
    public internal(set) var settings: WidgetSettings?
    var loaded = ""
    /// Counts loads and calls, so that late answers to earlier ones are ignored.
    public internal(set) var attempt = 0
    public internal(set) var call = WidgetCall()
    /// In the view `error`.
    public internal(set) var problem: Problem?
    /// When the event `tick` is due, in milliseconds.
    public internal(set) var deadline: Int?

    public init() {}

    public var isInCall: Bool { call.phase != .none }

    /// Whether there is the view `expanded`: the icon alone goes on with the transcript.
    public var hasVoiceView: Bool { isTalk || !isIconOnly }

    public var agentStatus: AgentStatus {
        guard call.phase == .connected, let agent = call.agent, !agent.isAway else { return .idle }
        if agent.state == .thinking || (!call.tools.isEmpty && agent.state != .error) { return .thinking }
        return switch agent.state {
        case .speaking: .waiting
        case .initializing: .initializing
        case .error: .error
        case .idle, .listening, .thinking: .idle
        }
    }

    /// Whether the microphone has a screen of its own: the system will ask for it, or refuses it, and the user has not yet decided to type.
    public var hasMicrophoneScreen: Bool {
        isInCall && !call.isTyping && (call.microphone.state == .unasked || call.microphone.code == "permission_denied")
    }
}

/// What happens to a widget. Times are in milliseconds.
public enum WidgetEvent: Sendable, Hashable {
    /// The app's settings. A call is never ended by them.
    case configured(assistant: String, isWanted: Bool, isTalk: Bool, isIconOnly: Bool = false, language: String = "")
    case loaded(WidgetSettings, assistant: String? = nil, attempt: Int)
    case loadFailed(code: String, message: String, attempt: Int)
    /// The user starts a conversation; `text` is said for them once the assistant is there.
    case start(text: String? = nil)
    case connected(identity: String, hasSeenOnboarding: Bool, attempt: Int)
    case connectFailed(WidgetState.Problem.Kind = .connection, code: String, message: String, closeCode: Int? = nil, attempt: Int)
    /// The call ended: by the user, by the gateway, or because the connection could not be restored.
    case disconnected(reason: String, message: String, closeCode: Int? = nil, attempt: Int)
    /// The user ends the conversation, also one that is only being connected.
    case stop
    /// Closes what is open without a call: the panel, or an error.
    case close
    case retry
    case showTranscript
    case showVoice
    /// Without a microphone, the conversation goes on by text.
    case typeInstead
    case tick
    /// Something in the call; ignored without one.
    case conversation(ConversationEvent)
}

/// What happens within a call.
public enum ConversationEvent: Sendable, Hashable {
    case room(WidgetCall.Phase)
    /// An assistant is in the room; `state` is nil if it reports none.
    case agentPresent(identity: String, name: String, state: WidgetCall.AgentState?)
    /// Its connection is lost. It may resume, or be replaced.
    case agentAway(identity: String, name: String, state: WidgetCall.AgentState?)
    case agentState(identity: String, WidgetCall.AgentState)
    case agentGone(identity: String, isIntended: Bool)
    /// Nobody is in the room: only after a new join, where the events that told so were missed.
    case agentAwaited
    /// `reason`: nil if nothing is known to be awaited, `ended` if nobody comes any more.
    case agentWaiting(reason: String?)
    case microphone(WidgetCall.Microphone.State, code: String? = nil, message: String = "")
    case muted(Bool)
    case sound(blockage: String?)
    case recorded(Bool)
    case draining(closesAt: Int?)
    case refused(message: String)
    case segment(WidgetSegment, name: String)
    case playout(segment: String, spokenChars: Int, word: String?)
    case message(name: String, text: String)
    case typed(text: String)
    case toolStarted(id: String, name: String)
    case toolFinished(id: String)
    case toolFailed(id: String, name: String, message: String, canRetry: Bool)
    case card(WidgetCall.Card)
    case cardSending(id: String)
    case cardRefused(id: String)
    /// `note` is what the user chose, as a line of the transcript.
    case cardAnswered(id: String, note: String)
    case cardDismissed(id: String)
    case onboardingFinished(isComplete: Bool)
    case onboardingSkipped
}

/// What the widget's session has to do.
public enum WidgetEffect: Sendable, Hashable {
    case load(attempt: Int)
    case connect(attempt: Int)
    /// Publishes the microphone.
    case microphone
    case leave
    /// Asks the assistant for its introduction.
    case onboarding
    /// Remembers that the user has heard it.
    case remember
    case send(text: String)

    /// As in the web widget.
    public var name: String {
        switch self {
        case .load: "load"
        case .connect: "connect"
        case .microphone: "microphone"
        case .leave: "leave"
        case .onboarding: "onboarding"
        case .remember: "remember"
        case .send: "send"
        }
    }
}
