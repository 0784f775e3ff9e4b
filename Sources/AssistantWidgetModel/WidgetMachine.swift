/// The state machine of an assistant widget, equivalent to the web widget's (`Web/widget/model/machine.js`). Deterministic: takes an event
/// and the time in milliseconds, and returns effects.
///
///     var machine = WidgetMachine()
///     for effect in machine.handle(.start(), at: now) { session.perform(effect) }
public struct WidgetMachine: Sendable, Hashable {
    /// Timeout for getting a token, connecting and receiving `hello`.
    static let connectTimeMax = 30_000
    /// Time to wait for an assistant to join the room.
    static let missingAfter = 10_000
    /// Time to wait for a disconnected assistant. Clients resume within a second; the rest allows for slow networks.
    static let goneAfter = 3_000
    /// Time after which a pending microphone request must be a permission prompt: without a prompt, the system answers sooner.
    static let promptedAfter = 700

    public private(set) var state = WidgetState()

    public init() {}

    /// Handles an event. Events of an earlier attempt, and events that do not apply to the state, are ignored.
    public mutating func handle(_ event: WidgetEvent, at now: Int) -> [WidgetEffect] {
        if let attempt = event.attempt, attempt != state.attempt { return [] }
        switch event {
        case .configured(let assistant, let isWanted, let isTalk, let isIconOnly, let language):
            return configure(assistant, isWanted, isTalk, isIconOnly, language)
        case .loaded(let settings, let assistant, _):
            guard state.view == .loading else { return [] }
            state.settings = settings
            state.loaded = assistant ?? state.assistant
            return rest()
        case .loadFailed(let code, let message, _):
            if state.view == .loading { fail(.initialization, code, message) }
        case .start(let text): return start(text, now)
        case .consentNeeded:
            guard state.call.phase == .connecting else { return [] }
            state.call.isConsentAsked = true
            // The call waits for the answer without a time limit.
            state.deadline = nil
        case .consentAnswered(let isAllowed):
            guard state.call.isConsentAsked else { return [] }
            state.call.isConsentAsked = false
            state.deadline = now + Self.connectTimeMax
            return [.consent(attempt: state.attempt, isAllowed: isAllowed)]
        case .connected(let identity, let hasSeenOnboarding, _): return connected(identity, hasSeenOnboarding, now)
        case .connectFailed(let kind, let code, let message, let closeCode, _):
            guard state.call.phase == .connecting else { return [] }
            fail(kind, code, message, closeCode)
            return [.leave]
        case .disconnected(let reason, let message, let closeCode, _):
            guard state.isInCall else { return [] }
            // Close what the call has opened: the room and the account's session.
            if ["CLIENT_INITIATED", "ROOM_DELETED", "ROOM_CLOSED"].contains(reason) { return [.leave] + rest() }
            fail(.connection, reason, message, closeCode)
            return [.leave]
        case .stop:
            guard state.isInCall else { return [] }
            state.attempt += 1
            return [.leave] + rest()
        case .close:
            guard !state.isInCall, [.expanded, .error].contains(state.view), state.problem?.kind != .initialization else { return [] }
            return rest()
        case .retry: return retry(now)
        case .showTranscript: if state.view == .expanded, state.isInCall { state.view = .transcript }
        case .showVoice: if state.view == .transcript, state.hasVoiceView { state.view = .expanded }
        case .typeInstead:
            guard state.isInCall, state.call.phase != .connecting else { return [] }
            state.view = .transcript
            state.call.isTyping = true
        case .tick: return tick(now)
        case .conversation(let event, _):
            guard state.isInCall else { return [] }
            let before = state.call
            let effects = state.call.handle(event, at: now)
            if state.call != before { updateDeadline() }
            return effects
        }
        return []
    }

    private mutating func configure(
        _ assistant: String, _ isWanted: Bool, _ isTalk: Bool, _ isIconOnly: Bool, _ language: String
    ) -> [WidgetEffect] {
        let previous = state.assistant
        state.assistant = assistant
        state.isWanted = isWanted
        state.isTalk = isTalk
        state.isIconOnly = isIconOnly
        state.language = language
        leaveVoiceView()
        if state.isInCall || (isWanted && state.view != .idle && assistant == previous) { return [] }
        state.loaded = ""
        state.settings = nil
        return rest()
    }

