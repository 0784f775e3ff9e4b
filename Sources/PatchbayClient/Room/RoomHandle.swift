internal import NIOCore
internal import Synchronization
internal import Wire

/// The thread-safe side of a room: submits work to its `RoomSession` and holds the state that the session publishes.
final class RoomHandle: Sendable {
    /// Written by the session, readable from any thread.
    struct State {
        var hello: Hello?
        var snapshot: RoomSnapshot?
        var statistics = RoomStatistics()
        var disconnection: Disconnection?
    }

    let eventLoop: any EventLoop
    /// Nil once the room has ended.
    private let session: NIOLoopBoundBox<RoomSession?>
    private let state = Mutex(State())

    init() {
        eventLoop = ClientEventLoop.shared
        session = .makeEmptyBox(eventLoop: eventLoop)
    }

    var current: State { state.withLock { $0 } }
    var isEnded: Bool { state.withLock { $0.disconnection != nil } }

    func update(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
    }

    func count(_ body: (inout RoomStatistics) -> Void) {
        state.withLock { body(&$0.statistics) }
    }

    // MARK: Session

    /// Creates the session and connects it.
    func open(
        _ address: GatewayAddress, token: String, options: RoomOptions, tls: TLSContext, events: AsyncStream<RoomEvent>.Continuation,
        procedures: ProcedureHandlers
    ) async throws(ConnectError) {
        try await withCheckedContinuation { (opening: RoomSession.Opening) in
            eventLoop.execute { [self] in
                let session = RoomSession(
                    room: self, address: address, token: token, options: options, tls: tls, events: events, procedures: procedures,
                    opening: opening)
                self.session.value = session
                session.connect()
            }
        }.get()
    }

    /// The session has ended. On the event loop.
    func release() {
        session.value = nil
    }

    /// Runs `body` on the event loop, or `ended` if the room has ended.
    func submit(_ body: @escaping @Sendable (RoomSession) -> Void, ended: @escaping @Sendable () -> Void = {}) {
        eventLoop.execute { [self] in
            if let session = session.value { body(session) } else { ended() }
        }
    }

    /// Runs `body` on the event loop and waits until it resumes the continuation.
    ///
    /// - Throws: `RequestFailure`; `.ended` if the room has ended.
    func perform<Reply: Sendable>(
        _ body: @escaping @Sendable (RoomSession, CheckedContinuation<Result<Reply, RequestFailure>, Never>) -> Void
    ) async throws(RequestFailure) -> Reply {
        try await withCheckedContinuation { continuation in
            submit {
                body($0, continuation)
            } ended: {
                continuation.resume(returning: .failure(.ended))
            }
        }.get()
    }

    func request(_ request: Request, timeout: Duration) async throws(RequestFailure) -> ReplyFields {
        try await perform { $0.send(request, timeout: timeout, .caller($1)) }
    }
}
