internal import CLibwebsockets
internal import Wire

/// One socket from its accept (or connect) to its close: the only way that its bytes take.
///
/// Content that the `stream` delivers goes to the phase that the connection is in: the requests of a client (`RequestPhase`), the
/// request that we send to a server (`OutgoingRequest`), the WebSocket (`Connection`), or another connection (`TunnelEnd`). Everything that is
/// sent goes into the stream.
///
/// The loop holds it until it is closed, and releases it at the end of the turn.
@safe final class EdgeConnection {
    unowned(unsafe) let loop: Loop
    let arrival: Arrival
    @exclusivity(unchecked) var stream: ByteStream
    @exclusivity(unchecked) var watch: SocketWatch!
    @exclusivity(unchecked) var current: CurrentPhase
    /// Read before each `recv`.
    @exclusivity(unchecked) private(set) var hints = PrefetchHints()
    /// False from the end of the connection on: the descriptor may be another connection's then.
    @exclusivity(unchecked) var isOutputOpen = true
    var takeover = RecordTakeover()
    /// The indices in `EdgeTable`.
    var listing = Listing()

    struct Listing {
        var index = 0
        var deadline: Instant?
        var deadlineIndex = 0
    }

    /// For a socket that was accepted.
    convenience init?(accepted descriptor: Int32, _ arrival: Arrival, on loop: Loop) {
        let requests = RequestPhase(isSecure: true)
        let context = arrival.entrance.usesTLS ? loop.tls.server : nil
        guard let stream = ByteStream.open(descriptor, loop.buffers, context) else { return nil }
        self.init(stream, .requests(requests), arrival, on: loop)
        requests.edge = self
        setDeadline(after: .seconds(loop.settings.handshakeSecondsMax))
        updateWatch()
    }

    /// For a socket that connects to a server.
    convenience init?(connecting descriptor: Int32, _ upgrade: OutgoingRequest, on loop: Loop) {
        let context = upgrade.endpoint.usesTLS ? loop.tls.client : nil
        guard context != nil || !upgrade.endpoint.usesTLS else { return nil }
        guard let stream = ByteStream.open(descriptor, loop.buffers, context) else { return nil }
        (stream as? OpenSSLStream)?.setPeer(upgrade.endpoint.host, isChecked: loop.settings.client != .anybody)
        self.init(stream, .client(upgrade), Arrival(entrance: .clients, peer: nil), on: loop)
        upgrade.edge = self
        setDeadline(after: .seconds(2 * loop.settings.handshakeSecondsMax))
        unsafe watch.awaitConnection()
    }

    private init?(_ stream: ByteStream, _ phase: Phase, _ arrival: Arrival, on loop: Loop) {
        unsafe self.loop = loop
        unsafe self.stream = stream
        unsafe current = CurrentPhase(phase)
        self.arrival = arrival
        guard let poll = unsafe SocketPoll(stream.descriptor, on: loop.uvPointer, for: self) else { return nil }
        unsafe watch = SocketWatch(poll)
        loop.add(self)
    }

    var tcp: TCPSocket { unsafe TCPSocket(descriptor: stream.descriptor) }
    /// The peer may still send.
    var isInputOpen: Bool { unsafe watch.input != .ended }

    var isCongested: Bool { unsafe stream.isCongested }
    var isHandshakeDone: Bool { unsafe (stream as? OpenSSLStream)?.isHandshakeDone ?? true }
    /// Why the server's certificate was refused; nil if it was not.
    var certificateFault: String? { unsafe (stream as? OpenSSLStream)?.certificateFault }

    var isClosed: Bool { if case .closed = unsafe current.phase { true } else { false } }

    /// Nothing is passed on any more.
    var hasEnded: Bool {
        switch unsafe current.phase {
        case .ending, .closed: true
        default: false
        }
    }

    // MARK: Events

    /// Media is served at once, other sockets within the time that a turn has for them: one that is left out is reported again.
    func handle(_ status: Int32, _ events: Int32) {
        if unsafe current.webSocket != nil || current.tunnel != nil, status == 0 {
            if events == SocketPoll.readable { unsafe hints.fetch() }
            return serve(events)
        }
        // An error, such as a reset, is reported only once.
        guard unsafe status != 0 || loop.othersMayRun else { return }
        let began = uv_hrtime()
        if status != 0 {
            unsafe watch.noteStopped()
            fail()
        } else {
            serve(events)
        }
        unsafe loop.countOthers(uv_hrtime() - began)
    }

    private func serve(_ events: Int32) {
        if events & SocketPoll.writable != 0 { becameWritable() }
        if events & SocketPoll.readable != 0, !isClosed { read() }
        if events & SocketPoll.disconnected != 0 { hungUp() }
    }

