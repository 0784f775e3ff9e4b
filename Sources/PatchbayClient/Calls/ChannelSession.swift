internal import Wire

typealias ChannelHandle = SessionHandle<ChannelSession, ChannelState>

struct ChannelState: SessionState {
    var hello: CallsHello?
    var calls = CallList()
    var statistics = ChannelStatistics()
    var disconnection: Disconnection?
}

/// A user's channel (docs/protocol/calls.md): its pending requests, and the list of calls that all messages update. Bound to its event
/// loop; `ChannelHandle` is its thread-safe side.
final class ChannelSession: ReconnectingSocket {
    typealias Reply = CheckedContinuation<Result<CallReply, RequestFailure>, Never>

    /// What to do with the reply to a request.
    enum Waiter {
        case caller(Reply)
        case ping(sentAt: Instant)
        case renewal
    }

    private let channel: ChannelHandle
    private let tokenSource: UserTokenSource?
    private let events: AsyncStream<ChannelEvent>.Continuation
    private var pending = PendingRequests<Waiter>()
    private var renewal = TokenRenewal()

    init(
        channel: ChannelHandle, address: GatewayAddress, token: String, tokenSource: UserTokenSource?, tls: TLSContext,
        events: AsyncStream<ChannelEvent>.Continuation, opening: Opening
    ) {
        self.channel = channel
        self.tokenSource = tokenSource
        self.events = events
        super.init(
            address: address, token: token, options: channel.options, tls: tls, eventLoop: channel.eventLoop, opening: opening)
    }

    // MARK: Requests

    func send(_ request: CallRequest, timeout: Duration, _ waiter: Waiter) {
        if let failure = requestFailure(pendingCount: pending.count) { return fail(waiter, failure) }
        let deadline = now + timeout
        guard let text = pending.add(waiter, deadline: deadline, encodedBy: { OutgoingCallRequest(request, id: $0).bytes }) else {
            return fail(waiter, .tooLarge)
        }
        connection?.send(text: text)
        wake(at: deadline)
    }

    /// Sends a request without asking for a reply.
    func notify(_ request: CallRequest) {
        if case .open = phase { connection?.send(text: OutgoingCallRequest(request).bytes) }
    }

    private func fail(_ waiter: Waiter, _ failure: RequestFailure) {
        switch waiter {
        case .caller(let reply): reply.resume(returning: .failure(failure))
        case .ping: break
        case .renewal: renewalFailed(failure)
        }
    }

    // MARK: Token renewal

    /// Continues with another token on a new connection.
    func renew(token newer: String) {
        token = newer
        restart()
    }

    private func fetchToken() {
        guard let tokenSource, !renewal.isUnderWay else { return }
        renewal.begin()
        Task { [channel] in
            let token = try? await tokenSource()
            let valid = token.flatMap { (try? ConnectError.check(token: $0)) == nil ? nil : $0 }
            channel.submit { $0.didFetch(token: valid) }
        }
    }

    private func didFetch(token newer: String?) {
        guard let newer else { return postponeRenewal() }
        renewal.finish()
        token = newer
        switch phase {
        case .open: send(.renew(token: newer), timeout: options.requestTimeout, .renewal)
        case .backingOff: skipBackOff()
        case .connecting, .leaving, .ended: break
        }
    }

    private func renewalFailed(_ failure: RequestFailure) {
        // An older gateway renews on a new connection only.
        if case .refused(let error) = failure, error.code == .unknownType { return restart() }
        postponeRenewal()
    }

    private func postponeRenewal() {
        renewal.fail(at: now)
        if case .open = phase { wake(at: renewal.dueAt) }
    }

    private func scheduleRenewal(expiresInSeconds seconds: Int64?) {
        guard tokenSource != nil, let seconds else { return }
        renewal.schedule(validFor: .seconds(seconds), at: now)
        wake(at: renewal.dueAt)
    }

    // MARK: Messages

