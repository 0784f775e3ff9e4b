internal import NIOCore
internal import Wire

/// One WebSocket to the gateway that reconnects after a loss, with back-off and heartbeats.
///
/// The state machine is here; what is sent and received is up to the two subclasses, `RoomSession` and `ChannelSession`. Everything runs
/// on `eventLoop`.
class ReconnectingSocket {
    typealias Opening = CheckedContinuation<Result<Void, ConnectError>, Never>

    enum Phase {
        /// Connecting, or waiting for the first `hello` on this connection.
        case connecting(until: Instant)
        case open
        /// Waiting for the next attempt.
        case backingOff(until: Instant)
        /// `leave` was sent; waiting for the gateway to close.
        case leaving(until: Instant)
        case ended
    }

    /// How long the gateway may take to close the connection after a leave.
    private static let leaveTimeout = Duration.seconds(2)
    /// How often to check whether a subclass is ready for the next attempt.
    private static let readinessInterval = Duration.milliseconds(100)

    final let eventLoop: any EventLoop
    final let options: RoomOptions
    private let tls: TLSContext
    final private(set) var phase = Phase.ended
    final private(set) var connection: WebSocketConnection?
    /// The token that the next attempt presents.
    final var token: String
    final var attempts: ReconnectAttempts
    private var heartbeat: Heartbeat?
    private var leaveWaiters: [CheckedContinuation<Void, Never>] = []
    private var timer: (task: Scheduled<Void>, due: Instant)?
    /// Waits for the first `hello`.
    private var opening: Opening?

    init(address: GatewayAddress, token: String, options: RoomOptions, tls: TLSContext, eventLoop: any EventLoop, opening: Opening) {
        attempts = ReconnectAttempts(at: address)
        self.token = token
        self.options = options
        self.tls = tls
        self.eventLoop = eventLoop
        self.opening = opening
    }

    /// The first `hello` has been handled, or the first attempt has failed.
    final func completeOpening(_ result: Result<Void, ConnectError> = .success(())) {
        opening?.resume(returning: result)
        opening = nil
    }

    final var now: Instant { MediaClock.now }

    /// Where the socket is connected, or connects with the current attempt.
    final var address: GatewayAddress { attempts.address }

    /// Why a request cannot be sent now; nil if it can.
    ///
    /// - Parameter pendingCount: requests that are waiting for a reply.
    final func requestFailure(pendingCount: Int) -> RequestFailure? {
        switch phase {
        case .open: pendingCount < StreamLimits.requestsMax ? nil : .tooMany
        case .connecting, .backingOff: .notConnected
        case .leaving, .ended: .ended
        }
    }

    // MARK: Overridden by subclasses

    /// The path of a node's URL that has none.
    var endpointPath: String { GatewayAddress.roomPath }
    /// The path and query of the next connection attempt.
    var requestTarget: String { address.path }
    /// How long one attempt may take, `hello` included.
    var attemptTimeout: Duration { options.connectTimeout }
    /// The next time at which the subclass needs `expireRequests(at:)` or `sendQueued()`.
    var workDeadline: Instant? { nil }

    func receive(text: [UInt8]) {}
    func receive(binary message: UnsafeRawBufferPointer) {}
    /// The socket accepts more data.
    func sendQueued() {}
    func expireRequests(at now: Instant) {}
    func sendPing(at now: Instant) {}
    /// Asks the gateway to close the connection.
    func sendLeave(reason: String?) {}
    /// The connection is lost. Pending requests must fail: the gateway does not reply to them on another connection.
    func didDisconnect() {}
    func willReconnect(attempt: Int, after delay: Duration, because reason: Disconnection) {}
    /// Whether to reconnect although `reason` is not retryable, because a fresh token is on its way.
    func shouldRetry(after reason: Disconnection) -> Bool { false }
    /// Whether everything that the next attempt needs is available.
    var isReadyToConnect: Bool { true }
    /// The socket has ended for good.
    func didEnd(_ reason: Disconnection) {}

    // MARK: Connecting

