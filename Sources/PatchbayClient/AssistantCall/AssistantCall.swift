internal import Foundation
internal import Synchronization
internal import Wire

/// Calls an assistant: starts a session, joins its room, exchanges audio, and ends both. One object serves all calls of an app, one at a
/// time.
///
///     let call = AssistantCall(backend: account.sessions, audio: audio)
///     call.start(AssistantCallRequest(.phone))
///     for await state in call.states { show(state) }
///     call.end()
///
/// Methods that change the call return immediately. `states` yields the current state and each later one; a slow reader gets the newest.
/// A slow backend delays neither a call nor its end: turns and the end of a session are sent in the background and retried while the
/// gateway cannot be reached.
public final class AssistantCall: Sendable {
    private let core: AssistantCallCore
    private let work: Task<Void, Never>

    /// - Parameters:
    ///   - backend: usually `Account.sessions`.
    ///   - audio: the audio devices.
    ///   - options: the options for joining the sessions' rooms.
    public init(backend: any AssistantCallBackend, audio: any AssistantCallAudio, options: RoomOptions = RoomOptions()) {
        let (effects, sink) = AsyncStream.makeStream(of: AssistantCallCore.Work.self)
        let core = AssistantCallCore(sink: sink)
        let room = AssistantCallRoom(core: core, audio: audio, options: options)
        self.core = core
        work = Task { await core.run(effects, backend, room) }
    }

    deinit {
        core.stop()
        work.cancel()
    }

    public var state: AssistantCallState { core.currentState }

    /// The current state, followed by each change, for a single reader.
    public var states: AsyncStream<AssistantCallState> { core.states() }

    /// Starts a call. Has no effect during a call.
    public func start(_ request: AssistantCallRequest) {
        core.handle(.start(request, key: UUID().uuidString))
    }

    /// Hangs up. The state is `ended` when this returns.
    public func end() {
        core.handle(.end)
    }

    /// Mutes or unmutes the microphone. A call starts unmuted.
    public func setMuted(_ isMuted: Bool) {
        core.handle(.setMuted(isMuted))
    }

    /// Adds a turn to the session of the current or latest call, in the background. Has no effect if the session is not logged. The
    /// gateway itself adds the speech and texts of the room; use this for other turns.
    public func log(_ turn: Sessions.NewTurn) {
        core.handle(.log(turn, key: UUID().uuidString))
    }

    /// Waits until there is no call and the sessions of all ended calls have been ended at the gateway, for example before a program exits.
    public func settled() async {
        await core.settled()
    }
}

/// The state of an `AssistantCall` and its observers. Inputs may come from any thread.
final class AssistantCallCore: Sendable {
    enum Work: Sendable {
        case perform(AssistantCallMachine.Effect)
        case wake(at: Instant)
    }

    private struct State: ~Copyable {
        var machine = AssistantCallMachine()
        var observers: [Int: AsyncStream<AssistantCallState>.Continuation] = [:]
        var lastObserver = 0
        var settled: [CheckedContinuation<Void, Never>] = []
        var wakesAt: Instant?
        var isStopped = false
    }

    private let state = Mutex(State())
    /// The buffer holds the effects that are not yet performed. They are few, because performing one only starts a task.
    private let sink: AsyncStream<Work>.Continuation

    init(sink: AsyncStream<Work>.Continuation) {
        self.sink = sink
    }

    var currentState: AssistantCallState { state.withLock { $0.machine.state } }

    func handle(_ input: AssistantCallMachine.Input) {
        let now = MediaClock.now
        let settled = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            let before = state.machine.state
            for effect in state.machine.handle(input, at: now) { sink.yield(.perform(effect)) }
            if let deadline = state.machine.deadline, deadline != state.wakesAt {
                state.wakesAt = deadline
                sink.yield(.wake(at: deadline))
            }
            let after = state.machine.state
            if after != before { for observer in state.observers.values { observer.yield(after) } }
            guard state.machine.isSettled else { return [] }
            defer { state.settled = [] }
            return state.settled
        }
        for waiting in settled { waiting.resume() }
    }

    private func wake(at deadline: Instant) {
        state.withLock { state in
            if state.wakesAt == deadline { state.wakesAt = nil }
        }
        handle(.tick)
    }

    func states() -> AsyncStream<AssistantCallState> {
        let (stream, sink) = AsyncStream.makeStream(of: AssistantCallState.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            sink.yield(state.machine.state)
            if state.isStopped { return sink.finish() }
            state.lastObserver += 1
            let id = state.lastObserver
            state.observers[id] = sink
            sink.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.observers.removeValue(forKey: id) }
            }
        }
        return stream
    }

    func settled() async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if state.machine.isSettled || state.isStopped { return true }
                state.settled.append(continuation)
                return false
            }
            if isSettled { continuation.resume() }
        }
    }

    func stop() {
        let (observers, settled) = state.withLock { state in
            defer { (state.observers, state.settled, state.isStopped) = ([:], [], true) }
            return (Array(state.observers.values), state.settled)
        }
        sink.finish()
        for observer in observers { observer.finish() }
        for waiting in settled { waiting.resume() }
    }

    /// Performs effects until stopped.
    func run(_ work: AsyncStream<Work>, _ backend: any AssistantCallBackend, _ room: AssistantCallRoom) async {
        await withDiscardingTaskGroup { group in
            for await item in work {
                switch item {
                case .wake(let deadline):
                    group.addTask {
                        guard (try? await MediaClock.sleep(until: deadline)) != nil else { return }
                        self.wake(at: deadline)
                    }
                case .perform(.join(let session, let attempt)):
                    group.addTask { await room.run(session, attempt) }
                case .perform(.mute(let isMuted, let attempt)):
                    // In the order of the effects; the requests follow.
                    room.setMuted(isMuted, attempt)
                    group.addTask { await room.sendMute(attempt) }
                case .perform(.leave(let attempt)):
                    group.addTask { await room.leave(attempt) }
                case .perform(let effect):
                    group.addTask { await self.request(effect, backend) }
                }
            }
            group.cancelAll()
        }
    }

    private func request(_ effect: AssistantCallMachine.Effect, _ backend: any AssistantCallBackend) async {
        switch effect {
        case .startSession(let request, let key, let attempt):
            do {
                handle(.started(try await backend.start(request, idempotencyKey: key), attempt: attempt))
            } catch {
                handle(.startFailed(error, attempt: attempt))
            }
        case .endSession(let id):
            do {
                try await backend.end(session: id)
                handle(.sessionEnded(id: id))
            } catch {
                handle(.endFailed(id: id, isRetryable: error.isRetryable))
            }
        case .storeTurn(let turn, let session, let key):
            do {
                try await backend.log(turn, session: session, idempotencyKey: key)
                handle(.turnStored(key: key))
            } catch {
                handle(.turnFailed(key: key, isRetryable: error.isRetryable))
            }
        case .join, .mute, .leave: preconditionFailure("an effect of the room")
        }
    }
}
