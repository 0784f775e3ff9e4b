internal import CLibwebsockets
internal import COpenSSL
internal import Glibc
internal import Wire

/// What the WebSockets of a loop share for their TLS records (`RecordSocket`).
///
/// A read takes what a socket has with one system call, where OpenSSL would need two for each record (its header first, then the rest).
/// One buffer for all of a loop: nearly always a read brings one record, which is opened at once, in place. Of a batch (several records in
/// one read: the loop has fallen behind) the rest is dealt with before the next socket's event, for no event of this one would, and all
/// that we write meanwhile leaves with one system call for each socket. So a loop that is behind spends less on each frame, and
/// catches up. What lws does not take then is moved out when the next socket wants the buffer, and tried again at the end of each turn.
@safe final class RecordIO {
    /// What one read takes at most, and room for any record: a socket that has more gets its next turn after all others.
    static var bytesMax: Int { 16_896 }

    /// How often, at least, is looked after what lingers. What can't wait until the next look leaves at this one.
    static var lingerLookMilliseconds: UInt64 { 20 }

    /// Whose a descriptor is, and what its next message will look at.
    @safe private struct Slot {
        var socket: Unmanaged<RecordSocket>?
        var prefetchHints = PrefetchHints()
    }

    /// By descriptor.
    @exclusivity(unchecked) private var slots: [Slot] = []
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: RecordIO.bytesMax, alignment: 64)
    /// Where each record is sealed that leaves the loop.
    let outgoing = UnsafeMutableRawPointer.allocate(byteCount: RecordIO.bytesMax, alignment: 64)
    private let context: OpaquePointer
    let clock: LoopClock
    /// Whose bytes are in the buffer.
    ///
    /// Not retained, for it changes with nearly every frame: `forget` comes before it goes.
    @exclusivity(unchecked) private var holder: Unmanaged<RecordSocket>?
    /// Those with whole records that have been moved out of it.
    private var pending: [RecordSocket] = []
    /// What lws wants to be called for a socket's events, once it has said so.
    @exclusivity(unchecked) var handler: uv_poll_cb?
    /// The last read brought more than a record, and its socket's event goes on.
    @exclusivity(unchecked) private(set) var isBatch = false
    /// Those that have something to send when the batch or the turn ends.
    @exclusivity(unchecked) private var gathered: [RecordSocket] = []
    /// Those that have something to send when the loop's timer rings.
    @exclusivity(unchecked) private var lingering: [RecordSocket] = []

    init(context: OpaquePointer, clock: LoopClock) {
        unsafe self.context = unsafe context
        self.clock = clock
    }

    deinit {
        unsafe buffer.deallocate()
        unsafe outgoing.deallocate()
    }

    // MARK: From OpenSSL to us

    /// Reads and writes this WebSocket's records from now on.
    ///
    /// - Returns: nil where all stays as it was: without TLS or with TLS 1.2, or without memory.
    func serve(_ wsi: OpaquePointer, of connection: Connection) -> RecordSocket? {
        guard let ssl = unsafe lws_get_ssl(wsi) else { return nil }
        defer { unsafe HandshakeNotes.drop(of: ssl) }
        guard LibraryTLS.isInEffect, let ciphers = unsafe RecordCiphers(of: ssl) else { return nil }
        // Nothing is on its way through OpenSSL, but for what came in the same record as the upgrade and lws has not read.
        let rest = unsafe Int(SSL_pending(ssl))
        guard unsafe SSL_want(ssl) != SSL_WRITING, unsafe rest > 0 || SSL_has_pending(ssl) == 0 else { return nil }
        let socket = unsafe RecordSocket(wsi: wsi, connection: connection, owner: self, ciphers: ciphers)
        guard unsafe LibraryTLS.place.retain(socket, for: ssl) else { return nil }
        if rest > 0 {
            // `SSL_read` asks the new socket already.
            var content = [UInt8](repeating: 0, count: rest)
            unsafe SSL_peek(ssl, &content, Int32(rest))
            unsafe content.withUnsafeBytes { unsafe socket.keepForLibrary($0) }
        }
        let place = Int(socket.descriptor)
        if unsafe place >= slots.count { unsafe slots += Array(repeating: Slot(), count: place + 64 - slots.count) }
        unsafe slots[place] = unsafe Slot(
            socket: Unmanaged.passUnretained(socket),
            prefetchHints: PrefetchHints(
                connection: UInt(bitPattern: Unmanaged.passUnretained(connection).toOpaque()), cipher: socket.ciphers.opening.address))
        // It has the same keys, and the memory for a handshake; of all that only the socket's number is asked for again.
        unsafe SSL_clear(ssl)
        return socket
    }

    /// Reads what the socket has, behind what is there of a record.
    ///
    /// - Returns: what `recv` returned.
    func fill(for source: RecordSocket) -> Int {
        let this = unsafe Unmanaged.passUnretained(source)
        if let holder = unsafe holder, unsafe holder.toOpaque() != this.toOpaque() {
            unsafe holder._withUnsafeGuaranteedRef { holder in
                guard unsafe holder.count > 0 else { return }
                holder.moveOut()
                if holder.hasWholeRecord { pending.append(holder) }
            }
        }
        unsafe holder = unsafe this
        let count = unsafe source.count > 0 ? readOn(source) : read(source)
        if count > 0, unsafe handler != nil, source.hasMoreThanARecord { unsafe isBatch = true }
        return count
    }

    private func read(_ source: RecordSocket) -> Int {
        source.giveBackOwn()
        let count = unsafe recv(source.descriptor, buffer, Self.bytesMax, 0)
        if count > 0 { unsafe source.lend(buffer, count) }
        return count
    }

    private func readOn(_ source: RecordSocket) -> Int {
        source.moveOut()
        guard let start = unsafe source.bytes else { return -1 }
        let count = unsafe recv(source.descriptor, start + source.count, Self.bytesMax - source.count, 0)
        if count > 0 { unsafe source.count += count }
        return count
    }

    /// From a record's header (RFC 8446 section 5.1), how many bytes follow it.
    static func sealedBytes(_ header: UnsafeRawPointer) -> Int {
        unsafe Int(header.load(fromByteOffset: 3, as: UInt8.self)) << 8 | Int(header.load(fromByteOffset: 4, as: UInt8.self))
    }

    /// See `PrefetchHints`.
    func prefetch(_ prefetchHints: PrefetchHints, at socket: RecordSocket) {
        let place = Int(socket.descriptor)
        guard unsafe place < slots.count && slots[place].socket != nil else { return }
        unsafe slots[place].prefetchHints = unsafe prefetchHints.coming(from: slots[place].prefetchHints)
    }

    // MARK: A batch

    /// A socket's event: read without lws if it brings nothing but media.
    func handle(_ handle: UnsafeMutablePointer<uv_poll_t>, _ status: Int32, _ events: Int32) {
        let place = unsafe Int(patchbay_poll_descriptor(handle))
        if status == 0, unsafe events == UV_READABLE.rawValue && place < slots.count, let socket = unsafe slots[place].socket {
            PrefetchHints.fetch(unsafe UInt(bitPattern: socket.toOpaque()), lines: 5)
            unsafe slots[place].prefetchHints.fetch()
            if unsafe socket._withUnsafeGuaranteedRef({ $0.takeMessages() }) { return eventEnds() }
        }
        unsafe handler?(handle, status, events)
        eventEnds()
    }

    private func eventEnds() {
        guard unsafe isBatch else { return }
        serveHolder()
        unsafe isBatch = false
        sendGathered()
    }

    /// Of a batch, or of a turn.
    func sendGathered() {
        guard unsafe !gathered.isEmpty else { return }
        unsafe gathered.forEach { $0.sendGathered() }
        unsafe gathered.removeAll(keepingCapacity: true)
    }

    func gathers(_ socket: RecordSocket) {
        unsafe gathered.append(socket)
    }

    func lingers(_ socket: RecordSocket) {
        guard unsafe !socket.isListed else { return }
        unsafe socket.isListed = true
        if unsafe lingering.isEmpty { unsafe socket.connection.loop.wakeForLingering() }
        unsafe lingering.append(socket)
    }

    var hasLingering: Bool { unsafe !lingering.isEmpty }

    /// Has those send whose time it is, and who had nothing to send it with in `work`.
    func sendLingering(at now: Instant, after work: () -> Void) {
        let sockets = unsafe lingering
        unsafe lingering = []
        work()
        let next = now + .milliseconds(Self.lingerLookMilliseconds)
        for socket in sockets {
            if socket.sendLingering(unlessAfter: next) {
                unsafe lingering.append(socket)
            } else {
                unsafe socket.isListed = false
            }
        }
    }

    // MARK: What stayed

    /// Has lws take what stayed; at the end of each turn.
    func serveWhatStayed() {
        serveHolder()
        guard !pending.isEmpty else { return }
        let sources = pending
        pending.removeAll(keepingCapacity: true)
        for source in sources {
            serve(source)
            if source.hasWholeRecord { pending.append(source) }
        }
    }

    private func serveHolder() {
        guard let holder = unsafe holder, unsafe holder._withUnsafeGuaranteedRef({ unsafe $0.count > 0 }) else { return }
        unsafe serve(holder.takeUnretainedValue())
    }

    private func serve(_ source: RecordSocket) {
        let held = unsafe Unmanaged.passRetained(source)
        unsafe source.isForbiddenToRead = true
        defer {
            unsafe source.isForbiddenToRead = false
            unsafe held.release()
        }
        while source.hasWholeRecord {
            let before = unsafe source.count + source.pending
            if source.takeMessages() { continue }
            var readable = pollfd(fd: source.descriptor, events: Int16(POLLIN), revents: Int16(POLLIN))
            unsafe lws_service_fd(context, &readable)
            // lws takes nothing now (it has something of its own to finish first): again in the next turn.
            guard unsafe source.count + source.pending < before else { break }
        }
    }

    func forget(_ source: RecordSocket) {
        let gone = unsafe Unmanaged.passUnretained(source).toOpaque()
        if unsafe holder?.toOpaque() == gone { unsafe holder = nil }
        pending.removeAll { $0 === source }
        // A newer one may have got the same descriptor.
        let place = Int(source.descriptor)
        if unsafe place < slots.count, unsafe slots[place].socket?.toOpaque() == gone { unsafe slots[place] = Slot() }
        unsafe gathered.removeAll { $0 === source }
        unsafe lingering.removeAll { $0 === source }
    }
}
