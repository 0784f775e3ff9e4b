internal import Wire

/// The requests of one connection until its upgrade: one at a time through `RequestGate`, then through libwebsockets.
@safe final class RequestPhase {
    weak var edge: EdgeConnection?
    /// The connection arrived over TLS, or at a listener that has none.
    var isSecure: Bool
    /// TLS is established, and the client has time for a request.
    var isHandshakeDone = false
    private(set) var input = RequestInput()
    var current: Request?
    /// Events of `input` are being taken.
    private(set) var isReading = false
    /// Bytes of the response that the client had not acknowledged when the deadline was set.
    var unacknowledgedBytes = 0
    var hasHadARequest = false

    /// The request whose head has been read.
    struct Request {
        let head: RequestHead
        var body: [UInt8] = []
        /// When the body must be complete.
        var bodyDeadline: Instant
        /// Made for an upgrade only.
        var received: ReceivedRequest?
        /// The delegate decides on the upgrade.
        var held: HeldUpgrade?
        /// Once the request is complete.
        var library: LibraryRequest?
        var exchange: HTTPExchange?
        var fault: HTTPExchange.Fault?
        /// The WebSocket that libwebsockets was told to upgrade to.
        var admitted: Connection?
    }

    /// The time for a client to take the end of a response after which the connection ends, in seconds.
    static var endSecondsMax: Int64 { 5 }

    init(isSecure: Bool) {
        self.isSecure = isSecure
    }

    var loop: Loop? { unsafe edge?.loop }

    // MARK: Input

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard !input.isOver else { return }
        unsafe input.append(bytes)
        read()
        if input.isFull { edge?.setReading(false) }
    }

    func inputEnded() {
        // Without a request under way there is nothing to answer.
        if current?.library == nil { edge?.end(within: .seconds(Self.endSecondsMax)) }
    }

    /// Reads requests until one is under way or more bytes are needed.
    func read() {
        // A response that is written at once ends its request within this call.
        guard !isReading else { return }
        isReading = true
        defer { isReading = false }
        while current?.library == nil, let edge, !edge.isClosed, let loop, let event = input.next() {
            switch event {
            case .request(let head):
                current = Request(head: head, bodyDeadline: loop.now + loop.settings.transferTimeout)
                check(head)
                if current?.fault == nil { edge.setDeadline(after: loop.settings.transferTimeout) }
            case .body(let piece): collect(piece, loop)
            case .end: if !hold() { serve() }
            case .fault(let fault): refuse(.malformed(fault))
            case .headTooLong:
                input.end()
                edge.end(within: .seconds(Self.endSecondsMax))
            }
        }
        input.trim()
        if let edge, !edge.isInputOpen { inputEnded() }
    }

    private func check(_ head: RequestHead) {
        switch head.body {
        case .none: break
        case .length(let count): if count > HTTPExchange.bodyBytesMax { refuse(.bodyTooBig) }
        case .chunked: refuse(.bodyInChunks)
        }
    }

    private func collect(_ piece: ArraySlice<UInt8>, _ loop: Loop) {
        guard let request = current, request.fault == nil else { return }
        if loop.now > request.bodyDeadline { return refuse(.bodyTooSlow) }
        guard loop.bodies.take(piece.count) else { return refuse(.noRoom) }
        current?.body += piece
    }

    /// Responds with an error. The connection ends after it, because what follows is not a request.
    private func refuse(_ fault: HTTPExchange.Fault) {
        let head = current?.head ?? .refused
        if current == nil, let loop { current = Request(head: head, bodyDeadline: loop.now) }
        current?.fault = fault
        input.end()
        serve()
    }

    // MARK: An upgrade that another node may serve

    /// Asks the delegate whether the upgrade is to wait for its decision.
    ///
    /// An untrusted peer or a client without TLS where it is required is never held, because another node would take the request for ours.
    private func hold() -> Bool {
        guard let edge, let loop, let request = current, request.head.upgrades, request.fault == nil, isSecure else { return false }
        let received = received(request.head)
        current?.received = received
        guard received.source.isTrusted else { return false }
        let held = HeldUpgrade(received, of: self)
        current?.held = held
        edge.setDeadline(after: .seconds(loop.settings.holdSecondsMax))
        edge.noticesHangup = true
        if unsafe loop.delegate.hold(held) {
            hasHadARequest = true
            if !edge.hasEnded { edge.setReading(false) }
            return true
        }
        held.release()
        current?.held = nil
        edge.noticesHangup = false
        return edge.hasEnded
    }

    /// The client of the held upgrade still waits for the response.
    var hasClient: Bool { current?.held != nil && edge.map { !$0.hasEnded } == true }

    /// The upgrade is served here after all. Not at once, because the delegate may be in a call of libwebsockets.
    func serveHeld() {
        edge?.setDeadline(after: .seconds(HTTPExchange.answerSecondsMax))
        continueLater()
    }

    /// The next turn has come after `serveHeld`.
    private func serve(_ held: HeldUpgrade) {
        guard held.takeServing() else { return }
        current?.held = nil
        edge?.noticesHangup = false
        edge?.setReading(true)
        serve()
    }

    func refuseHeld(_ response: HTTPServerResponse) {
        input.end()
        unsafe response.refusal.withUnsafeBytes { _ = unsafe edge?.write($0) }
        edge?.end(within: .seconds(Self.endSecondsMax))
    }

    /// Passes on another node's response to the upgrade, and the connection to the tunnel.
    ///
    /// - Returns: false if the client has left.
    func join(_ home: EdgeConnection, _ response: [UInt8], _ name: String) -> Bool {
        guard let edge, hasClient else { return false }
        // A client waits for the response before it sends frames (RFC 6455 section 4.1).
        guard input.isEmpty, unsafe response.withUnsafeBytes({ unsafe edge.write($0) }) else {
            edge.fail()
            return false
        }
        current = nil
        TunnelEnd.join(edge, home, name)
        return true
    }

    /// The client has left while nothing is read from it.
    func hungUp() {
        if current?.held != nil { edge?.fail() }
    }

    // MARK: Events

    /// Everything that was written has left.
    func becameWritable() {
        edge?.wantsWritable = false
        if let held = current?.held { return serve(held) }
        drain()
        current?.exchange?.proceed()
        if current == nil { read() }
    }

    /// The response, or the next request, continues in the next turn.
    func continueLater() {
        edge?.wantsWritable = true
        edge?.updateWatch()
    }

    /// The deadline has passed: of the handshake, a head, a body or a response.
    func expired() {
        if let held = current?.held, let loop { return unsafe refuseHeld(loop.delegate.unavailable(held)) }
        if let request = current, request.library == nil, request.fault == nil { return refuse(.bodyTooSlow) }
        if hasClientProgressed { return progressed() }
        edge?.fail()
    }

    func ended() {
        guard let request = current else { return }
        current = nil
        if let loop { request.held?.ended(on: loop) }
        request.exchange?.abandon()
        loop?.bodies.giveBack(request.body.count)
        request.library?.close()
        request.admitted?.ended()
    }
}

extension RequestHead {
    /// Stands for a request whose head could not be read.
    static let refused: RequestHead = {
        guard let head = try? RequestHead(Array("GET / HTTP/1.1\r\nHost: -\r\nConnection: close\r\n\r\n".utf8)) else {
            preconditionFailure("a valid head is accepted")
        }
        return head
    }()
}
