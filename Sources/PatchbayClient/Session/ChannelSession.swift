internal import Sockets
internal import Wire

/// One user's own channel (PROTOCOL section 13), on the loop's thread: its requests on the way, and the book of calls that all it is told
/// goes into. Its socket is `Line`'s.
final class ChannelSession: Line {
    private enum Waiter {
        case caller(CallAnswer)
        case ping(sentAt: Instant)
        case renewal
    }

    private let plan: ChannelPlan
    /// Who waits for the first `hello`.
    private var opening: ChannelOpening?
    private var pending = PendingRequests<Waiter>()
    private var renewal = TokenRenewal()

    init(_ plan: ChannelPlan, opening: ChannelOpening, thread: LoopThread) {
        self.plan = plan
        self.opening = opening
        super.init(id: plan.door.id, address: plan.address, token: plan.token, options: plan.door.options, thread: thread)
    }

    private var mirror: ChannelMirror { plan.door.mirror }

    func handle(_ command: ChannelCommand) {
        switch command {
        case .ask(let request, let timeout, let answer): ask(request, timeout: timeout, .caller(answer))
        case .tell(let request): if case .open = phase { connection?.write(text: OutgoingCallRequest(request).bytes) }
        case .renew(let newer):
            token = newer
            startOver()
        case .fresh(let newer): take(fresh: newer)
        case .close(let done): leave(reason: nil, done: done)
        case .cut: connection?.abort()
        }
    }

    // MARK: Asking

    private func ask(_ request: CallRequest, timeout: Duration, _ waiter: Waiter) {
        if let refusal = refusal(whileWaiting: pending.count) { return fail(waiter, refusal) }
        let deadline = thread.now + timeout
        guard let text = pending.add(waiter, deadline: deadline, making: { OutgoingCallRequest(request, id: $0).bytes }) else {
            return fail(waiter, .tooLarge)
        }
        connection?.write(text: text)
        thread.arm(at: deadline)
    }

    private func fail(_ waiter: Waiter, _ failure: RequestFailure) {
        switch waiter {
        case .caller(let answer): answer.resume(returning: .failure(failure))
        case .ping: break
        case .renewal: renewalFailed(failure)
        }
    }

    // MARK: Fresher tokens

    private func askForToken() {
        guard let tokens = plan.tokens, !renewal.isUnderWay else { return }
        renewal.begin()
        Task { [door = plan.door] in
            let token = try? await tokens()
            door.post(.fresh(token: token.flatMap { (try? ConnectError.check(token: $0)) == nil ? nil : $0 }))
        }
    }

    private func take(fresh newer: String?) {
        guard let newer else { return renewalIsPutOff() }
        renewal.found()
        token = newer
        switch phase {
        case .open: ask(.renew(token: newer), timeout: options.requestTimeout, .renewal)
        case .resting: rest(until: thread.now)
        case .connecting, .leaving, .ended: break
        }
    }

    private func renewalFailed(_ failure: RequestFailure) {
        // A gateway that knows no other way than a new connection.
        if case .refused(let error) = failure, error.code == .unknownType { return startOver() }
        renewalIsPutOff()
    }

    private func renewalIsPutOff() {
        renewal.failed(at: thread.now)
        if case .open = phase { thread.arm(at: renewal.dueAt) }
    }

    private func isGood(forSeconds seconds: Int64?) {
        guard plan.tokens != nil, let seconds else { return }
        renewal.isGood(for: .seconds(seconds), at: thread.now)
        thread.arm(at: renewal.dueAt)
    }

    // MARK: What the gateway says

