internal import CLibwebsockets
package import Wire

/// One event loop on one thread: a libuv loop of ours, a libwebsockets context on it, its listeners, connections and one timer.
///
/// Created, run and used on one thread; the only way in from other threads is a `Mailbox` with this loop's `waker`. The libuv loop is ours
/// because libwebsockets takes SIGINT and SIGTERM for itself on its own, and spins after them.
@safe package final class Loop {
    /// Not retained: the creator of the loop keeps it alive while the loop runs.
    package unowned(unsafe) let delegate: any SocketDelegate
    /// The same object, for media.
    let mediaReceiver: MediaReceiver
    let settings: LoopSettings
    let lws = LwsContext()
    private var uv: UVLoop!
    private(set) var recordLayer = LoopRecordLayer()
    private var acceptor: Acceptor!
    private var scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
    /// Of HTTP request bodies that are being received or processed.
    private var bodyBytes = 0
    package internal(set) var counters = LoopCounters()

    private static let bodyBytesMax = 64 << 20

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
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        try unsafe lws.open(on: uv.pointer, user: this, handshakeSecondsMax: settings.handshakeSecondsMax)
        if let layer = settings.recordLayer, let context = unsafe lws.pointer {
            recordLayer = unsafe layer.makeLoopLayer(for: self, handles: LoopHandles(uv: UnsafeMutableRawPointer(uv.pointer), lws: context))
        }
        if let server = settings.server {
            try lws.makeServerVhost(server, handshakeSecondsMax: settings.handshakeSecondsMax)
            try lws.makePlainVhost(handshakeSecondsMax: settings.handshakeSecondsMax)
        }
        if let trust = settings.client { try lws.makeClientVhost(trust, handshakeSecondsMax: settings.handshakeSecondsMax) }
    }

    deinit {
        unsafe scratch.deallocate()
    }

    // MARK: Running

    /// Serves until `stop()`, woken by posts to `mailbox`, then frees everything that belongs to the loop.
    package func run<Message>(wokenBy mailbox: Mailbox<Message>) {
        mailbox.connect(waker)
        runTurns()
        // Before anything is freed: nobody may wake the loop any more.
        mailbox.disconnect()
        freeAll()
    }

    /// Serves until `stop()`, then frees everything that belongs to the loop. Only for a loop whose `waker` nobody has.
    package func run() {
        runTurns()
        freeAll()
    }

    private func runTurns() {
        // Nobody cancels this thread, but glibc guards each system call of a multi-threaded process with two atomic operations unless the
        // thread may be cancelled at any time.
        pthread_setcancelstate(Int32(PTHREAD_CANCEL_DISABLE), nil)
        pthread_setcanceltype(Int32(PTHREAD_CANCEL_ASYNCHRONOUS), nil)
        uv.run()
    }

    private func freeAll() {
        stopListening()
        acceptor.closePending()
        let mayRun = lws.destroy()
        recordLayer.stop()
        if mayRun {
            uv.close()
            lws.finishDestroying()
        }
    }

    /// Ends `run()` after this turn.
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

    /// Whether libwebsockets is working on leftover bytes of an earlier read, which it does outside of socket events.
    var isServingLeftover: Bool { !uv.isProcessingEvents }

    // MARK: The timer

    /// Calls `SocketDelegate.timerRang()` at this instant; nil cancels. There is one timer; the last call counts.
    package func wake(at instant: Instant?) {
        if let instant {
            let delay = max(0, (instant - now).inNanoseconds)
            uv.startTimer(milliseconds: UInt64((delay + 999_999) / 1_000_000))
        } else if recordLayer.timerMilliseconds == nil {
            uv.stopTimer()
        }
        if let milliseconds = recordLayer.timerMilliseconds { uv.startTimer(withinMilliseconds: milliseconds) }
    }

    /// Has the timer fire within this time; `SocketDelegate.timerRang()` is called in any case.
    package func wake(withinMilliseconds milliseconds: UInt64) {
        uv.startTimer(withinMilliseconds: milliseconds)
    }

    func timerFired() {
        recordLayer.timerFired { unsafe delegate.timerRang() }
    }

    // MARK: Serving

    /// Accepts from a listener until the loop ends or `stopListening`, and then closes it.
    package func listen(on listener: Listener) {
        unsafe acceptor.listen(on: listener, uv.pointer)
    }

    /// Closes the listeners. Established connections stay.
    package func stopListening() {
        acceptor.stopListening()
    }

    /// Uses another certificate for new connections; on an error the old one stays.
    package func reloadTLS(_ files: TLSFiles) throws(TLSFileError) {
        guard let serverTLS = unsafe lws.serverTLS else { return }
        try files.check()
        try unsafe files.load(into: serverTLS)
    }

    /// A listener has accepted a TCP connection.
    func accepted(_ descriptor: Int32, at entrance: Entrance) {
        acceptor.accepted(descriptor, at: entrance)
    }

    /// The source of a request on a server's connection.
    ///
    /// - Parameter arrival: nil for a connection with TLS.
    func source(of wsi: OpaquePointer, _ arrival: PlainArrival?) -> RequestSource {
        guard let arrival else {
            let address = unsafe TCPSocket(descriptor: lws_get_socket_fd(wsi)).peerAddress
            return RequestSource(entrance: .clients, address: address, isTrusted: true)
        }
        guard arrival.entrance == .proxies else {
            return RequestSource(entrance: arrival.entrance, address: arrival.peer.forLimits, isTrusted: true)
        }
        let client = settings.proxies.client(of: arrival.peer, forwardedFor: unsafe RequestHeader.forwardedFor.joinedText(of: wsi))
        if client.isMalformed { counters.forwardedForMalformed += 1 }
        // With the PROXY protocol, the connection itself was checked when it was accepted.
        let isTrusted = settings.proxies.usesProxyProtocol || settings.proxies.trusts(arrival.peer)
        return RequestSource(entrance: .proxies, address: client.address.forLimits, isTrusted: isTrusted)
    }

    /// A listener has stopped accepting for a while.
    func acceptFailed(_ error: AcceptError) {
        counters.acceptFailures += 1
        unsafe delegate.acceptFailed(error)
    }

    func wsiCreated() { acceptor.wsiCreated() }

    /// - Parameter entrance: of a server's connection; nil for an outgoing one.
    func wsiDestroyed(at entrance: Entrance?, madeARequest: Bool) {
        guard let entrance else { return }
        settings.quota(of: entrance).giveBack()
        if !madeARequest { counters.handshakesAbandoned += 1 }
    }

    func tlsContextMade(_ context: OpaquePointer) {
        unsafe TLSPolicy.apply(to: context)
        unsafe settings.recordLayer?.configure(context)
        unsafe lws.serverTLS = unsafe context
    }

    func clientTLSContextMade(_ context: OpaquePointer) {
        unsafe settings.recordLayer?.configure(context)
    }

    /// Reports when the socket takes more; nil if the system has no descriptor left.
    func watchWritable(_ wsi: OpaquePointer, _ isWritable: @escaping () -> Void) -> WritableWatch? {
        unsafe WritableWatch(lws_get_socket_fd(wsi), on: uv.pointer, recordLayer, isWritable: isWritable)
    }

    // MARK: Request bodies

    /// How long the body of an HTTP request may take.
    var bodyTimeout: Duration { .seconds(3 * settings.handshakeSecondsMax) }

    /// - Returns: false if bodies in progress already take up too much memory.
    func takeBodyBytes(_ count: Int) -> Bool {
        guard bodyBytes + count <= Self.bodyBytesMax else { return false }
        bodyBytes += count
        return true
    }

    func giveBackBodyBytes(_ count: Int) {
        bodyBytes -= count
    }

    // MARK: Connecting

    /// Starts to connect; `SocketDelegate.opened` or `failed` reports the outcome.
    package func connect(to endpoint: Endpoint) -> Connection {
        let connection = unsafe Connection(wsi: nil, loop: self)
        connection.endpoint = endpoint
        if let wsi = unsafe start(connection, to: endpoint) { unsafe connection.attach(wsi) }
        return connection
    }

    private func start(_ connection: Connection, to endpoint: Endpoint) -> OpaquePointer? {
        let held = unsafe Unmanaged<Attachment>.passRetained(connection)
        connection.isHeldByLws = true
        let address = unsafe strdup(endpoint.host)
        defer { unsafe free(address) }
        var wsi: OpaquePointer?
        var flags = endpoint.usesTLS ? Int32(LCCSCF_USE_SSL.rawValue) : 0
        // A server must not choose where a request goes.
        flags |= Int32(LCCSCF_HTTP_NO_FOLLOW_REDIRECT.rawValue)
        if endpoint.usesTLS, settings.client == .anybody {
            flags |= Int32(LCCSCF_ALLOW_SELFSIGNED.rawValue | LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK.rawValue)
            flags |= Int32(LCCSCF_ALLOW_INSECURE.rawValue | LCCSCF_ALLOW_EXPIRED.rawValue)
        }
        unsafe endpoint.hostField.withCString { host in
            unsafe endpoint.path.withCString { path in
                unsafe ProtocolLimits.subprotocol.withCString { subprotocol in
                    var info = unsafe lws_client_connect_info()
                    unsafe info.context = unsafe lws.pointer
                    unsafe info.vhost = unsafe lws.clientVhost
                    unsafe info.address = unsafe UnsafePointer(address)
                    unsafe info.host = unsafe host
                    unsafe info.port = Int32(endpoint.port)
                    unsafe info.path = unsafe path
                    unsafe info.protocol = unsafe subprotocol
                    unsafe info.local_protocol_name = unsafe subprotocol
                    unsafe info.ssl_connection = flags
                    unsafe info.opaque_user_data = unsafe held.toOpaque()
                    unsafe withUnsafeMutablePointer(to: &wsi) {
                        unsafe info.pwsi = unsafe $0
                        _ = unsafe lws_client_connect_via_info(&info)
                    }
                }
            }
        }
        if unsafe wsi == nil, connection.isHeldByLws {
            // It failed before libwebsockets had anything to destroy.
            connection.isHeldByLws = false
            unsafe held.release()
        }
        return unsafe wsi
    }

    // MARK: Scratch

    /// Copies bytes to where they have `Connection.headroom` before them.
    func withScratch(copying bytes: UnsafeRawBufferPointer, _ body: (UnsafeMutableRawPointer) -> Bool) -> Bool {
        let needed = bytes.count + Int(patchbay_lws_pre)
        if unsafe scratch.count < needed {
            unsafe scratch.deallocate()
            unsafe scratch = .allocate(byteCount: needed * 2, alignment: 16)
        }
        let start = unsafe scratch.baseAddress! + Int(patchbay_lws_pre)
        if let base = bytes.baseAddress { unsafe start.copyMemory(from: base, byteCount: bytes.count) }
        return unsafe body(start)
    }
}

/// What a loop counts of connections that never reach its delegate.
package struct LoopCounters: Sendable {
    /// Closed at once because there were too many.
    package var turnedAway: UInt64 = 0
    /// Ended before a whole request had arrived: silent clients, failed TLS handshakes, request heads over 16 KiB.
    package var handshakesAbandoned: UInt64 = 0
    /// How often a listener stopped accepting for want of descriptors or memory, and connections that libwebsockets had no room for.
    package var acceptFailures: UInt64 = 0
    /// Connections closed for their PROXY header.
    package var proxyHeadersRefused: [ProxyHeader.Fault: UInt64] = [:]
    /// Requests of proxies with an `X-Forwarded-For` that is no list of addresses.
    package var forwardedForMalformed: UInt64 = 0
}

/// Why a loop could not be created.
package struct LoopError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    static let noLoop = LoopError("libuv cannot create a loop; check the limit of open files (`ulimit -n`)")
}
