internal import NIOCore
internal import Synchronization
internal import Wire

/// The published state of a session: written on its event loop, readable from any thread.
protocol SessionState: Sendable {
    associatedtype Statistics

    var statistics: Statistics { get set }
    /// Why the session has ended; nil while it has not.
    var disconnection: Disconnection? { get }

    init()
}

/// The thread-safe side of a room or channel: submits work to its session and holds the state that the session publishes.
final class SessionHandle<Session: ReconnectingSocket, State: SessionState>: Sendable {
    let eventLoop: any EventLoop
    let options: RoomOptions
    /// Nil once the session has ended.
    private let session: NIOLoopBoundBox<Session?>
    private let state = Mutex(State())

    init(options: RoomOptions) {
        eventLoop = ClientEventLoop.shared
        self.options = options
        session = .makeEmptyBox(eventLoop: eventLoop)
    }

    var current: State { state.withLock { $0 } }
    var isEnded: Bool { state.withLock { $0.disconnection != nil } }

    func update<Outcome: Sendable>(_ body: (inout State) -> Outcome) -> Outcome {
        state.withLock { body(&$0) }
    }

    func count(_ body: (inout State.Statistics) -> Void) {
        state.withLock { body(&$0.statistics) }
    }

    /// Creates the session and connects it. Returns after the first `hello`.
    func open(
        _ makeSession: @escaping @Sendable (SessionHandle, ReconnectingSocket.Opening) -> Session
    ) async throws(ConnectError) {
        try await withCheckedContinuation { (opening: ReconnectingSocket.Opening) in
            eventLoop.execute { [self] in
                let session = makeSession(self, opening)
                self.session.value = session
                session.connect()
            }
        }.get()
    }

    /// The session has ended. On the event loop.
    func release() {
        session.value = nil
    }

    /// Runs `body` on the event loop, or `ended` if the session has ended.
    func submit(_ body: @escaping @Sendable (Session) -> Void, ended: @escaping @Sendable () -> Void = {}) {
        eventLoop.execute { [self] in
            if let session = session.value { body(session) } else { ended() }
        }
    }

    /// Runs `body` on the event loop and waits until it resumes the continuation.
    ///
    /// - Throws: `RequestFailure`; `.ended` if the session has ended.
    func perform<Reply: Sendable>(
        _ body: @escaping @Sendable (Session, CheckedContinuation<Result<Reply, RequestFailure>, Never>) -> Void
    ) async throws(RequestFailure) -> Reply {
        try await withCheckedContinuation { continuation in
            submit {
                body($0, continuation)
            } ended: {
                continuation.resume(returning: .failure(.ended))
            }
        }.get()
    }

    /// Leaves and returns once the connection is closed.
    func leave(reason: String?) async {
        await withCheckedContinuation { completion in
            submit {
                $0.leave(reason: reason, completion: completion)
            } ended: {
                completion.resume()
            }
        }
    }
}