    private mutating func start(_ text: String?, _ now: Int) -> [WidgetEffect] {
        let canStart =
            [.collapsed, .expanded].contains(state.view) || (state.view == .error && state.problem?.kind != .initialization)
        guard !state.isInCall, canStart else { return [] }
        return isOutdated ? rest() : begin(text.map { [$0] } ?? [], now)
    }

    private mutating func connected(_ identity: String, _ hasSeenOnboarding: Bool, _ now: Int) -> [WidgetEffect] {
        guard state.call.phase == .connecting else { return [] }
        state.call.phase = .connected
        state.call.identity = identity
        state.call.startedAt = now
        state.call.onboarding = state.settings?.hasOnboarding == true && !hasSeenOnboarding ? .wanted : .none
        state.call.agentDueAt = now + Self.missingAfter
        state.view = .expanded
        leaveVoiceView()
        updateDeadline()
        return [.microphone]
    }

    private mutating func retry(_ now: Int) -> [WidgetEffect] {
        guard state.view == .error else { return [] }
        if state.problem?.kind == .initialization {
            state.loaded = ""
            return rest()
        }
        return isOutdated ? rest() : begin(state.problem?.pendingTexts ?? [], now)
    }

    private mutating func tick(_ now: Int) -> [WidgetEffect] {
        guard let deadline = state.deadline, now >= deadline else { return [] }
        if state.call.phase == .connecting {
            state.attempt += 1
            fail(.connection, "timeout", "")
            return [.leave]
        }
        state.call.tick(now)
        updateDeadline()
        return []
    }

    /// Whether the app's settings were changed during the lost call.
    private var isOutdated: Bool { !state.isWanted || state.loaded != state.assistant }

    private mutating func leaveVoiceView() {
        guard state.view == .expanded, !state.hasVoiceView else { return }
        state.view = state.isInCall ? .transcript : .collapsed
    }

    /// Enters the state without a call: idle, loading, or ready.
    private mutating func rest() -> [WidgetEffect] {
        state.call = WidgetCall()
        state.problem = nil
        state.deadline = nil
        guard state.isWanted else {
            state.view = .idle
            state.settings = nil
            state.loaded = ""
            state.attempt += 1
            return []
        }
        guard !state.assistant.isEmpty else {
            fail(.initialization, "no_assistant", "")
            return []
        }
        if let settings = state.settings, state.loaded == state.assistant {
            // The view to open first. The talk view starts as a button, because it must not cover an app unasked.
            let isFirst = state.view == .loading
            let isOpen = isFirst && settings.startState == .expanded && !state.isTalk && !state.isIconOnly
            state.view = isOpen ? .expanded : .collapsed
            return []
        }
        state.attempt += 1
        state.view = .loading
        return [.load(attempt: state.attempt)]
    }

    private mutating func begin(_ pendingTexts: [String], _ now: Int) -> [WidgetEffect] {
        state.attempt += 1
        state.call = WidgetCall()
        state.call.phase = .connecting
        state.call.pendingTexts = pendingTexts
        state.view = .connecting
        state.problem = nil
        state.deadline = now + Self.connectTimeMax
        return [.connect(attempt: state.attempt)]
    }

    private mutating func fail(_ kind: WidgetState.Problem.Kind, _ code: String, _ message: String, _ closeCode: Int? = nil) {
        let hadBegun = state.call.phase == .connected || state.call.phase == .reconnecting
        state.problem = WidgetState.Problem(
            kind: kind, code: code, message: message, closeCode: closeCode, hadBegun: hadBegun, pendingTexts: state.call.pendingTexts)
        state.view = .error
        state.call = WidgetCall()
        state.deadline = nil
    }

    private mutating func updateDeadline() {
        guard state.call.phase == .connected || state.call.phase == .reconnecting else { return }
        state.deadline = state.call.deadline
    }
}

extension WidgetEvent {
    /// The attempt of the load or call that this event belongs to; nil for other events.
    fileprivate var attempt: Int? {
        switch self {
        case .loaded(_, _, let attempt), .loadFailed(_, _, let attempt), .connected(_, _, let attempt),
            .connectFailed(_, _, _, _, let attempt), .disconnected(_, _, _, let attempt), .consentNeeded(let attempt):
            attempt
        case .conversation(_, let attempt): attempt
        default: nil
        }
    }
}
