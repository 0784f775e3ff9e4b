internal import CLibwebsockets
internal import COpenSSL
internal import Glibc

/// Takes what a socket has with one system call, where OpenSSL would need two for each record (its header first, then the rest), and
/// sends with the system call for sockets instead of the one for files, which does more.
///
/// One buffer for all WebSockets of a loop: nearly always a read brings one record, which OpenSSL takes out at once. Of a batch
/// (several records in one read: the loop has fallen behind) lws is made to take the rest before the next socket's event, for no
/// event of this one would, and all that we write meanwhile leaves with one system call for each socket. So a loop that is behind
/// spends less on each frame, and catches up. What lws does not take then is moved out when the next socket wants the buffer, and
/// tried again at the end of each turn.
///
/// What a socket does not take at once stays here (`RecordSocket`) and leaves when it can: for OpenSSL a write never fails half done,
/// so messages can be written past lws, which has nothing to add to them.
///
/// Only after the handshake: before it lws relies on one read for each record (`SSL_CTX_set_read_ahead` hangs for that reason).
@safe final class RecordIO {
    /// What one read takes at most: a socket that has more gets its next turn after all others.
    static var bytesMax: Int { 16_384 }

    /// By descriptor.
    @exclusivity(unchecked) private var sockets: [Unmanaged<RecordSocket>?] = unsafe []
    /// What a record holds, for those that are read without lws.
    private let plain = UnsafeMutableRawPointer.allocate(byteCount: RecordIO.bytesMax, alignment: 64)
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: RecordIO.bytesMax, alignment: 64)
    private let context: OpaquePointer
    private let method: OpaquePointer?
    /// Whose bytes are in the buffer.
    ///
    /// Not retained, for it changes with nearly every frame: `forget` comes before it goes.
    private unowned(unsafe) var holder: RecordSocket?
    /// Those with bytes that have been moved out of it.
    private var pending: [RecordSocket] = []
    /// What lws wants to be called for a socket's events, once it has said so.
    @exclusivity(unchecked) var handler: uv_poll_cb?
    /// The last read brought more than a record, and its socket's event goes on.
    @exclusivity(unchecked) private(set) var isBatch = false
    /// Those that have something to send when the batch ends.
    @exclusivity(unchecked) private var gathered: [RecordSocket] = []

    init(context: OpaquePointer) {
        unsafe self.context = unsafe context
        unsafe method = unsafe Self.makeMethod()
    }

    deinit {
        unsafe buffer.deallocate()
        unsafe plain.deallocate()
        unsafe BIO_meth_free(method)
    }

    /// Reads and writes this WebSocket's records from now on.
    ///
    /// - Returns: nil where all stays as it was: without TLS, or without memory.
    func serve(_ wsi: OpaquePointer, of connection: Connection) -> RecordSocket? {
        guard let ssl = unsafe lws_get_ssl(wsi) else { return nil }
        guard let method = unsafe method, let bio = unsafe BIO_new(method) else { return nil }
        let source = unsafe RecordSocket(wsi: wsi, ssl: ssl, connection: connection, owner: self)
        // OpenSSL holds this reference until it frees the BIO (see `makeMethod`).
        unsafe BIO_set_data(bio, Unmanaged.passRetained(source).toOpaque())
        unsafe BIO_set_init(bio, 1)
        // For both ways, which takes one reference.
        unsafe SSL_set_bio(ssl, bio, bio)
        let place = Int(source.descriptor)
        if unsafe place >= sockets.count { unsafe sockets += Array(repeating: nil, count: place + 64 - sockets.count) }
        unsafe sockets[place] = unsafe Unmanaged.passUnretained(source)
        return source
    }

    /// Lends the buffer, filled with what the socket has.
    ///
    /// - Returns: what `recv` returned.
    func fill(for source: RecordSocket) -> Int {
        if let holder = unsafe holder, holder !== source, holder.count > 0 {
            holder.moveOut()
            pending.append(holder)
        }
        let count = unsafe recv(source.descriptor, buffer, Self.bytesMax, 0)
        unsafe holder = source
        if count > 0 { unsafe source.lend(buffer, count) }
        if count > Self.recordHeaderBytes, unsafe handler != nil, unsafe count > Self.recordHeaderBytes + Self.recordBytes(buffer) {
            unsafe isBatch = true
        }
        return count
    }

    /// RFC 8446 section 5.1: type, version, and how long the rest is.
    private static var recordHeaderBytes: Int { 5 }
    private static func recordBytes(_ header: UnsafeRawPointer) -> Int {
        unsafe Int(header.load(fromByteOffset: 3, as: UInt8.self)) << 8 | Int(header.load(fromByteOffset: 4, as: UInt8.self))
    }

    // MARK: A batch

    /// A socket's event: read without lws if it brings nothing but media.
    func handle(_ handle: UnsafeMutablePointer<uv_poll_t>, _ status: Int32, _ events: Int32) {
        let place = unsafe Int(patchbay_poll_descriptor(handle))
        if status == 0, unsafe events == UV_READABLE.rawValue && place < sockets.count, let socket = unsafe sockets[place],
            unsafe socket._withUnsafeGuaranteedRef({ unsafe $0.takeMessages(with: plain) })
        {
            return eventEnds()
        }
        unsafe handler?(handle, status, events)
        eventEnds()
    }

    private func eventEnds() {
        guard unsafe isBatch else { return }
        if let holder = unsafe holder, holder.count > 0 { serve(holder) }
        unsafe isBatch = false
        unsafe gathered.forEach { $0.sendGathered() }
        unsafe gathered.removeAll(keepingCapacity: true)
    }

    func gathers(_ socket: RecordSocket) {
        unsafe gathered.append(socket)
    }

    // MARK: What stayed

    /// Has lws take what stayed; at the end of each turn.
    func serveWhatStayed() {
        if let holder = unsafe holder, holder.count > 0 { serve(holder) }
        guard !pending.isEmpty else { return }
        let sources = pending
        pending.removeAll(keepingCapacity: true)
        for source in sources {
            serve(source)
            if source.count > 0 { pending.append(source) }
        }
    }

    private func serve(_ source: RecordSocket) {
        source.isForbiddenToRead = true
        defer { source.isForbiddenToRead = false }
        while source.count > 0 {
            let before = source.count
            if unsafe source.takeMessages(with: plain) { continue }
            var readable = pollfd(fd: source.descriptor, events: Int16(POLLIN), revents: Int16(POLLIN))
            unsafe lws_service_fd(context, &readable)
            // lws takes nothing now (it has something of its own to finish first): again in the next turn.
            if source.count == before { break }
        }
    }

    func forget(_ source: RecordSocket) {
        if unsafe holder === source { unsafe holder = nil }
        pending.removeAll { $0 === source }
        // A newer one may have got the same descriptor.
        let place = Int(source.descriptor)
        if unsafe sockets[place]?.toOpaque() == Unmanaged.passUnretained(source).toOpaque() { unsafe sockets[place] = nil }
        unsafe gathered.removeAll { $0 === source }
    }

    /// How OpenSSL calls us. Of the kind "descriptor", for that is how lws finds the socket that it is to close.
    private static func makeMethod() -> OpaquePointer? {
        guard let method = unsafe BIO_meth_new(kind, "patchbay") else { return nil }
        unsafe BIO_meth_set_read(method) { bio, out, wanted in
            guard let out = unsafe out, let socket = unsafe recordSocket(of: bio) else { return -1 }
            return unsafe socket._withUnsafeGuaranteedRef { unsafe $0.read(bio, out, Int(wanted)) }
        }
        unsafe BIO_meth_set_write(method) { bio, bytes, count in
            guard let bytes = unsafe bytes, let socket = unsafe recordSocket(of: bio) else { return -1 }
            return unsafe socket._withUnsafeGuaranteedRef { unsafe $0.write(bio, bytes, Int(count)) }
        }
        unsafe BIO_meth_set_ctrl(method) { bio, command, _, argument in
            switch command {
            case BIO_CTRL_FLUSH, BIO_CTRL_DUP: return 1
            case BIO_CTRL_PENDING: return unsafe recordSocket(of: bio)?._withUnsafeGuaranteedRef { $0.count } ?? 0
            case Int32(BIO_C_GET_FD):
                guard let descriptor = unsafe recordSocket(of: bio)?._withUnsafeGuaranteedRef({ $0.descriptor }) else { return 0 }
                unsafe argument?.storeBytes(of: descriptor, as: Int32.self)
                return Int(descriptor)
            default: return 0
            }
        }
        unsafe BIO_meth_set_destroy(method) { bio in
            guard let socket = unsafe recordSocket(of: bio) else { return 1 }
            unsafe socket.takeUnretainedValue().freed()
            unsafe socket.release()
            return 1
        }
        return unsafe method
    }

    /// OpenSSL has few of these, so one for the process.
    private static let kind = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR
}
