internal import Dispatch
internal import Synchronization
internal import Wire

/// Sends messages and requests on the current connection, and ends requests: with their answers, at their deadlines, or with the
/// connection.
final class NATSExchange: Sendable {
    private struct State {
        var connection: NATSConnection?
        var payloadMax = 0
        /// Whether callers may use the connection.
        var isReady = false
        var isClosed = false
        var requests = NATSRequests()
        var outgoing: [NATSConnection.Outgoing] = []
        var outgoingBytes = 0
        /// Whether the queue has been told to send.
        var isSending = false
        /// Whether a timer for the oldest request is set.
        var isTiming = false
        /// Completions that have been taken from `requests` and have not returned.
        var running = 0
        /// Wait until none is running.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let timeout: Duration
    /// Sends, so that a server that stops reading blocks no caller.
    private let queue: DispatchQueue
    private let timers = DispatchQueue(label: "nats-timers")
    private let state = Mutex(State())

    init(timeout: Duration, queue: DispatchQueue) { (self.timeout, self.queue) = (timeout, queue) }

    // MARK: The connection

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var isConnected: Bool { state.withLock { $0.connection != nil } }
    /// Of the latest connection, in bytes, with headers; 0 before the first one.
    var payloadMax: Int { state.withLock { $0.payloadMax } }

    func isCurrent(_ number: UInt64) -> Bool { state.withLock { $0.connection?.number == number } }

    /// - Returns: false if the exchange is closed.
    func use(_ connection: NATSConnection) -> Bool {
        let payloadMax = connection.payloadMax
        return state.withLock { state in
            guard !state.isClosed else { return false }
            (state.connection, state.payloadMax) = (connection, payloadMax)
            return true
        }
    }

    /// Lets callers use the connection.
    ///
    /// - Returns: false if it is not the current one.
    func open(_ number: UInt64) -> Bool {
        state.withLock { state in
            guard state.connection?.number == number else { return false }
            state.isReady = true
            return true
        }
    }

    /// Ends all requests, and forgets the connection.
    ///
    /// - Returns: the connection; nil if it is not the current one.
    func drop(_ number: UInt64) -> NATSConnection? {
        let connection: NATSConnection?
        let completions: [NATSRequests.Completion]
        (connection, completions) = state.withLock { $0.connection?.number == number ? Self.drop(&$0) : (nil, []) }
        run(completions, .failure(.unavailable))
        return connection
    }

    /// Ends all requests, and accepts no more. No completion runs when it returns.
    ///
    /// - Returns: the connection, if there is one.
    func close() async -> NATSConnection? {
        let (connection, completions) = state.withLock { state in
            state.isClosed = true
            return Self.drop(&state)
        }
        run(completions, .failure(.unavailable))
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                if state.running > 0 { state.waiting.append(continuation) }
                return state.running > 0
            }
            if !mustWait { continuation.resume() }
        }
        return connection
    }

    private static func drop(_ state: inout State) -> (NATSConnection?, [NATSRequests.Completion]) {
        defer { (state.connection, state.isReady, state.outgoing, state.outgoingBytes) = (nil, false, [], 0) }
        let completions = state.requests.takeAll()
        state.running += completions.count
        return (state.connection, completions)
    }

    /// Runs completions that are counted in `running`.
    private func run(_ completions: [NATSRequests.Completion], _ result: Result<[UInt8], NATSRequests.Failure>) {
        guard !completions.isEmpty else { return }
        for completion in completions { completion(result) }
        let waiting = state.withLock { state in
            state.running -= completions.count
            return state.running == 0 ? exchange(&state.waiting, with: []) : []
        }
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Messages and requests

    /// Drops the message if there is no connection or no room.
    func publish(_ message: [UInt8], to subject: String) {
        let mustSend = state.withLock { state in
            guard state.isReady, Self.hasRoom(for: message, state) else { return false }
            return Self.enqueue(NATSConnection.Outgoing(subject: subject, payload: message), &state)
        }
        if mustSend { queue.async { [self] in send() } }
    }

    /// Sends a request, and calls `completion` once, on any thread, possibly before it returns.
    ///
    /// - Parameter expectedRevision: the revision after which a record is written.
    func request(
        _ subject: String, _ payload: [UInt8], expectedRevision: UInt64? = nil, evenIfNotReady: Bool = false,
        completion: @escaping NATSRequests.Completion
    ) {
        let deadline = Self.now + timeout
        enum Step { case failed(NATSRequests.Failure), added(mustSend: Bool, mustTime: Bool) }
        let step: Step = state.withLock { state in
            guard state.connection != nil, state.isReady || evenIfNotReady else { return .failed(.unavailable) }
            guard payload.count <= state.payloadMax else { return .failed(.refused(Self.tooBig)) }
            guard Self.hasRoom(for: payload, state), let number = state.requests.add(deadline: deadline, completion: completion) else {
                return .failed(.unavailable)
            }
            let mustSend = Self.enqueue(
                NATSConnection.Outgoing(subject: subject, payload: payload, request: number, expectedRevision: expectedRevision), &state)
            defer { state.isTiming = true }
            return .added(mustSend: mustSend, mustTime: !state.isTiming)
        }
        switch step {
        case .failed(let failure): completion(.failure(failure))
        case .added(let mustSend, let mustTime):
            if mustSend { queue.async { [self] in send() } }
            if mustTime { setTimer(deadline) }
        }
    }

    private static let tooBig = "the record is bigger than the server accepts"

    private static var now: Instant { Instant(nanoseconds: DispatchTime.now().uptimeNanoseconds) }

    private static func hasRoom(for payload: [UInt8], _ state: State) -> Bool {
        state.outgoing.count < NATSLimits.outgoingMessagesMax && state.outgoingBytes + payload.count <= NATSLimits.outgoingBytesMax
    }

    /// - Returns: whether the queue must be told.
    private static func enqueue(_ message: NATSConnection.Outgoing, _ state: inout State) -> Bool {
        state.outgoing.append(message)
        state.outgoingBytes += message.payload.count
        defer { state.isSending = true }
        return !state.isSending
    }

    /// Sends what waits. On the queue.
    private func send() {
        while true {
            let next: ([NATSConnection.Outgoing], NATSConnection)? = state.withLock { state in
                guard let connection = state.connection, !state.outgoing.isEmpty else {
                    state.isSending = false
                    return nil
                }
                defer { (state.outgoing, state.outgoingBytes) = ([], 0) }
                return (state.outgoing, connection)
            }
            guard let (messages, connection) = next else { return }
            for message in messages where connection.send(message) == .tooBig {
                if let request = message.request { end(request, .failure(.refused(Self.tooBig))) }
            }
        }
    }

    /// Does nothing if the request has ended before.
    func end(_ request: UInt64, _ result: Result<[UInt8], NATSRequests.Failure>) {
        let completion = state.withLock { state in
            let completion = state.requests.take(request)
            if completion != nil { state.running += 1 }
            return completion
        }
        if let completion { run([completion], result) }
    }

    private func setTimer(_ deadline: Instant) {
        timers.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: deadline.nanoseconds)) { [weak self] in self?.expire() }
    }

    private func expire() {
        let now = Self.now
        let (completions, next) = state.withLock { state in
            let completions = state.requests.takeExpired(at: now)
            state.running += completions.count
            let next = state.requests.nextDeadline()
            state.isTiming = next != nil
            return (completions, next)
        }
        if let next { setTimer(next) }
        run(completions, .failure(.unavailable))
    }
}