    final func connect() {
        let timeout = attempts.timeout(atMost: attemptTimeout)
        let deadline = now + timeout
        phase = .connecting(until: deadline)
        wake(at: deadline)
        let connection = WebSocketConnection(eventLoop: eventLoop, delegate: self)
        self.connection = connection
        connection.connect(to: address, target: requestTarget, token: token, tls: tls, timeout: timeout)
    }

    /// `hello` has arrived.
    ///
    /// - Parameter nodes: the other nodes that it names.
    final func didOpen(_ heartbeat: Heartbeat, nodes: [String]?) {
        phase = .open
        attempts.succeeded(nodes: nodes ?? [], path: endpointPath)
        self.heartbeat = heartbeat
        wake(at: heartbeat.deadline)
    }

    /// Replaces the connection by a new one, which presents the current token.
    final func restart() {
        switch phase {
        case .open: connection?.close(.left)
        case .connecting where !attempts.isInitial: abortConnection()
        case .connecting, .backingOff, .leaving, .ended: return
        }
        detach()
        connect()
    }

    /// Ends a back-off now.
    final func skipBackOff() {
        if case .backingOff = phase { backOff(until: now) }
    }

    /// Anything arrived from the gateway.
    final func didReceiveActivity() {
        heartbeat?.didReceive(at: now)
    }

    final func backOff(until instant: Instant) {
        phase = .backingOff(until: instant)
        wake(at: instant)
    }

    /// Closes the socket without a callback: the channel may become inactive before `abort` returns.
    final func abortConnection() {
        connection?.delegate = nil
        connection?.abort()
    }

    final func detach() {
        connection?.delegate = nil
        connection = nil
        heartbeat = nil
        didDisconnect()
    }

    // MARK: Leaving

    /// Leaves the room or closes the channel. `completion` is resumed once the socket has ended.
    final func leave(reason: String?, completion: CheckedContinuation<Void, Never>?) {
        if case .ended = phase {
            completion?.resume()
            return
        }
        if let completion { leaveWaiters.append(completion) }
        switch phase {
        case .open:
            let deadline = now + Self.leaveTimeout
            phase = .leaving(until: deadline)
            wake(at: deadline)
            sendLeave(reason: reason)
        case .connecting, .backingOff:
            abortConnection()
            detach()
            end(.left)
        case .leaving, .ended: break
        }
    }

    private func leaveTimedOut() {
        connection?.close(.left)
        detach()
        end(.left)
    }

    final func end(_ reason: Disconnection) {
        phase = .ended
        timer?.task.cancel()
        timer = nil
        didEnd(reason)
        for waiter in leaveWaiters { waiter.resume() }
        leaveWaiters.removeAll()
    }

    // MARK: Time

    /// Ensures that `tick` runs at `instant` or earlier.
    final func wake(at instant: Instant?) {
        guard let instant, timer.map({ instant < $0.due }) ?? true else { return }
        timer?.task.cancel()
        let delay = TimeAmount.nanoseconds(max((instant - now).inNanoseconds, 0))
        timer = (eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in self?.tick() }, instant)
    }

    private var deadline: Instant? {
        switch phase {
        case .connecting(let until), .backingOff(let until), .leaving(let until): until
        case .open: [heartbeat?.deadline, workDeadline].compactMap(\.self).min()
        case .ended: nil
        }
    }

    private func tick() {
        timer = nil
        let now = now
        expireRequests(at: now)
        switch phase {
        case .connecting(let until): if now >= until { attemptTimedOut() }
        case .backingOff(let until): if now >= until { isReadyToConnect ? connect() : backOff(until: now + Self.readinessInterval) }
        case .leaving(let until): if now >= until { leaveTimedOut() }
        case .open:
            sendQueued()
            switch heartbeat?.verdict(at: now) {
            case .ping: sendPing(at: now)
            case .dead:
                abortConnection()
                connectionLost(.pingTimeout)
            case .nothing, nil: break
            }
        case .ended: break
        }
        wake(at: deadline)
    }
}
