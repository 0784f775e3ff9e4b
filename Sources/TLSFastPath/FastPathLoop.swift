internal import CLibwebsockets
internal import COpenSSL
internal import Glibc
internal import Sockets
internal import Wire

/// TLS record state shared by the connections of a loop (`RecordConnection`).
///
/// One `recv` takes everything a socket has, where OpenSSL needs two calls per record (header, then the rest), into one buffer for the
/// whole loop: usually that is one record, which is opened at once and in place. If a read brings several records (the loop is behind), the
/// rest is processed before the next socket's event, and everything written meanwhile leaves with one `send` per socket, so that a loop
/// that is behind spends less on each frame. Records that libwebsockets cannot take then are moved out of the buffer when another socket
/// needs it, and retried at the end of each turn.
@safe final class FastPathLoop: LoopRecordLayer {
    /// The size of the read buffer: any record fits. A socket with more gets its next turn after all others.
    static var bytesMax: Int { 16_896 }

    /// The longest time between two checks of flush deadlines. Messages due before the next check are sent at this one.
    static var timerMilliseconds: UInt64 { 20 }

    /// Sockets that are not on the fast path, such as those in a handshake, take this time of a turn before the rest is left to the next turn,
    /// so that a flood of them delays frames by little more than this.
    private static var otherNanosecondsMax: UInt64 { 2_000_000 }