    private func becameWritable() {
        if case .client(let upgrade) = unsafe current.phase, upgrade.isConnecting { return upgrade.connected() }
        guard unsafe stream.flush() else { return fail() }
        guard unsafe !stream.isCongested else { return }
        switch unsafe current.phase {
        case .webSocket(let connection): connection.becameWritable()
        case .tunnel(let tunnel): tunnel.becameWritable()
        case .requests(let requests): requests.becameWritable()
        case .client: break
        case .ending: endOutput()
        case .closed: return
        }
        updateWatch()
    }

    private func read() {
        switch unsafe stream.receive() {
        case .nothing: return
        case .end: receivedEnd()
        case .broken: fail()
        case .bytes:
            if unsafe current.webSocket != nil && stream.hasSeveral {
                unsafe loop.batch { process() }
            } else {
                process()
            }
        }
    }

    func process() {
        while true {
            switch unsafe stream.next() {
            case .content(let content): unsafe deliver(content)
            case .nothing:
                if !takeover.isSettled { continueHandshakes() }
                return updateWatch()
            case .end: return receivedEnd()
            case .broken: return fail()
            case .notTLS: replaceTLS()
            }
            if isClosed { return }
        }
    }

    private func deliver(_ content: UnsafeMutableRawBufferPointer) {
        if let webSocket = unsafe current.webSocket { return unsafe webSocket._withUnsafeGuaranteedRef { unsafe $0.receive(content) } }
        if let tunnel = unsafe current.tunnel { return unsafe tunnel._withUnsafeGuaranteedRef { unsafe $0.receive(content) } }
        switch unsafe current.phase {
        case .requests(let requests):
            noteHandshake(of: requests)
            unsafe requests.receive(UnsafeRawBufferPointer(content))
        case .client(let upgrade): unsafe upgrade.receive(UnsafeRawBufferPointer(content))
        case .ending(let ending): discard(content.count, ending)
        case .webSocket, .tunnel, .closed: break
        }
    }

    private func receivedEnd() {
        unsafe watch.endInput()
        switch unsafe current.phase {
        // The response under way is still sent.
        case .requests(let requests): requests.inputEnded()
        case .webSocket(let connection): connection.inputEnded()
        case .tunnel(let tunnel): tunnel.inputEnded()
        case .client(let request): request.inputEnded()
        case .closed: break
        case .ending(let ending): if ending.hasEndedOutput { fail() }
        }
        updateWatch()
    }

    /// The peer has ended its side while reading is paused.
    private func hungUp() {
        guard unsafe watch.input == .paused else { return }
        // It would be reported again and again. The end itself comes with the bytes before it.
        noticesHangup = false
        updateWatch()
        if case .requests(let requests) = unsafe current.phase { requests.hungUp() }
    }

    /// To be called after everything that changes what can happen next.
    func updateWatch() {
        guard !isClosed else { return }
        unsafe watch.update(isCongested: stream.isCongested)
    }

    /// See `SocketWatch`. `updateWatch` follows, unless the connection is being served.
    var wantsWritable: Bool {
        get { unsafe watch.wantsWritable }
        set { unsafe watch.wantsWritable = newValue }
    }
    var noticesHangup: Bool {
        get { unsafe watch.noticesHangup }
        set { unsafe watch.noticesHangup = newValue }
    }

    /// Pauses or resumes reading; meanwhile the peer's bytes stay in the kernel.
    func setReading(_ reads: Bool) {
        if unsafe watch.setReading(reads) { updateWatch() }
    }

    // MARK: Sending

    /// Writes content; what the socket does not take leaves as soon as it does.
    ///
    /// - Returns: false if the connection is dead; it then ends by itself.
    @discardableResult
    func write(_ content: UnsafeRawBufferPointer, followedByPing ping: UInt32? = nil) -> Bool {
        guard unsafe isOutputOpen else { return false }
        guard unsafe stream.write(content, followedByPing: ping) else {
            fail()
            return false
        }
        if unsafe stream.isCongested { updateWatch() }
        return true
    }

    // MARK: Prefetching

    /// The next message will read this memory.
    func prefetch(_ hints: PrefetchHints) { unsafe self.hints = unsafe hints.keepingReceiver(of: self.hints) }

    func setHints(of connection: Connection) { unsafe hints = unsafe PrefetchHints(of: connection, on: stream) }
    func setHints(of end: TunnelEnd, to other: EdgeConnection) { unsafe hints = unsafe PrefetchHints(of: end, on: stream, to: other) }
}

/// Where a connection came from.
struct Arrival {
    let entrance: Entrance
    /// The peer, or the client that the proxy named in its PROXY header; nil for a connection that we have made.
    let peer: IPAddress?
}
