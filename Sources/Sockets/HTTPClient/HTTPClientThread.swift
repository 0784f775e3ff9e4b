internal import Wire

/// The inner half of an `HTTPClient`: made on its thread, owns its connections, and nothing else refers to it.
final class HTTPClientThread: SocketDelegate {
    /// A request that has no answer yet. Each gets exactly one.
    private struct Request {
        let request: HTTPClientRequest
        let completion: HTTPClientCompletion
        let deadline: Instant
        /// Addresses of the host that have not been tried.
        var addresses: ArraySlice<String> = []
        var call: HTTPCall?
    }

    private let mailbox: Mailbox<HTTPClientMessage>
    private let limits: HTTPClientLimits
    private var inbox: [HTTPClientMessage] = []
    private var requests: [Int: Request] = [:]
    private var line: [Int] = []
    /// Requests that are not in line, and lookups of names that go on though nobody waits for them: each costs a thread.
    private var busy: Set<Int> = []
    private var armed: Instant?
    private var loop: Loop!

    init(mailbox: Mailbox<HTTPClientMessage>, limits: HTTPClientLimits) {
        self.mailbox = mailbox
        self.limits = limits
    }

    /// Runs until it is told to stop.
    ///
    /// - Parameter started: called once, with nil or with why nothing can run here.
    func run(trusting trust: ClientTrust, started: ((any Error)?) -> Void) {
        do {
            // Each request has a time of its own; lws's, which also runs while a server thinks, is not to be in its way.
            loop = try Loop(settings: LoopSettings(client: trust, handshakeSecondsMax: 3_600), delegate: self)
        } catch {
            started(error)
            return
        }
        started(nil)
        loop.run(wokenBy: mailbox)
    }

    func woken() {
        mailbox.drain(into: &inbox)
        for message in inbox {
            switch message {
            case .send(let id, let request, let completion): take(request, id, completion)
            case .found(let id, let outcome): found(outcome, for: id)
            case .cancel(let id): finish(id, .failure(.cancelled))
            case .stop: loop.stop()
            }
        }
        inbox.removeAll(keepingCapacity: true)
    }

    func timerRang() {
        armed = nil
        let now = loop.now
        for id in requests.filter({ $0.value.deadline <= now }).keys.sorted() { finish(id, .failure(.timeout)) }
        arm(at: requests.values.lazy.map(\.deadline).min())
    }

    private func arm(at instant: Instant?) {
        guard let instant, armed.map({ instant < $0 }) ?? true else { return }
        armed = instant
        loop.wake(at: instant)
    }

    // MARK: A request's way

    private func take(_ request: HTTPClientRequest, _ id: Int, _ completion: HTTPClientCompletion) {
        guard line.count < limits.waitingMax else { return completion.resume(returning: .failure(.busy)) }
        let deadline = loop.now + request.timeout
        requests[id] = Request(request: request, completion: completion, deadline: deadline)
        arm(at: deadline)
        line.append(id)
        startNext()
    }

    private func startNext() {
        while busy.count < limits.atOnceMax, !line.isEmpty {
            let id = line.removeFirst()
            guard let host = requests[id]?.request.endpoint.host else { continue }
            busy.insert(id)
            HostName.addresses(of: host) { [mailbox] in mailbox.post(.found(id, $0)) }
        }
    }

    private func found(_ outcome: Result<[String], HostName.Fault>, for id: Int) {
        guard let host = requests[id]?.request.endpoint.host else {
            // It was given up meanwhile.
            busy.remove(id)
            return startNext()
        }
        switch outcome {
        case .failure(let fault): finish(id, .failure(.unknownHost(host, reason: fault.reason)))
        case .success(let addresses):
            requests[id]?.addresses = addresses[...]
            tryNextAddress(of: id)
        }
    }

    private func tryNextAddress(of id: Int) {
        guard let request = requests[id]?.request, let address = requests[id]?.addresses.popFirst() else { return }
        let call = HTTPCall(request, at: address) { [unowned self] result in
            switch result {
            case .success(let answer): finish(id, .success(answer))
            case .failure(let error):
                // The server may have had the request; whether to make it again is for the caller to say.
                let isOver = requests[id].map { $0.addresses.isEmpty || $0.call?.hasBegun ?? false } ?? true
                if isOver { finish(id, .failure(.connection(error))) } else { tryNextAddress(of: id) }
            }
        }
        requests[id]?.call = call
        loop.send(call)
    }

    private func finish(_ id: Int, _ result: Result<HTTPAnswer, HTTPClientError>) {
        guard let request = requests.removeValue(forKey: id) else { return }
        line.removeAll { $0 == id }
        switch (result, request.call) {
        case (_, let call?):
            busy.remove(id)
            call.cancel()
        case (.failure(.unknownHost), nil): busy.remove(id)
        // It was in line, or its lookup goes on and tells when it has ended.
        case (_, nil): break
        }
        request.completion.resume(returning: result)
        startNext()
    }
}

/// A client has no WebSockets.
extension HTTPClientThread {
    func opened(_ connection: Connection) {}
    func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {}
    func received(text message: UnsafeRawBufferPointer, from connection: Connection) {}
    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {}
    func writable(_ connection: Connection) {}
    func closed(_ connection: Connection, _ end: ConnectionEnd) {}
}
