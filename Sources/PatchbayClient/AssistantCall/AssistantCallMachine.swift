internal import Wire

/// The state machine of an `AssistantCall`. A pure value: takes inputs and the time, and returns effects.
///
/// The visible state depends on the current call alone. Requests about earlier calls (ending a session, adding turns) wait in
/// `RetryQueue`s, so a slow backend delays neither a call nor its end.
struct AssistantCallMachine {
    enum Input: Sendable {
        /// `key` makes repeated requests for the session idempotent.
        case start(AssistantCallRequest, key: String)
        case end
        case setMuted(Bool)
        case log(Sessions.NewTurn, key: String)
        case tick

        case started(Sessions.Started, attempt: Int)
        case startFailed(AccountError, attempt: Int)
        case joined(attempt: Int)
        case joinFailed(ConnectError, attempt: Int)
        case room(RoomChange, attempt: Int)
        case sessionEnded(id: String)
        case endFailed(id: String, isRetryable: Bool)
        case turnStored(key: String)
        case turnFailed(key: String, isRetryable: Bool)
    }

    /// A change in a joined room.
    enum RoomChange: Sendable {
        case reconnecting, reconnected
        case disconnected(Disconnection)
        case assistant(AssistantCallState.Assistant)
        case microphoneFailed(String)
    }

    enum Effect: Hashable, Sendable {
        case startSession(AssistantCallRequest, key: String, attempt: Int)
        case join(Sessions.Started, attempt: Int)
        /// Mutes the microphone in the room of this attempt, even if it is published later.
        case mute(Bool, attempt: Int)
        case leave(attempt: Int)
        case endSession(id: String)
        case storeTurn(Sessions.NewTurn, session: String, key: String)
    }

    /// Timeout for starting the session and joining its room.
    static let connectTimeMax = Duration.seconds(30)
    static let retryDelay = Duration.seconds(1)

    private(set) var state = AssistantCallState()
    /// The number of calls, by which late responses to earlier calls are recognized.
    private var attempt = 0
    private var request: (call: AssistantCallRequest, key: String)?
    private var started: Sessions.Started?
    /// The time at which connecting fails, and the time of the next attempt.
    private var giveUpAt: Instant?
    private var retryAt: Instant?
    private var turns = RetryQueue<QueuedTurn>(limit: 64, attemptsMax: 8, concurrency: 1)
    private var ends = RetryQueue<String>(limit: 16, attemptsMax: 6, concurrency: 16)

    private struct QueuedTurn {
        var turn: Sessions.NewTurn
        var session: String
    }

    /// The time at which `tick` is due next.
    var deadline: Instant? {
        [giveUpAt, retryAt, turns.retryAt, ends.retryAt].compactMap(\.self).min()
    }

    /// Whether the sessions of all ended calls have been ended at the gateway.
    var isSettled: Bool { !state.isInCall && turns.isEmpty && ends.isEmpty }

    mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .start(let call, let key): start(call, key, now, &effects)
        case .end: if state.isInCall { end(.hungUp, now, &effects) }
        case .setMuted(let isMuted): mute(isMuted, &effects)
        case .log(let turn, let key): log(turn, key, now)
        case .tick: tick(now, &effects)
        case .started(let session, let attempt): started(session, attempt, now, &effects)
        case .startFailed(let error, let attempt): startFailed(error, attempt, now, &effects)
        case .joined(let attempt): joined(attempt, now, &effects)
        case .joinFailed(let error, let attempt): joinFailed(error, attempt, now, &effects)
        case .room(let change, let attempt): if attempt == self.attempt { changed(change, now, &effects) }
        case .sessionEnded(let id): ends.succeeded(id)
        case .endFailed(let id, let isRetryable): _ = ends.failed(id, isRetryable: isRetryable, at: now)
        case .turnStored(let key): turns.succeeded(key)
        case .turnFailed(let key, let isRetryable):
            if turns.failed(key, isRetryable: isRetryable, at: now) { state.turnsDropped += 1 }
        }
        effects += ends.due(at: now).map { .endSession(id: $0.value) }
        effects += turns.due(at: now).map { .storeTurn($0.value.turn, session: $0.value.session, key: $0.key) }
        return effects
    }

    // MARK: The call

    private mutating func start(_ call: AssistantCallRequest, _ key: String, _ now: Instant, _ effects: inout [Effect]) {
        guard !state.isInCall else { return }
        attempt += 1
        let dropped = state.turnsDropped
        state = AssistantCallState()
        state.phase = .starting
        state.context = call.context
        state.isLogged = call.isLoggingEnabled
        state.turnsDropped = dropped
        request = (call, key)
        giveUpAt = now + Self.connectTimeMax
        effects.append(.startSession(call, key: key, attempt: attempt))
    }

    private mutating func started(_ session: Sessions.Started, _ attempt: Int, _ now: Instant, _ effects: inout [Effect]) {
        // The user has hung up in the meantime: end the session that nobody will join.
        guard attempt == self.attempt, state.phase == .starting else { return endLater(session.sessionId, now) }
        started = session
        state.sessionID = session.sessionId
        state.isLogged = session.logged ?? state.isLogged
        state.phase = .connecting
        effects.append(.join(session, attempt: attempt))
    }

    private mutating func startFailed(_ error: AccountError, _ attempt: Int, _ now: Instant, _ effects: inout [Effect]) {
        guard attempt == self.attempt, state.phase == .starting else { return }
        if error.isRetryable, retry(after: error.retryAfter, now) { return }
        switch error {
        case .loggedOut: end(.failed(.loggedOut), now, &effects)
        case .refused(let refusal): end(.failed(.refused(refusal)), now, &effects)
        case .unreachable, .badAnswer, .storage: end(.failed(.unreachable), now, &effects)
        }
    }

    private mutating func joined(_ attempt: Int, _ now: Instant, _ effects: inout [Effect]) {
        guard attempt == self.attempt, state.phase == .connecting else { return effects.append(.leave(attempt: attempt)) }
        state.phase = .active
        state.activeSince = now
        giveUpAt = nil
        if state.isMuted { effects.append(.mute(true, attempt: attempt)) }
    }

    private mutating func joinFailed(_ error: ConnectError, _ attempt: Int, _ now: Instant, _ effects: inout [Effect]) {
        guard attempt == self.attempt, state.phase == .connecting else { return }
        if error.isRetryable, retry(after: nil, now) { return }
        end(.failed(error.isRetryable ? .unreachable : .disconnected(.attemptFailed(error))), now, &effects)
    }

    private mutating func changed(_ change: RoomChange, _ now: Instant, _ effects: inout [Effect]) {
        guard state.phase == .active || state.phase == .reconnecting else { return }
        switch change {
        case .reconnecting: state.phase = .reconnecting
        case .reconnected: state.phase = .active
        case .assistant(let assistant): state.assistant = assistant
        case .microphoneFailed(let reason): state.microphoneProblem = reason
        case .disconnected(let reason):
            let isIntended = reason == .closed(.roomClosed) || reason == .left
            end(isIntended ? .endedElsewhere : .failed(.disconnected(reason)), now, &effects)
        }
    }

    private mutating func mute(_ isMuted: Bool, _ effects: inout [Effect]) {
        guard state.isInCall, state.isMuted != isMuted else { return }
        state.isMuted = isMuted
        if state.activeSince != nil { effects.append(.mute(isMuted, attempt: attempt)) }
    }

    /// Ends the call for the user immediately; the session is ended in the background.
    private mutating func end(_ ending: AssistantCallState.Ending, _ now: Instant, _ effects: inout [Effect]) {
        if state.phase != .starting { effects.append(.leave(attempt: attempt)) }
        if let id = started?.sessionId, ending != .endedElsewhere { endLater(id, now) }
        state.phase = .ended(ending)
        state.isMuted = false
        (giveUpAt, retryAt, request, started) = (nil, nil, nil, nil)
    }

    // MARK: Afterwards

    private mutating func endLater(_ id: String, _ now: Instant) {
        _ = ends.append(id, key: id, at: now)
    }

    private mutating func log(_ turn: Sessions.NewTurn, _ key: String, _ now: Instant) {
        // A car's call is not reported as logged, because it shows no notice; the gateway decides.
        guard state.isLogged || state.context == .carplay, let session = state.sessionID else { return }
        if turns.append(QueuedTurn(turn: turn, session: session), key: key, at: now) { state.turnsDropped += 1 }
    }

    // MARK: Time

    /// Schedules another attempt.
    ///
    /// - Returns: false if no time is left for another attempt.
    private mutating func retry(after delay: Duration?, _ now: Instant) -> Bool {
        let next = now + max(delay ?? .zero, Self.retryDelay)
        guard let giveUpAt, next < giveUpAt else { return false }
        retryAt = next
        return true
    }

    private mutating func tick(_ now: Instant, _ effects: inout [Effect]) {
        if let giveUpAt, giveUpAt <= now { return end(.failed(.unreachable), now, &effects) }
        guard let retryAt, retryAt <= now else { return }
        self.retryAt = nil
        if let started, state.phase == .connecting {
            effects.append(.join(started, attempt: attempt))
        } else if let request, state.phase == .starting {
            effects.append(.startSession(request.call, key: request.key, attempt: attempt))
        }
    }
}

extension AccountError {
    /// The delay that the gateway requests.
    fileprivate var retryAfter: Duration? {
        if case .refused(let refusal) = self { refusal.retryAfter } else { nil }
    }
}
