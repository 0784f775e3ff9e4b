internal import CLibwebsockets
package import Wire

/// One event loop on one thread: a libuv loop of ours, an lws context on it, its listeners, connections and one timer.
///
/// Make it, run it and use it on one thread; the only way in from elsewhere is a `Mailbox` with this loop's `waker`.
/// The libuv loop is ours and not lws's own because lws takes SIGINT and SIGTERM for itself on the latter, and spins after them.
@safe package final class Loop {
    /// Whoever makes the loop keeps it alive as long as the loop runs.
    package unowned(unsafe) let owner: any SocketOwner
    /// The same, for media.
    let mediaDoor: MediaReceiver

    private let uv = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    private let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    private let async = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    private let protocols: LwsProtocols
    private let headerLimits = HeaderLimits()
    private var context: OpaquePointer?
    private var eventPipe: EventPipe?
    fileprivate var recordIO: RecordIO?
    private var turnEnd: TurnEnd?
    private var serverVhost: OpaquePointer?
    private var clientVhost: OpaquePointer?
    /// OpenSSL's context of the server, told by lws when it makes it.
    fileprivate(set) var serverTLS: OpaquePointer?
    private var listening: [ListeningHandle] = []
    private var scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
    private let settings: LoopSettings
    /// Connections closed at once because there were too many.
    package private(set) var turnedAway: UInt64 = 0
    /// Connections that ended before a whole request had come: silent ones, broken TLS, request heads over 16 KiB.
    package private(set) var handshakesAbandoned: UInt64 = 0

    /// Of HTTP requests that are not answered yet.
    private var bodyBytes = 0
    private static let bodyBytesMax = 64 << 20

    /// - Throws: `LoopError` if the system has no memory or descriptors for another loop, `TLSFileError` for a bad certificate.
    package init(settings: LoopSettings, owner: some SocketOwner) throws {
        self.settings = settings
        unsafe self.owner = owner
        mediaDoor = .to(owner)
        try settings.server?.check()
        protocols = LwsProtocols()
        lws_set_log_level(0, nil)
        guard unsafe uv_loop_init(uv) == 0, unsafe uv_timer_init(uv, timer) == 0, unsafe uv_async_init(uv, async, loopWoken) == 0 else {
            throw LoopError("libuv has no loop for us; are there too many open files (ulimit -n)?")
        }
        // The handles point back to us; they are closed, and the pointers gone, before `run` returns.
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe timer.pointee.data = unsafe this
        unsafe async.pointee.data = unsafe this
        try makeContext()
        eventPipe = unsafe EventPipe(of: uv)
        if let context = unsafe context {
            let recordIO = unsafe RecordIO(context: context, clock: LoopClock(of: uv))
            self.recordIO = recordIO
            turnEnd = unsafe TurnEnd(loop: uv, recordIO: recordIO)
        }
        if let server = settings.server { try makeServerVhost(server) }
        if let trust = settings.client { try makeClientVhost(trust) }
    }

    deinit {
        unsafe scratch.deallocate()
    }

    // MARK: Running

    /// Serves until `stop()`, woken by whoever posts to `mailbox`, then frees everything that is the loop's.
    ///
    /// The mailbox is told in time: nobody wakes a loop that is being freed.
    package func run<Message>(wokenBy mailbox: Mailbox<Message>) {
        mailbox.connect(waker)
        runTurns()
        mailbox.disconnect()
        freeAll()
    }

    /// Serves until `stop()`, then frees everything that is the loop's. Only for a loop whose `waker` nobody has.
    package func run() {
        runTurns()
        freeAll()
    }

    private func runTurns() {
        // Nobody cancels this thread, but in a process with several the C library makes sure around each system call, unless the thread
        // may be cancelled at any time anyway: two atomic operations for each `recv`, `send` and wait.
        pthread_setcancelstate(Int32(PTHREAD_CANCEL_DISABLE), nil)
        pthread_setcanceltype(Int32(PTHREAD_CANCEL_ASYNCHRONOUS), nil)
        unsafe uv_run(uv, UV_RUN_DEFAULT)
    }

    private func freeAll() {
        for handle in listening { handle.close() }
        if let context = unsafe context { unsafe lws_context_destroy(context) }
        turnEnd?.stop()
        guard eventPipe?.keepTaken() ?? true else { return }
        unsafe uv_close(patchbay_timer_handle(timer), nil)
        unsafe uv_close(patchbay_async_handle(async), nil)
        // lws and libuv close their handles in the turns that follow.
        for _ in 0..<100 where unsafe uv_loop_alive(uv) != 0 { unsafe uv_run(uv, UV_RUN_NOWAIT) }
        if unsafe uv_loop_close(uv) == 0 {
            unsafe uv.deallocate()
            unsafe timer.deallocate()
            unsafe async.deallocate()
        }
    }

    /// Ends `run()` after this turn.
    package func stop() {
        unsafe uv_stop(uv)
    }

    /// The time of this turn.
    package var now: Instant { clock.now }
    package var clock: LoopClock { unsafe LoopClock(of: uv) }

    /// The time of this very moment on the same clock, for measuring.
    package var exactNow: Instant {
        Instant(nanoseconds: uv_hrtime())
    }

    /// Calls `SocketOwner.timerRang()` at this instant, or never if nil. There is one timer; the last call counts.
    package func wake(at instant: Instant?) {
        guard let instant else {
            if !(recordIO?.hasLingering ?? false) { unsafe uv_timer_stop(timer) }
            return
        }
        let delay = max(0, (instant - now).inNanoseconds)
        unsafe uv_timer_start(timer, timerRang, UInt64((delay + 999_999) / 1_000_000), 0)
        if recordIO?.hasLingering ?? false { wakeForLingering() }
    }

    /// Has the timer ring in time for what lingers (`RecordIO`), if not earlier; `SocketOwner.timerRang()` is called in any case.
    func wakeForLingering() {
        if unsafe uv_is_active(patchbay_timer_handle(timer)) == 0 || uv_timer_get_due_in(timer) > RecordIO.lingerLookMilliseconds {
            unsafe uv_timer_start(timer, timerRang, RecordIO.lingerLookMilliseconds, 0)
        }
    }

    package var waker: LoopWaker { unsafe LoopWaker(handle: async) }

    // MARK: Serving

    /// Whether lws is at work on what it had read before.
    var isServingWhatStayed: Bool { turnEnd?.isWorking ?? false }

    /// Nil if the system has no descriptor for it.
    func watchWritable(_ wsi: OpaquePointer, _ isWritable: @escaping () -> Void) -> WritableWatch? {
        unsafe WritableWatch(lws_get_socket_fd(wsi), on: uv, isWritable: isWritable)
    }

    /// How long the body of an HTTP request may take.
    var bodyTimeout: Duration { .seconds(3 * settings.handshakeSecondsMax) }

    /// - Returns: false if bodies that are being read take up too much already.
    func takeBodyBytes(_ count: Int) -> Bool {
        guard bodyBytes + count <= Self.bodyBytesMax else { return false }
        bodyBytes += count
        return true
    }

    func giveBackBodyBytes(_ count: Int) {
        bodyBytes -= count
    }

    /// Accepts from a listener until the loop ends or `stopListening`. The listener is closed with the loop.
    package func listen(on listener: Listener) {
        let handle = ListeningHandle(listener: listener, loop: self)
        unsafe handle.start(on: uv)
        listening.append(handle)
    }

    /// Accepts no more. Connections that are up stay.
    package func stopListening() {
        for handle in listening { handle.close() }
        listening.removeAll()
    }

    /// Shows another certificate to those who connect from now on; on an error the old one stays.
    package func reloadTLS(_ files: TLSFiles) throws(TLSFileError) {
        guard let serverTLS = unsafe serverTLS else { return }
        try files.check()
        try unsafe files.load(into: serverTLS)
    }

    fileprivate func acceptAll(from listener: Listener) {
        // Bounded, so that a flood of newcomers does not keep those who talk waiting.
        for _ in 0..<64 {
            guard let descriptor = listener.accept() else { return }
            guard settings.quota.take() else {
                turnedAway += 1
                Listener.discard(descriptor)
                continue
            }
            TCPSocket(descriptor: descriptor).tuneForMedia()
            guard let wsi = unsafe lws_adopt_socket_vhost(serverVhost, descriptor) else {
                settings.quota.giveBack()
                continue
            }
            // For TLS lws has a time of its own, whatever the context says.
            unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_SSL_ACCEPT, Int32(settings.handshakeSecondsMax))
        }
    }

    /// - Returns: the connection's records, which go with the wsi; nil without TLS 1.3.
    func established(_ wsi: OpaquePointer, of connection: Connection) -> RecordSocket? {
        unsafe recordIO?.serve(wsi, of: connection)
    }

    func wsiDestroyed(isServer: Bool, madeARequest: Bool) {
        guard isServer else { return }
        settings.quota.giveBack()
        if !madeARequest { handshakesAbandoned += 1 }
    }

    func tlsContextMade(_ context: OpaquePointer) {
        unsafe TLSPolicy.apply(to: context)
        unsafe HandshakeNotes.take(of: context)
        unsafe serverTLS = unsafe context
    }

    func clientTLSContextMade(_ context: OpaquePointer) {
        unsafe HandshakeNotes.take(of: context)
    }

    // MARK: Connecting

    /// Starts to connect; `SocketOwner.opened` or `failed` tells the rest.
    package func connect(to endpoint: Endpoint) -> Connection {
        let connection = unsafe Connection(wsi: nil, loop: self)
        connection.endpoint = endpoint
        if let wsi = unsafe start(connection, to: endpoint, method: nil) { unsafe connection.attach(wsi) }
        return connection
    }

    /// Starts a request; its completion tells the rest, perhaps before this returns.
    func send(_ call: HTTPCall) {
        if let wsi = unsafe start(call, to: call.endpoint, method: call.method) {
            unsafe call.attach(wsi)
        } else {
            call.failed("the connection was refused")
        }
    }

    /// - Parameter method: nil upgrades to WebSocket.
    private func start(_ attachment: Attachment, to endpoint: Endpoint, method: String?) -> OpaquePointer? {
        let held = unsafe Unmanaged.passRetained(attachment)
        attachment.isHeldByLws = true
        let method = unsafe method.map { unsafe strdup($0) }
        defer { unsafe free(method ?? nil) }
        let address = unsafe strdup(endpoint.address ?? endpoint.host)
        defer { unsafe free(address) }
        var wsi: OpaquePointer?
        var flags = endpoint.usesTLS ? Int32(LCCSCF_USE_SSL.rawValue) : 0
        // Where a request goes is for whoever makes it to say, and not for the one who answers.
        flags |= Int32(LCCSCF_HTTP_NO_FOLLOW_REDIRECT.rawValue)
        if endpoint.usesTLS, settings.client == .anybody {
            flags |= Int32(LCCSCF_ALLOW_SELFSIGNED.rawValue | LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK.rawValue)
            flags |= Int32(LCCSCF_ALLOW_INSECURE.rawValue | LCCSCF_ALLOW_EXPIRED.rawValue)
        }
        unsafe endpoint.hostField.withCString { host in
            unsafe endpoint.path.withCString { path in
                unsafe ProtocolLimits.subprotocol.withCString { subprotocol in
                    var info = unsafe lws_client_connect_info()
                    unsafe info.context = unsafe context
                    unsafe info.vhost = unsafe clientVhost
                    unsafe info.address = unsafe UnsafePointer(address)
                    unsafe info.host = unsafe host
                    unsafe info.port = Int32(endpoint.port)
                    unsafe info.path = unsafe path
                    unsafe info.protocol = unsafe method == nil ? subprotocol : nil
                    unsafe info.method = unsafe method.map { unsafe UnsafePointer($0) } ?? nil
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
        if unsafe wsi == nil, attachment.isHeldByLws {
            // It failed before lws had anything to destroy.
            attachment.isHeldByLws = false
            unsafe held.release()
        }
        return unsafe wsi
    }

    // MARK: Scratch

    /// Copies bytes behind writable headroom and hands over where they are.
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

    // MARK: lws

    private func makeContext() throws {
        guard TLSLibrary.isReady else { throw LoopError("libwebsockets has no memory for TLS") }
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.options =
            UInt64(LWS_SERVER_OPTION_LIBUV) | UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
        unsafe info.pt_serv_buf_size = 16_384
        unsafe info.max_http_header_data = 16_384
        unsafe info.token_limits = unsafe UnsafePointer(headerLimits.pointer)
        unsafe info.timeout_secs = UInt32(settings.handshakeSecondsMax)
        unsafe info.user = unsafe Unmanaged.passUnretained(self).toOpaque()
        var loops: UnsafeMutableRawPointer? = unsafe patchbay_as_loop(uv)
        // A ping time without a time to hang up turns lws's own watch over idle connections off. It would put every connection that
        // just received something at the end of a sorted list, walking all of it: with a thousand connections a thousand steps
        // per frame. Our owner pings and gives up by itself.
        var idlePolicy = unsafe lws_retry_bo_t()
        unsafe idlePolicy.secs_since_valid_ping = 1
        unsafe idlePolicy.secs_since_valid_hangup = 0
        unsafe context = unsafe withUnsafeMutablePointer(to: &loops) { loops in
            unsafe withUnsafePointer(to: &idlePolicy) { idlePolicy in
                unsafe info.foreign_loops = unsafe loops
                unsafe info.retry_and_idle_policy = unsafe idlePolicy
                return unsafe lws_create_context(&info)
            }
        }
        guard unsafe context != nil else { throw LoopError("libwebsockets has no context for us; is libwebsockets-evlib-uv installed?") }
    }

    private func makeServerVhost(_ files: TLSFiles) throws {
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN_SERVER
        unsafe info.protocols = unsafe UnsafePointer(protocols.pointer)
        // ALLOW_NON_SSL_ON_SSL_PORT: who comes without TLS is told so instead of being cut off. Nothing else is done for it.
        unsafe info.options =
            UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT) | UInt64(1 << 3)
            | UInt64(LWS_SERVER_OPTION_ALLOW_HTTP_ON_HTTPS_LISTENER)
        unsafe info.timeout_secs = UInt32(settings.handshakeSecondsMax)
        unsafe info.keepalive_timeout = 30
        unsafe serverVhost = unsafe "patchbay".withCString { name in
            unsafe files.certificatePath.withCString { certificate in
                unsafe files.privateKeyPath.withCString { key in
                    // Not HTTP/2, which lws would offer too: WebSocket over it is another protocol.
                    unsafe "http/1.1".withCString { alpn in
                        unsafe info.vhost_name = unsafe name
                        unsafe info.ssl_cert_filepath = unsafe certificate
                        unsafe info.ssl_private_key_filepath = unsafe key
                        unsafe info.alpn = unsafe alpn
                        return unsafe lws_create_vhost(context, &info)
                    }
                }
            }
        }
        guard unsafe serverVhost != nil else { throw LoopError("libwebsockets does not take the certificate \(files.certificatePath)") }
    }

    private func makeClientVhost(_ trust: ClientTrust) throws {
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        unsafe info.protocols = unsafe UnsafePointer(protocols.pointer)
        unsafe info.timeout_secs = UInt32(settings.handshakeSecondsMax)
        func make() -> OpaquePointer? {
            unsafe "patchbay-client".withCString { name in
                unsafe "http/1.1".withCString { alpn in
                    unsafe info.vhost_name = unsafe name
                    unsafe info.alpn = unsafe alpn
                    return unsafe lws_create_vhost(context, &info)
                }
            }
        }
        if case .authority(let path) = trust {
            try TLSLibrary.check(authorityPath: path)
            unsafe clientVhost = unsafe path.withCString {
                unsafe info.client_ssl_ca_filepath = unsafe $0
                return unsafe make()
            }
        } else {
            unsafe clientVhost = unsafe make()
        }
        guard unsafe clientVhost != nil else { throw LoopError("cannot read the authority's certificate; check the path given with --ca") }
    }
}

/// Why there is no loop.
package struct LoopError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// What is needed to watch one listener.
@safe private final class ListeningHandle {
    let listener: Listener
    unowned let loop: Loop
    private let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    private var isClosed = false

    init(listener: Listener, loop: Loop) {
        self.listener = listener
        self.loop = loop
    }

    func start(on uv: UnsafeMutablePointer<uv_loop_t>) {
        unsafe uv_poll_init(uv, poll, listener.descriptor)
        // libuv keeps the pointer until the handle is closed, and `close` gives the memory back only after that.
        unsafe poll.pointee.data = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe EventEnd.watch(poll, for: UV_READABLE, listenerReadable)
    }

    func readable() {
        loop.acceptAll(from: listener)
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        unsafe uv_poll_stop(poll)
        unsafe uv_close(patchbay_poll_handle(poll)) { handle in unsafe handle?.deallocate() }
        listener.close()
    }
}

private func listenerReadable(_ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: Int32, _ events: Int32) {
    guard let data = unsafe poll?.pointee.data else { return }
    unsafe Unmanaged<ListeningHandle>.fromOpaque(data).takeUnretainedValue().readable()
}

private func loopWoken(_ async: UnsafeMutablePointer<uv_async_t>?) {
    guard let data = unsafe async?.pointee.data else { return }
    unsafe Unmanaged<Loop>.fromOpaque(data).takeUnretainedValue().owner.woken()
}

private func timerRang(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
    guard let data = unsafe timer?.pointee.data else { return }
    let loop = unsafe Unmanaged<Loop>.fromOpaque(data).takeUnretainedValue()
    loop.recordIO?.sendLingering(at: loop.now) { unsafe loop.owner.timerRang() }
}
