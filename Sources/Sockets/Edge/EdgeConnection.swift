internal import CLibwebsockets
internal import Glibc
internal import TLSRecords
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
    @exclusivity(unchecked) private(set) var stream: ByteStream
    @exclusivity(unchecked) private var poll: SocketPoll!
    @exclusivity(unchecked) private var phase: Phase
    /// The connection of `Phase.webSocket`, for frames: not retained, because the phase holds it.
    @exclusivity(unchecked) private var webSocket: Unmanaged<Connection>?
    /// The same for `Phase.tunnel`.
    @exclusivity(unchecked) private var tunnel: Unmanaged<TunnelEnd>?
    /// Read before each `recv`.
    @exclusivity(unchecked) private(set) var hints = PrefetchHints()
    @exclusivity(unchecked) private var input = Input.open
    /// False from the end of the connection on: the descriptor may be another connection's then.
    @exclusivity(unchecked) private var isOutputOpen = true
    private var takeover = RecordTakeover()
    /// The indices in `EdgeTable`.
    var listing = Listing()

    enum Phase {
        case requests(RequestPhase)
        case client(OutgoingRequest)
        case webSocket(Connection)
        case tunnel(TunnelEnd)
        /// Nothing is passed on any more. Unsent bytes are sent, then this side of the socket is ended and input is discarded until the peer
        /// ends its own, because closing a socket with unread bytes resets the connection and the peer may lose what it was sent.
        case ending(Ending)
        case closed
    }

    struct Ending {
        var hasEndedOutput = false
        var discardedBytes = 0
    }

    private enum Input {
        case open, paused
        /// The peer has ended its side.
        case ended
    }

    struct Listing {
        var index = 0
        var deadline: Instant?
        var deadlineIndex = 0
    }

    /// How much input is discarded while a connection ends, in bytes.
    private static var discardedBytesMax: Int { 4 << 20 }

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
        unsafe poll.watch(for: SocketPoll.writable)
    }

    private init?(_ stream: ByteStream, _ phase: Phase, _ arrival: Arrival, on loop: Loop) {
        unsafe self.loop = loop
        unsafe self.stream = stream
        unsafe self.phase = phase
        self.arrival = arrival
        guard let poll = unsafe SocketPoll(stream.descriptor, on: loop.uvPointer, for: self) else { return nil }
        unsafe self.poll = poll
        loop.add(self)
    }

    var tcp: TCPSocket { unsafe TCPSocket(descriptor: stream.descriptor) }
    /// The peer may still send.
    var isInputOpen: Bool { unsafe input != .ended }

    var isCongested: Bool { unsafe stream.isCongested }
    var isHandshakeDone: Bool { unsafe (stream as? OpenSSLStream)?.isHandshakeDone ?? true }
    /// Why the server's certificate was refused; nil if it was not.
    var certificateFault: String? { unsafe (stream as? OpenSSLStream)?.certificateFault }

    var isClosed: Bool { if case .closed = unsafe phase { true } else { false } }

    /// Nothing is passed on any more.
    var hasEnded: Bool {
        switch unsafe phase {
        case .ending, .closed: true
        default: false
        }
    }

    // MARK: Events

    /// Media is served at once, other sockets within the time that a turn has for them: one that is left out is reported again.
    func handle(_ status: Int32, _ events: Int32) {
        if unsafe webSocket != nil || tunnel != nil, status == 0 {
            if events == SocketPoll.readable { unsafe hints.fetch() }
            return serve(events)
        }
        // An error, such as a reset, is reported only once.
        guard unsafe status != 0 || loop.othersMayRun else { return }
        let began = uv_hrtime()
        if status != 0 {
            unsafe poll.noteStopped()
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
        if case .client(let upgrade) = unsafe phase, upgrade.isConnecting { return upgrade.connected() }
        guard unsafe stream.flush() else { return fail() }
        guard unsafe !stream.isCongested else { return }
        switch unsafe phase {
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
            if unsafe webSocket != nil && stream.hasSeveral {
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
        if let webSocket = unsafe webSocket { return unsafe webSocket._withUnsafeGuaranteedRef { unsafe $0.receive(content) } }
        if let tunnel = unsafe tunnel { return unsafe tunnel._withUnsafeGuaranteedRef { unsafe $0.receive(content) } }
        switch unsafe phase {
        case .requests(let requests):
            noteHandshake(of: requests)
            unsafe requests.receive(UnsafeRawBufferPointer(content))
        case .client(let upgrade): unsafe upgrade.receive(UnsafeRawBufferPointer(content))
        case .ending(var ending):
            ending.discardedBytes += content.count
            unsafe phase = .ending(ending)
            if ending.discardedBytes > Self.discardedBytesMax { close() }
        case .webSocket, .tunnel, .closed: break
        }
    }

    /// A client speaks without TLS on a port with it, and gets an HTTP error.
    private func replaceTLS() {
        let plain = unsafe ByteStream(descriptor: stream.descriptor, buffers: loop.buffers)
        unsafe plain.arrived = unsafe stream.arrived
        unsafe stream = plain
        takeover.settle()
        if case .requests(let requests) = unsafe phase { requests.isSecure = false }
    }

    private func receivedEnd() {
        unsafe input = .ended
        switch unsafe phase {
        // The response under way is still sent.
        case .requests(let requests): requests.inputEnded()
        case .webSocket(let connection): connection.inputEnded()
        case .tunnel(let tunnel): tunnel.inputEnded()
        case .client(let request): request.inputEnded()
        case .closed: break
        case .ending(let ending): if ending.hasEndedOutput { close() }
        }
        updateWatch()
    }

    /// The peer has ended its side while reading is paused.
    private func hungUp() {
        guard unsafe input == .paused else { return }
        // It would be reported again and again. The end itself comes with the bytes before it.
        noticesHangup = false
        updateWatch()
        if case .requests(let requests) = unsafe phase { requests.hungUp() }
    }

    /// To be called after everything that changes what can happen next.
    func updateWatch() {
        guard !isClosed else { return }
        var events: Int32 = 0
        if unsafe input == .open { events |= SocketPoll.readable }
        if unsafe input == .paused && noticesHangup { events |= SocketPoll.disconnected }
        if unsafe stream.isCongested || wantsWritable { events |= SocketPoll.writable }
        unsafe poll.watch(for: events)
    }

    /// The phase wants to know when the socket takes bytes, though none wait in the stream.
    var wantsWritable = false

    /// While reading is paused, the phase wants to know that the peer has left.
    var noticesHangup = false

    /// Pauses or resumes reading; meanwhile the peer's bytes stay in the kernel.
    func setReading(_ reads: Bool) {
        guard unsafe input != .ended else { return }
        unsafe input = reads ? .open : .paused
        updateWatch()
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

    // MARK: The WebSocket

    /// The upgrade is done.
    func begin(_ connection: Connection) {
        setDeadline(after: nil)
        unsafe phase = .webSocket(connection)
        unsafe webSocket = unsafe Unmanaged.passUnretained(connection)
        wantsWritable = false
        takeover.want()
        continueTakeover()
        connection.opened(on: self)
    }

    /// The upgrade has been forwarded: from now on this connection's bytes go to another one.
    func begin(_ end: TunnelEnd) {
        setDeadline(after: nil)
        unsafe phase = .tunnel(end)
        unsafe tunnel = unsafe Unmanaged.passUnretained(end)
        wantsWritable = false
        noticesHangup = true
        takeover.want()
        continueTakeover()
        setReading(true)
    }

    /// TLS has made progress, before or shortly after the upgrade.
    private func continueHandshakes() {
        switch unsafe phase {
        case .requests(let requests): if isHandshakeDone { noteHandshake(of: requests) }
        case .client(let upgrade): upgrade.advance()
        case .webSocket, .tunnel: continueTakeover()
        default: break
        }
    }

    /// Gives the client time for its first request. Called before that request is read: it may have arrived with the end of the handshake,
    /// and then its body and response have their own deadlines.
    private func noteHandshake(of requests: RequestPhase) {
        guard !requests.isHandshakeDone else { return }
        requests.isHandshakeDone = true
        unsafe setDeadline(after: .seconds(loop.settings.handshakeSecondsMax))
    }

    /// Replaces OpenSSL by `RecordStream` if it has nothing under way.
    private func continueTakeover() {
        let before = unsafe stream
        guard let records = unsafe takeover.advance(before, with: loop.settings.fastPath, isServer: arrival.peer != nil) else { return }
        unsafe stream = records
        switch unsafe phase {
        case .webSocket(let connection): connection.streamChanged()
        case .tunnel(let end): end.streamChanged()
        default: break
        }
        (before as? OpenSSLStream)?.release()
    }

    /// The next message will read this memory.
    func prefetch(_ hints: PrefetchHints) { unsafe self.hints = unsafe hints.keepingReceiver(of: self.hints) }

    func setHints(of connection: Connection) { unsafe hints = unsafe PrefetchHints(of: connection, on: stream) }
    func setHints(of end: TunnelEnd, to other: EdgeConnection) { unsafe hints = unsafe PrefetchHints(of: end, on: stream, to: other) }

    // MARK: The end

    /// Closes the sending side once pending output has been written. Receiving goes on.
    func endContent() {
        unsafe isOutputOpen = false
        unsafe stream.end()
        updateWatch()
    }

    /// Ends the connection after what has been written, giving the peer this long to end its side.
    func end(within span: Duration) {
        guard !isClosed else { return }
        if case .ending = unsafe phase { return }
        let before = unsafe phase
        unsafe phase = .ending(Ending())
        unsafe (webSocket, tunnel) = (nil, nil)
        unsafe isOutputOpen = false
        unsafe loop.noteEnded(before)
        unsafe stream.end()
        setDeadline(after: span)
        if unsafe input == .paused { unsafe input = .open }
        if unsafe !stream.isCongested { endOutput() }
        updateWatch()
    }

    /// Everything has left: ends this side, and the connection if the peer has ended its own.
    private func endOutput() {
        guard case .ending(var ending) = unsafe phase, !ending.hasEndedOutput else { return }
        ending.hasEndedOutput = true
        unsafe phase = .ending(ending)
        tcp.endWriting()
        if unsafe input == .ended { close() }
    }

    /// The connection is broken, or is to look like it.
    func fail() { close() }

    /// Breaks a tunnel or a forward to a node.
    ///
    /// - Parameter name: nil for any.
    func breakTunnel(to name: String?) {
        switch unsafe phase {
        case .tunnel(let end): if name == nil || end.name == name { fail() }
        case .client(let forward as Forward): if name == nil || forward.name == name { forward.fail(.ended) }
        default: break
        }
    }

    private func close() {
        guard !isClosed else { return }
        let before = unsafe phase
        unsafe phase = .closed
        unsafe (webSocket, tunnel) = (nil, nil)
        unsafe isOutputOpen = false
        setDeadline(after: nil)
        unsafe poll.close()
        Glibc.close(unsafe stream.descriptor)
        unsafe loop.noteEnded(before)
        unsafe loop.remove(self)
    }

    // MARK: Deadlines

    func setDeadline(after span: Duration?) {
        if isClosed, span != nil { return }
        unsafe loop.set(span.map { unsafe loop.now + $0 }, of: self)
    }

    func expired() {
        switch unsafe phase {
        case .requests(let requests): requests.expired()
        case .client(let request): request.expired()
        case .webSocket(let connection): connection.closeExpired()
        case .tunnel, .ending, .closed: close()
        }
    }
}

/// Where a connection came from.
struct Arrival {
    let entrance: Entrance
    /// The peer, or the client that the proxy named in its PROXY header; nil for a connection that we have made.
    let peer: IPAddress?
}
