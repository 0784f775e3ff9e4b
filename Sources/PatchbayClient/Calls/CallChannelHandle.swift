internal import NIOCore
internal import Synchronization
internal import Wire

/// The thread-safe side of a call channel: submits work to its `CallChannelSession` and holds the state that the session publishes.
final class CallChannelHandle: Sendable {
    /// Written by the session, readable from any thread.
    struct State {
        var hello: CallsHello?
        var calls = CallList()
        var statistics = ChannelStatistics()
        var disconnection: Disconnection?
    }

    let eventLoop: any EventLoop
    let options: RoomOptions
    /// Nil once the channel has ended.
    private let session: NIOLoopBoundBox<CallChannelSession?>
    private let state = Mutex(State())

    init(options: RoomOptions) {
        eventLoop = ClientEventLoop.shared
        self.options = options
        session = .makeEmptyBox(eventLoop: eventLoop)
    }

    var current: State { state.withLock { $0 } }

    func update<Outcome: Sendable>(_ body: (inout State) -> Outcome) -> Outcome {
        state.withLock { body(&$0) }
    }

    func count(_ body: (inout ChannelStatistics) -> Void) {
        state.withLock { body(&$0.statistics) }
    }

    // MARK: Session

    /// Creates the session and connects it.
    func open(
        _ address: GatewayAddress, token: String, tokenSource: UserTokenSource?, tls: TLSContext,
        events: AsyncStream<CallChannelEvent>.Continuation
    ) async throws(ConnectError) {
        try await withCheckedContinuation { (opening: CallChannelSession.Opening) in
            eventLoop.execute { [self] in
                let session = CallChannelSession(
                    channel: self, address: address, token: token, tokenSource: tokenSource, tls: tls, events: events, opening: opening)
                self.session.value = session
                session.connect()
            }
        }.get()
    }

    /// The session has ended. On the event loop.
    func release() {
        session.value = nil
    }

    /// Runs `body` on the event loop, or `ended` if the channel has ended.
    func submit(_ body: @escaping @Sendable (CallChannelSession) -> Void, ended: @escaping @Sendable () -> Void = {}) {
        eventLoop.execute { [self] in
            if let session = session.value { body(session) } else { ended() }
        }
    }

    @discardableResult
    func request(_ request: CallRequest) async throws(RequestFailure) -> CallReply {
        try await withCheckedContinuation { (reply: CallChannelSession.Reply) in
            submit { [timeout = options.requestTimeout] in
                $0.send(request, timeout: timeout, .caller(reply))
            } ended: {
                reply.resume(returning: .failure(.ended))
            }
        }.get()
    }

    // MARK: Joining

    /// Sends a request that leads into a call's room, and joins the room.
    func join(_ request: CallRequest) async throws(CallFailure) -> (call: Call, room: RoomConnection) {
        let reply: CallReply
        do throws(RequestFailure) { reply = try await self.request(request) } catch { throw .request(error) }
        guard let info = reply.call, let user = current.calls.user else { throw .request(.badAnswer) }
        if info.status.isOver { throw .over(ending(of: Call(info: info, user: user, isHere: true))) }
        guard let url = reply.livekitUrl, let token = reply.livekitToken else { throw .request(.badAnswer) }
        do throws(ConnectError) {
            let room = try await RoomConnection.connect(url: url, token: token, options: options)
            return (latest(info, user), room)
        } catch {
            if error.code == "call_ended" {
                // Any reply arrives after the event that says how the call ended.
                _ = try? await self.request(.join(info.id))
                throw .over(ending(of: latest(info, user)))
            }
            // The other members must not wait for a device that cannot join.
            submit { $0.notify(.hangUp(info.id)) }
            throw .room(error)
        }
    }

    private func latest(_ info: CallInfo, _ user: Identity) -> Call {
        var call = current.calls.latest(info.id) ?? Call(info: info, user: user, isHere: true)
        call.channel = self
        return call
    }

    private func ending(of call: Call) -> CallEnding {
        if case .ended(let ending) = call.state { ending } else { .failed }
    }
}
