/// The state of a widget. `WidgetMachine.handle` changes it.
public struct WidgetState: Sendable, Hashable {
    public enum View: String, Sendable {
        case idle, loading, collapsed, connecting, expanded, transcript, error
    }

    /// The assistant's activity, for the status line.
    public enum AgentStatus: String, Sendable {
        case initializing, idle, thinking
        /// The assistant is speaking and can be interrupted.
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
        /// The close code of the WebSocket, if it was closed.
        public var closeCode: Int?
        /// Whether the lost call had been connected.
        public var hadBegun: Bool
        /// The texts that were not sent, which a retry sends.
        public var pendingTexts: [String] = []
    }

    public internal(set) var view = View.idle
    /// Whether the app wants the widget to load; if false, it causes no network activity.
    public internal(set) var isWanted = false
    /// The assistant's id.
    public internal(set) var assistant = ""
    /// Whether the presentation is the full-screen talk view.
    public internal(set) var isTalk = false
    /// Whether the widget consists of a button without text and the transcript: the panel is never shown as `expanded`.
    public internal(set) var isIconOnly = false
    /// The language that the app has set, as a BCP 47 tag; may be empty.
    public internal(set) var language = ""
    /// The settings of the loaded assistant; nil before.
    public internal(set) var settings: WidgetSettings?
    var loaded = ""
    /// The number of loads and calls, by which late responses to earlier ones are recognized.
    public internal(set) var attempt = 0
    public internal(set) var call = WidgetCall()
    /// The problem that the view `error` shows.
    public internal(set) var problem: Problem?
    /// The time at which the event `tick` is due, in milliseconds.
    public internal(set) var deadline: Int?

    public init() {}

    public var isInCall: Bool { call.phase != .none }

    /// Whether the view `expanded` exists. With the icon alone, a call shows the transcript.
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

    /// Whether to show the microphone screen: permission is not yet requested or was denied, and the user has not chosen to type.
    public var hasMicrophoneScreen: Bool {
        isInCall && !call.isTyping && (call.microphone.state == .unasked || call.microphone.code == "permission_denied")
    }
}

/// An event that the widget's state machine handles. Times are in milliseconds.
public enum WidgetEvent: Sendable, Hashable {
    /// The app's settings changed. They never end a call.
    case configured(assistant: String, isWanted: Bool, isTalk: Bool, isIconOnly: Bool = false, language: String = "")
    case loaded(WidgetSettings, assistant: String? = nil, attempt: Int)
    case loadFailed(code: String, message: String, attempt: Int)
    /// The user starts a conversation; `text` is sent on the user's behalf once the assistant has joined.
    case start(text: String? = nil)
    /// The user has to be asked whether conversations are kept.
    case consentNeeded(attempt: Int)
    case consentAnswered(isAllowed: Bool)
    case connected(identity: String, hasSeenOnboarding: Bool, attempt: Int)
    case connectFailed(WidgetState.Problem.Kind = .connection, code: String, message: String, closeCode: Int? = nil, attempt: Int)
    /// The call ended: by the user, by the gateway, or because the connection could not be restored.
    case disconnected(reason: String, message: String, closeCode: Int? = nil, attempt: Int)
    /// The user ends the conversation, or cancels connecting.
    case stop
    /// The user closes the panel or an error.
    case close
    case retry
    case showTranscript
    case showVoice
    /// The user continues by text, without a microphone.
    case typeInstead
    case tick
    /// An event within the call; ignored without a call. `attempt`: the call whose room has caused it; nil for the user's own actions.
    case conversation(ConversationEvent, attempt: Int? = nil)
}

/// An event within a call.
public enum ConversationEvent: Sendable, Hashable {
    case room(WidgetCall.Phase)
    /// An assistant is in the room; `state` is nil if it reports none.
    case agentPresent(identity: String, name: String, state: WidgetCall.AgentState?)
    /// The assistant's connection is lost. It may resume, or be replaced.
    case agentAway(identity: String, name: String, state: WidgetCall.AgentState?)
    case agentState(identity: String, WidgetCall.AgentState)
    case agentGone(identity: String, isIntended: Bool)
    /// No assistant is in the room. Sent only after a new join, because events may have been missed.
    case agentAwaited
    /// `reason` is nil if no assistant is known to be on its way, `ended` if none will join any more.
    case agentWaiting(reason: String?)
    case microphone(WidgetCall.Microphone.State, code: String? = nil, message: String = "")
    case muted(Bool)
    case sound(blockage: String?)
    case recorded(Bool)
    case logged(Bool)
    case draining(closesAt: Int?)
    /// A request was refused; nil if one has succeeded since.
    case refused(message: String?)
    case segment(WidgetSegment, name: String)
    case playout(segment: String, spokenChars: Int, word: String?)
    case message(name: String, text: String)
    case typed(text: String)
    /// The user typed a text before the assistant has joined. It is sent then.
    case queued(text: String)
    case toolStarted(id: String, name: String)
    case toolFinished(id: String)
    case toolFailed(id: String, name: String, message: String, canRetry: Bool)
    case card(WidgetCall.Card)
    case cardSending(id: String)
    case cardRefused(id: String)
    /// `note` describes the user's choice, as a line of the transcript.
    case cardAnswered(id: String, note: String)
    case cardDismissed(id: String)
    case onboardingFinished(isComplete: Bool)
    case onboardingSkipped
}

/// Effects that the widget's session carries out.
public enum WidgetEffect: Sendable, Hashable {
    case load(attempt: Int)
    case connect(attempt: Int)
    /// Stores the user's answer, then joins.
    case consent(attempt: Int, isAllowed: Bool)
    /// Publishes the microphone.
    case microphone
    case leave
    /// Asks the assistant for its introduction.
    case onboarding
    /// Remembers that the user has heard the introduction.
    case remember
    case send(text: String)

    /// The effect's name in the web widget.
    public var name: String {
        switch self {
        case .load: "load"
        case .connect: "connect"
        case .consent: "consent"
        case .microphone: "microphone"
        case .leave: "leave"
        case .onboarding: "onboarding"
        case .remember: "remember"
        case .send: "send"
        }
    }
}