    /// False if the fast path is off: then connections are only checked (`InterposedConnection`).
    private let isActive: Bool
    /// By descriptor. Not retained: `forget` precedes a connection's deinitialization.
    @exclusivity(unchecked) private var connections: [Unmanaged<RecordConnection>?] = unsafe []
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: FastPathLoop.bytesMax, alignment: 64)
    /// The buffer in which outgoing records are sealed.
    let outgoing = UnsafeMutableRawPointer.allocate(byteCount: FastPathLoop.bytesMax, alignment: 64)
    private let handles: LoopHandles
    let clock: LoopClock
    /// The connection whose bytes are in the buffer. Not retained, because it changes with nearly every frame; `forget` clears it first.
    @exclusivity(unchecked) private var holder: Unmanaged<RecordConnection>?
    /// Connections with whole records that have been moved out of it.
    private var leftover: [RecordConnection] = []
    /// libwebsockets' handler for a socket's events, known once it has started to poll.
    @exclusivity(unchecked) var handler: uv_poll_cb?
    /// The last read brought more than one record, and its socket's event is still being processed.
    @exclusivity(unchecked) private(set) var isBatch = false
    /// The time that sockets not on the fast path have taken in this turn.
    private var otherNanoseconds: UInt64 = 0
    @exclusivity(unchecked) private var queues = FlushQueues()

    /// Connections whose next requests have been read already, and their descriptors.
    private var waiting: [(connection: GatedConnection, descriptor: Int32)] = []

    /// Connections with deferred messages.
    private struct FlushQueues {
        /// To be flushed at the end of the batch or turn.
        var turn: [RecordConnection] = []
        /// To be flushed when the loop's timer fires.
        var timer: [RecordConnection] = []
    }

    init(handles: LoopHandles, clock: LoopClock, isActive: Bool) {
        self.handles = handles
        self.clock = clock
        self.isActive = isActive
        super.init()
        if isActive { unsafe InterposedPoll.register(self, for: handles.uv) }
    }

    deinit {
        unsafe buffer.deallocate()
        unsafe outgoing.deallocate()
    }

    override func stop() {
        if isActive { unsafe InterposedPoll.unregister(handles.uv) }
    }

    /// Polls a descriptor that is not libwebsockets'.
    override func startPolling(_ handle: UnsafeMutableRawPointer, for events: Int32, _ handler: UnsafeRawPointer) -> Int32? {
        let callback = unsafe unsafeBitCast(handler, to: uv_poll_cb.self)
        return unsafe InterposedPoll.start?(handle.assumingMemoryBound(to: uv_poll_t.self), events, callback)
    }

    // MARK: Taking over from OpenSSL

    override func attach(_ wsi: OpaquePointer, to connection: AnyObject) -> ConnectionRecordLayer? {
        guard let connection = connection as? Connection, let ssl = unsafe lws_get_ssl(wsi) else { return nil }
        defer { unsafe HandshakeSecrets.drop(of: ssl) }
        if isActive, let records = unsafe takeOver(wsi, ssl, of: connection) { return records }
        let checked = unsafe InterposedConnection(wsi: wsi, connection: connection)
        return unsafe InterposedTLS.slot.retain(checked, for: ssl) ? checked : nil
    }

    /// - Returns: nil if the connection has to stay with OpenSSL.
    private func takeOver(_ wsi: OpaquePointer, _ ssl: OpaquePointer, of connection: Connection) -> RecordConnection? {
        guard let ciphers = unsafe RecordCiphers(of: ssl) else { return nil }
        // OpenSSL has nothing under way, except for bytes of the upgrade's record that libwebsockets has not read.
        let rest = unsafe Int(SSL_pending(ssl))
        guard unsafe SSL_want(ssl) != SSL_WRITING, unsafe rest > 0 || SSL_has_pending(ssl) == 0 else { return nil }
        let records = unsafe RecordConnection(wsi: wsi, connection: connection, loop: self, ciphers: ciphers)
        guard unsafe InterposedTLS.slot.retain(records, for: ssl) else { return nil }
        if rest > 0 {
            // `SSL_read` already leads to the new object.
            var content = [UInt8](repeating: 0, count: rest)
            unsafe SSL_peek(ssl, &content, Int32(rest))
            unsafe content.withUnsafeMutableBytes { unsafe records.keepForLibrary($0) }
        }
        let index = Int(records.descriptor)
        if unsafe index >= connections.count { unsafe connections += Array(repeating: nil, count: index + 64 - connections.count) }
        unsafe connections[index] = unsafe Unmanaged.passUnretained(records)
        // OpenSSL's own copy of the keys, and the memory of its handshake, are not needed any more.
        unsafe SSL_clear(ssl)
        return records
    }

    // MARK: Reading

    /// Reads what the socket has, behind a partial record if there is one.
    ///
    /// - Returns: what `recv` returned.
    func fill(for source: RecordConnection) -> Int {
        let this = unsafe Unmanaged.passUnretained(source)
        if let holder = unsafe holder, unsafe holder.toOpaque() != this.toOpaque() {
            unsafe holder._withUnsafeGuaranteedRef { holder in
                guard unsafe holder.reader.count > 0 else { return }
                holder.moveOut()
                if holder.hasWholeRecord { leftover.append(holder) }
            }
        }
        unsafe holder = unsafe this
        let count = unsafe source.reader.count > 0 ? readMore(source) : read(source)
        if count > 0, unsafe handler != nil, source.hasMoreThanOneRecord { unsafe isBatch = true }
        return count
    }

    private func read(_ source: RecordConnection) -> Int {
        source.releaseOwn()
        let count = unsafe recv(source.descriptor, buffer, Self.bytesMax, 0)
        if count > 0 { unsafe source.lend(buffer, count) }
        return count
    }

    private func readMore(_ source: RecordConnection) -> Int {
        source.moveOut()
        guard let start = unsafe source.reader.bytes else { return -1 }
        let have = unsafe source.reader.count
        let count = unsafe recv(source.descriptor, start + have, Self.bytesMax - have, 0)
        if count > 0 { unsafe source.reader.count += count }
        return count
    }

    /// The length field of a record's header (RFC 8446 section 5.1).
    static func sealedBytes(_ header: UnsafeRawPointer) -> Int {
        unsafe Int(header.load(fromByteOffset: 3, as: UInt8.self)) << 8 | Int(header.load(fromByteOffset: 4, as: UInt8.self))
    }

    // MARK: Events

    /// Processes a socket's event, without libwebsockets if it brings nothing but messages.
    func handle(_ handle: UnsafeMutablePointer<uv_poll_t>, _ status: Int32, _ events: Int32) {
        let index = unsafe Int(patchbay_poll_descriptor(handle))
        if status == 0, unsafe events == UV_READABLE.rawValue && index < connections.count, let records = unsafe connections[index] {
            PrefetchHints.fetch(unsafe UInt(bitPattern: records.toOpaque()), lines: PrefetchHints.recordLines)
            if unsafe records._withUnsafeGuaranteedRef({
                unsafe $0.hints.fetch()
                return $0.takeMessages()
            }) {
                return endEvent()
            }
            unsafe handler?(handle, status, events)
            return endEvent()
        }
        // The socket stays ready, so that libuv reports it again in the next turn. An error, such as a reset, is reported only once.
        guard status != 0 || otherNanoseconds < Self.otherNanosecondsMax else { return }
        let began = uv_hrtime()
        unsafe handler?(handle, status, events)
        otherNanoseconds += uv_hrtime() - began
        endEvent()
    }

    private func endEvent() {
        guard unsafe isBatch else { return }
        serveHolder()
        unsafe isBatch = false
        flushTurn()
    }

    private func flushTurn() {
        guard unsafe !queues.turn.isEmpty else { return }
        unsafe queues.turn.forEach { $0.flushTurn() }
        unsafe queues.turn.removeAll(keepingCapacity: true)
    }

    override func willPoll() {
        flushTurn()
        otherNanoseconds = 0
    }

    override func didPoll() {
        serveLeftover()
        if !waiting.isEmpty { serveRequests() }
    }

    // MARK: Deferred messages

    func flushAtTurnEnd(_ connection: RecordConnection) {
        unsafe queues.turn.append(connection)
    }

    func flushOnTimer(_ connection: RecordConnection) {
        guard unsafe !connection.writer.isOnTimerList else { return }
        unsafe connection.writer.isOnTimerList = true
        if unsafe queues.timer.isEmpty { unsafe connection.connection.loop.wake(withinMilliseconds: Self.timerMilliseconds) }
        unsafe queues.timer.append(connection)
    }

    override var timerMilliseconds: UInt64? { unsafe queues.timer.isEmpty ? nil : Self.timerMilliseconds }

    /// Flushes the connections whose deadline is before the next check and that wrote nothing during `work`.
    override func timerFired(_ work: () -> Void) {
        let due = unsafe queues.timer
        unsafe queues.timer = []
        work()
        let next = clock.now + .milliseconds(Int64(Self.timerMilliseconds))
        for connection in due {
            if connection.flushDelayed(unlessAfter: next) {
                unsafe queues.timer.append(connection)
            } else {
                unsafe connection.writer.isOnTimerList = false
            }
        }
    }

    // MARK: Pipelined requests

    override func answered(on wsi: OpaquePointer) {
        guard let ssl = unsafe lws_get_ssl(wsi),
            let connection = unsafe InterposedTLS.slot.object(of: ssl)?.takeUnretainedValue() as? GatedConnection, connection.keepsRequests
        else { return }
        waiting.append((connection, unsafe lws_get_socket_fd(wsi)))
    }

    /// Has libwebsockets read the next request of each connection. A response that leaves meanwhile gets its connection served again in the
    /// next turn.
    private func serveRequests() {
        let served = waiting
        waiting.removeAll(keepingCapacity: true)
        for (connection, descriptor) in served where !connection.isDetached {
            // libwebsockets looks for a request only after it has seen that the socket takes more.
            for event in [POLLOUT, POLLIN] {
                var ready = pollfd(fd: descriptor, events: Int16(event), revents: Int16(event))
                unsafe lws_service_fd(handles.lws, &ready)
            }
        }
        // It checks its timers only after events of its own.
        unsafe lws_cancel_service(handles.lws)
    }

    // MARK: Leftover records

    private func serveLeftover() {
        serveHolder()
        guard !leftover.isEmpty else { return }
        let sources = leftover
        leftover.removeAll(keepingCapacity: true)
        for source in sources {
            serve(source)
            if source.hasWholeRecord { leftover.append(source) }
        }
    }

    private func serveHolder() {
        guard let holder = unsafe holder, unsafe holder._withUnsafeGuaranteedRef({ unsafe $0.reader.count > 0 }) else { return }
        unsafe serve(holder.takeUnretainedValue())
    }

    private func serve(_ source: RecordConnection) {
        let held = unsafe Unmanaged.passRetained(source)
        unsafe source.reader.mayNotReceive = true
        defer {
            unsafe source.reader.mayNotReceive = false
            unsafe held.release()
        }
        while source.hasWholeRecord {
            let before = unsafe source.reader.count + source.pending
            if source.takeMessages() { continue }
            var readable = pollfd(fd: source.descriptor, events: Int16(POLLIN), revents: Int16(POLLIN))
            unsafe lws_service_fd(handles.lws, &readable)
            // libwebsockets takes nothing until it has finished something of its own: retry in the next turn.
            guard unsafe source.reader.count + source.pending < before else { break }
        }
    }

    func forget(_ source: RecordConnection) {
        let gone = unsafe Unmanaged.passUnretained(source).toOpaque()
        if unsafe holder?.toOpaque() == gone { unsafe holder = nil }
        leftover.removeAll { $0 === source }
        // A newer connection may have the same descriptor.
        let index = Int(source.descriptor)
        if unsafe index < connections.count, unsafe connections[index]?.toOpaque() == gone { unsafe connections[index] = nil }
        unsafe queues.turn.removeAll { $0 === source }
        unsafe queues.timer.removeAll { $0 === source }
    }
}
