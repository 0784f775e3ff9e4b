internal import CLibwebsockets
package import Wire

/// One event loop on one thread: a libuv loop of ours with its listeners, connections and timers, and a libwebsockets context on it.
///
/// Used on one thread; the only way in from others is a `Mailbox`. The libuv loop is ours because libwebsockets takes SIGINT and SIGTERM for
/// itself on its own, and spins after them.
@safe package final class Loop {
    /// Not retained: the creator of the loop keeps it alive while the loop runs.
    package unowned(unsafe) let delegate: any SocketDelegate
    /// The same object, for media.
    let mediaReceiver: MediaReceiver
    let settings: LoopSettings
    private(set) var tls = TLSContexts()
    let buffers = StreamBuffers()
    private(set) var uv: UVLoop!
    private var acceptor: Acceptor!
    var edges = EdgeTable()
    @exclusivity(unchecked) var turn = Turn()
    var scratch = Scratch()
    var bodies = BodyBudget()
    package internal(set) var counters = LoopCounters()

    /// - Throws: `LoopError` if the system has no memory or descriptors left, `TLSFileError` for an unusable certificate.
    package init(settings: LoopSettings, delegate: some SocketDelegate) throws {
        self.settings = settings
        unsafe self.delegate = delegate
        mediaReceiver = .forwarding(to: delegate)
        try settings.server?.check()
        lws_set_log_level(0, nil)
        acceptor = Acceptor(self)
        uv = try UVLoop(for: self)
        do {
            try open()
        } catch {
            freeAll()
            throw error
        }
    }

    private func open() throws {
        if settings.server != nil { try uv.openLibrary() }
        tls = try TLSContexts(settings)
    }

    // MARK: Running

    /// Serves until `stop()`, woken by posts to `mailbox`, then frees everything that belongs to the loop.
    package func run<Message>(wokenBy mailbox: Mailbox<Message>) {
        mailbox.connect(waker)
        // Before anything is freed: nobody may wake the loop any more.
        run { mailbox.disconnect() }
    }

    /// Serves until `stop()`, then frees everything that belongs to the loop. Only for a loop whose `waker` nobody has.
    package func run() { run {} }

    private func run(ended: () -> Void) {
        // Nobody cancels this thread, but glibc guards each system call of a multi-threaded process with two atomic operations unless the
        // thread may be cancelled at any time.
        pthread_setcancelstate(Int32(PTHREAD_CANCEL_DISABLE), nil)
        pthread_setcanceltype(Int32(PTHREAD_CANCEL_ASYNCHRONOUS), nil)
        uv.run()
        ended()
        freeAll()
    }

    private func freeAll() {
        acceptor.stopListening()
        acceptor.closePending()
        for edge in edges.open { edge.fail() }
        endTurn()
        uv.close()
    }

    package func stop() { uv.stop() }

    /// The time of this turn.
    package var now: Instant { clock.now }
    package var clock: LoopClock { unsafe LoopClock(of: uv.pointer) }

    /// The time of this very moment on the same clock, for measuring.
    package var exactNow: Instant {
        Instant(nanoseconds: uv_hrtime())
    }

    package var waker: LoopWaker { uv.waker }
    var uvPointer: UnsafeMutablePointer<uv_loop_t> { unsafe uv.pointer }
    var lws: LwsContext { uv.lws }

    // MARK: Timers

    /// Calls `SocketDelegate.timerRang()` at this instant; nil cancels. There is one timer; the last call counts.
    package func wake(at instant: Instant?) {
        if let instant {
            let delay = max(0, (instant - now).inNanoseconds)
            uv.startTimer(milliseconds: UInt64((delay + 999_999) / 1_000_000))
        } else if unsafe turn.timerQueue.isEmpty {
            uv.stopTimer()
        }
        if unsafe !turn.timerQueue.isEmpty { uv.startTimer(withinMilliseconds: Turn.timerMilliseconds) }
    }

    func set(_ deadline: Instant?, of edge: EdgeConnection) {
        edges.set(deadline, of: edge)
        if deadline != nil { uv.startScanning() }
    }

    // MARK: Connections

    func add(_ edge: EdgeConnection) { edges.add(edge) }
    /// The phase in which a connection was when it ended; reported at the end of the turn.
    func noteEnded(_ phase: EdgeConnection.Phase) { edges.noteEnded(phase) }

    func remove(_ edge: EdgeConnection) {
        edges.remove(edge)
        if edge.arrival.peer != nil { settings.quota(of: edge.arrival.entrance).giveBack() }
    }

    /// Accepts from a listener until the loop ends or `stopListening`, and then closes it.
    package func listen(on listener: Listener) {
        acceptor.listen(on: listener)
    }

    /// Uses another certificate for new connections; on an error the old one stays.
    package func reloadTLS(_ files: TLSFiles) throws(TLSFileError) {
        try tls.server?.reload(files)
    }

    /// The source of a request.
    ///
    /// - Parameter forwardedFor: the values of X-Forwarded-For, joined by commas.
    func source(of entrance: Entrance, _ peer: IPAddress, forwardedFor: String?) -> RequestSource {
        guard entrance == .proxies || entrance == .nodes else {
            return RequestSource(entrance: entrance, address: peer.forLimits, isTrusted: true)
        }
        let trust = entrance == .nodes ? settings.nodes : settings.proxies
        let client = trust.client(of: peer, forwardedFor: forwardedFor)
        if client.isMalformed { counters.forwardedForMalformed += 1 }
        // With the PROXY protocol, the connection itself was checked when it was accepted.
        let isTrusted = (entrance == .proxies && trust.usesProxyProtocol) || trust.trusts(peer)
        return RequestSource(entrance: entrance, address: client.address.forLimits, isTrusted: isTrusted)
    }

    /// A listener has stopped accepting for a while.
    func acceptFailed(_ error: AcceptError) {
        counters.acceptFailures += 1
        unsafe delegate.acceptFailed(error)
    }

    /// Starts to connect; `SocketDelegate.opened` or `failed` reports the outcome, the latter possibly before this returns.
    package func connect(to endpoint: Endpoint) -> Connection {
        let connection = Connection(loop: self, isServer: false, tcp: TCPSocket(descriptor: -1))
        switch ClientUpgrade.open(endpoint) {
        case .failure(let failure): connection.ended(failure)
        case .success(let descriptor):
            guard EdgeConnection(connecting: descriptor, ClientUpgrade(endpoint, for: connection), on: self) == nil else { break }
            Listener.discard(descriptor)
            connection.ended()
        }
        return connection
    }

    // MARK: Tunnels

    /// Upgrades that were forwarded and whose bytes are passed on.
    package var tunnelCount: Int { counters.tunnelsOpen }

    /// Breaks all tunnels to a node, so that their clients connect again. Forwards to it that are under way fail.
    ///
    /// - Parameter name: as given to `HeldUpgrade.forward`; nil for all nodes.
    package func endTunnels(to name: String? = nil) {
        for edge in edges.open { edge.breakTunnel(to: name) }
    }

    /// Breaks some tunnels, so that their clients connect again.
    package func endTunnels(atMost limit: Int) {
        let rest = max(0, counters.tunnelsOpen - limit)
        for edge in edges.open where counters.tunnelsOpen > rest { edge.breakTunnel(to: nil) }
    }
}

/// Counters of connections that never reach the loop's delegate.
package struct LoopCounters: Sendable {
    /// Closed at once because there were too many.
    package var turnedAway: UInt64 = 0
    /// Ended before a whole request had arrived: silent clients, failed TLS handshakes, request heads over 16 KiB.
    package var handshakesAbandoned: UInt64 = 0
    /// How often a listener stopped accepting because descriptors or memory ran out, and connections and requests refused for the same reason.
    package var acceptFailures: UInt64 = 0
    /// Connections closed for their PROXY header.
    package var proxyHeadersRefused: [ProxyHeader.Fault: UInt64] = [:]
    /// Requests of proxies with an `X-Forwarded-For` that is no list of addresses.
    package var forwardedForMalformed: UInt64 = 0
    /// Upgrades that another node has accepted (`HeldUpgrade.forward`), and attempts that have failed.
    package var upgradesForwarded: UInt64 = 0
    package var forwardsFailed: UInt64 = 0
    /// Now.
    package var tunnelsOpen = 0
    /// Bytes passed on from clients to other nodes, and from those to clients.
    package var tunnelBytesIn: UInt64 = 0
    package var tunnelBytesOut: UInt64 = 0

    package init() {}
}