    private func handle(_ message: CallMessage) {
        if case .hello(let hello) = message { return handleHello(hello) }
        // Update the list before resuming a caller, which may read it.
        emit(channel.update { $0.calls.apply(message) })
        switch message {
        case .reply(let id, let reply):
            switch pending.take(id) {
            case .caller(let caller): caller.resume(returning: .success(reply))
            case .ping(let sentAt):
                let roundTrip = now - sentAt
                channel.count { $0.roundTrip = roundTrip }
            case .renewal: scheduleRenewal(expiresInSeconds: reply.expiresIn)
            case nil: channel.count { $0.messagesUnread += 1 }
            }
        case .error(let id, let error):
            if let waiter = id.flatMap({ pending.take($0) }) {
                fail(waiter, .refused(error.error))
            } else {
                channel.count { $0.messagesUnread += 1 }
            }
        case .job(let event): emit(.job(event))
        case .unknownEvent: channel.count { $0.messagesUnread += 1 }
        case .event, .hello: break
        }
    }

    private func handleHello(_ hello: CallsHello) {
        let isReconnect = !attempts.isInitial
        didOpen(
            Heartbeat(
                interval: .milliseconds(ProtocolLimits.pingIntervalMilliseconds),
                timeout: .milliseconds(ProtocolLimits.pingTimeoutMilliseconds),
                pongTimeout: options.reconnect == .backOff ? Heartbeat.defaultPongTimeout : nil, now: now),
            nodes: hello.nodes)
        let updates = channel.update { state in
            state.hello = hello
            if isReconnect { state.statistics.reconnects += 1 }
            return state.calls.apply(.hello(hello))
        }
        if isReconnect { emit(.reconnected) }
        emit(updates)
        scheduleRenewal(expiresInSeconds: hello.expiresIn)
        completeOpening()
    }

    private func emit(_ updates: [CallUpdate]) {
        for update in updates { emit(ChannelEvent(update, on: channel)) }
    }

    private func emit(_ event: ChannelEvent) {
        if case .dropped = events.yield(event) { channel.count { $0.eventsOverflowed += 1 } }
    }

    // MARK: ReconnectingSocket

    override var endpointPath: String { GatewayAddress.channelPath }
    override var workDeadline: Instant? { [pending.deadline, renewal.dueAt].compactMap(\.self).min() }
    override var isReadyToConnect: Bool { !renewal.isUnderWay }

    override func receive(text: [UInt8]) {
        didReceiveActivity()
        guard let message = try? CallMessage(parsing: text) else { return channel.count { $0.messagesUnread += 1 } }
        handle(message)
    }

    override func receive(binary message: UnsafeRawBufferPointer) {
        didReceiveActivity()
        channel.count { $0.messagesUnread += 1 }
    }

    override func expireRequests(at now: Instant) {
        for waiter in pending.takeExpired(at: now) { fail(waiter, .timedOut) }
        if case .open = phase, let due = renewal.dueAt, due <= now { fetchToken() }
    }

    override func sendPing(at now: Instant) {
        send(.ping(Int64(now.nanoseconds)), timeout: options.requestTimeout, .ping(sentAt: now))
    }

    override func sendLeave(reason: String?) {
        connection?.close(.left)
    }

    override func didDisconnect() {
        for waiter in pending.takeAll() { fail(waiter, .notConnected) }
        renewal.suspend()
    }

    /// With a token source, an expired token is replaced.
    override func shouldRetry(after reason: Disconnection) -> Bool {
        guard tokenSource != nil else { return false }
        switch reason {
        case .closed(.tokenRevoked): break
        case .attemptFailed(let error) where error.code == "token_expired": break
        default: return false
        }
        fetchToken()
        return true
    }

    override func willReconnect(attempt: Int, after delay: Duration, because reason: Disconnection) {
        emit(.reconnecting(attempt: attempt, delay: delay, because: reason))
    }

    override func didEnd(_ reason: Disconnection) {
        channel.update { $0.disconnection = reason }
        emit(.disconnected(reason))
        events.finish()
        channel.release()
    }
}