    private func take(_ message: CallMessage) {
        if case .hello(let hello) = message { return welcomed(hello) }
        // The book first: whoever is answered finds in it what the answer says.
        tell(mirror.update { $0.book.apply(message) })
        switch message {
        case .reply(let id, let reply):
            switch pending.take(id) {
            case .caller(let answer): answer.resume(returning: .success(reply))
            case .ping(let sentAt):
                let span = thread.loop.exactNow - sentAt
                mirror.count { $0.roundTrip = span }
            case .renewal: isGood(forSeconds: reply.expiresIn)
            case nil: mirror.count { $0.messagesUnread += 1 }
            }
        case .error(let id, let error):
            if let waiter = id.flatMap({ pending.take($0) }) {
                fail(waiter, .refused(error.error))
            } else {
                mirror.count { $0.messagesUnread += 1 }
            }
        case .unknownEvent: mirror.count { $0.messagesUnread += 1 }
        case .event, .hello: break
        }
    }

    private func welcomed(_ hello: CallsHello) {
        let isReconnect = !isOpening
        isOpen(
            Heartbeat(
                interval: .milliseconds(ProtocolLimits.pingIntervalMilliseconds),
                timeout: .milliseconds(ProtocolLimits.pingTimeoutMilliseconds),
                patience: options.reconnect == .backOff ? Heartbeat.usualPatience : nil, now: thread.now))
        let updates = mirror.update { mirror in
            mirror.hello = hello
            if isReconnect { mirror.statistics.reconnects += 1 }
            return mirror.book.apply(.hello(hello))
        }
        if isReconnect { emit(.reconnected) }
        tell(updates)
        isGood(forSeconds: hello.expiresIn)
        opening?.resume(returning: .success(hello))
        opening = nil
    }

    private func tell(_ updates: [CallUpdate]) {
        for update in updates { emit(CallChannelEvent(update, through: plan.door)) }
    }

    private func emit(_ event: CallChannelEvent) {
        if case .dropped = plan.events.yield(event) { mirror.count { $0.eventsOverflowed += 1 } }
    }

    // MARK: As a line

    override var endpoint: Endpoint {
        Endpoint(host: address.host, port: address.port, path: address.path, authorization: "Bearer \(token)")
    }
    override var workDeadline: Instant? { [pending.deadline, renewal.dueAt].compactMap(\.self).min() }
    override var isReadyToConnect: Bool { !renewal.isUnderWay }

    override func received(text: [UInt8]) {
        heard()
        guard let message = try? CallMessage(parsing: text) else { return mirror.count { $0.messagesUnread += 1 } }
        take(message)
    }

    override func received(binary message: UnsafeRawBufferPointer) {
        heard()
        mirror.count { $0.messagesUnread += 1 }
    }

    override func expireRequests(at now: Instant) {
        for waiter in pending.takeExpired(at: now) { fail(waiter, .timedOut) }
        if case .open = phase, let due = renewal.dueAt, due <= now { askForToken() }
    }

    override func ping(at now: Instant) {
        ask(.ping(Int64(now.nanoseconds)), timeout: options.requestTimeout, .ping(sentAt: thread.loop.exactNow))
    }

    override func sayPendingClose(_ reason: String?) {
        connection?.close(.left)
    }

    override func dropped() {
        for waiter in pending.takeAll() { fail(waiter, .notConnected) }
        renewal.pause()
    }

    /// A token whose time is over, where there is a source of others.
    override func isWorthAnotherTry(after reason: Disconnection) -> Bool {
        guard plan.tokens != nil else { return false }
        switch reason {
        case .closed(.tokenRevoked): break
        case .attemptFailed(let error) where error.code == "token_expired": break
        default: return false
        }
        askForToken()
        return true
    }

    override func comesBack(attempt: Int, after delay: Duration, because reason: Disconnection) {
        emit(.reconnecting(attempt: attempt, delay: delay, because: reason))
    }

    override func opened(failing error: ConnectError) {
        opening?.resume(returning: .failure(error))
        opening = nil
    }

    override func ended(_ reason: Disconnection) {
        mirror.update { $0.disconnection = reason }
        emit(.disconnected(reason))
        plan.events.finish()
    }
}
