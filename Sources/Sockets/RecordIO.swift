internal import CLibwebsockets
internal import COpenSSL
internal import Glibc

/// Takes what a socket has with one system call, where OpenSSL would need two for each record (its header first, then the rest), and
/// sends with the system call for sockets instead of the one for files, which does more.
///
/// One buffer for all WebSockets of a loop: nearly always a read brings one record, which OpenSSL takes out at once, so
/// nothing stays between two sockets' turns. What does stay is moved out when the next socket wants the buffer, and lws is
/// made to take it before the loop turns: no event of the socket would, for the kernel has nothing more to tell.
///
/// Only after the handshake: before it lws relies on one read for each record (`SSL_CTX_set_read_ahead` hangs for that reason).
@safe final class RecordIO {
    /// What one read takes at most: a socket that has more gets its next turn after all others.
    static var bytesMax: Int { 16_384 }

    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: RecordIO.bytesMax, alignment: 64)
    private let context: OpaquePointer
    private let method: OpaquePointer?
    /// Whose bytes are in the buffer.
    private var holder: RecordSocket?
    /// Those with bytes that have been moved out of it.
    private var pending: [RecordSocket] = []

    init(context: OpaquePointer) {
        unsafe self.context = unsafe context
        unsafe method = unsafe Self.makeMethod()
    }

    deinit {
        unsafe buffer.deallocate()
        unsafe BIO_meth_free(method)
    }

    /// Reads and writes this WebSocket's records from now on. Without TLS, or without memory, all stays as it was.
    func serve(_ wsi: OpaquePointer) {
        guard let ssl = unsafe lws_get_ssl(wsi) else { return }
        guard let method = unsafe method, let bio = unsafe BIO_new(method) else { return }
        let source = unsafe RecordSocket(descriptor: lws_get_socket_fd(wsi), owner: self)
        // OpenSSL holds this reference until it frees the BIO (see `makeMethod`).
        unsafe BIO_set_data(bio, Unmanaged.passRetained(source).toOpaque())
        unsafe BIO_set_init(bio, 1)
        // For both ways, which takes one reference.
        unsafe SSL_set_bio(ssl, bio, bio)
    }

    /// Lends the buffer, filled with what the socket has.
    ///
    /// - Returns: what `recv` returned.
    fileprivate func fill(for source: RecordSocket) -> Int {
        if let holder, holder !== source, holder.count > 0 {
            holder.moveOut()
            pending.append(holder)
        }
        let count = unsafe recv(source.descriptor, buffer, Self.bytesMax, 0)
        if holder !== source { holder = source }
        if count > 0 { unsafe source.lend(buffer, count) }
        return count
    }

    /// Has lws take what stayed; at the end of each turn.
    func serveWhatStayed() {
        if let holder, holder.count > 0 { serve(holder) }
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
            var readable = pollfd(fd: source.descriptor, events: Int16(POLLIN), revents: Int16(POLLIN))
            unsafe lws_service_fd(context, &readable)
            // lws takes nothing now (it has something of its own to finish first): again in the next turn.
            if source.count == before { break }
        }
    }

    fileprivate func forget(_ source: RecordSocket) {
        if holder === source { holder = nil }
        pending.removeAll { $0 === source }
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
            guard let socket = unsafe recordSocket(of: bio)?.takeUnretainedValue() else { return 0 }
            switch command {
            case Int32(BIO_C_GET_FD):
                unsafe argument?.storeBytes(of: socket.descriptor, as: Int32.self)
                return Int(socket.descriptor)
            case BIO_CTRL_PENDING: return socket.count
            case BIO_CTRL_FLUSH, BIO_CTRL_DUP: return 1
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

/// One connection's socket as OpenSSL sees it: a BIO of our own kind.
@safe private final class RecordSocket {
    let descriptor: Int32
    /// Not retained: it outlives its loop's connections.
    private unowned let owner: RecordIO
    /// In the common buffer, or in `own`.
    @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer?
    private(set) var count = 0
    @exclusivity(unchecked) private var own: UnsafeMutableRawPointer?
    /// While lws is made to take what stayed: else a peer that sends without pause would have the loop for itself.
    var isForbiddenToRead = false

    init(descriptor: Int32, owner: RecordIO) {
        self.descriptor = descriptor
        self.owner = owner
    }

    deinit {
        unsafe own?.deallocate()
    }

    func lend(_ buffer: UnsafeMutableRawPointer, _ count: Int) {
        unsafe bytes = unsafe buffer
        self.count = count
    }

    /// The common buffer is needed for somebody else.
    func moveOut() {
        guard let bytes = unsafe bytes, unsafe own == nil else { return }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        unsafe copy.copyMemory(from: bytes, byteCount: count)
        unsafe own = unsafe copy
        unsafe self.bytes = unsafe copy
    }

    /// As OpenSSL wants it: how many bytes, 0 at the end, -1 with "again" set or on an error.
    func read(_ bio: OpaquePointer?, _ out: UnsafeMutableRawPointer, _ wanted: Int) -> Int32 {
        unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        if count == 0 {
            let got = isForbiddenToRead ? -1 : owner.fill(for: self)
            guard got > 0 else {
                if got < 0, isForbiddenToRead || errno == EAGAIN || errno == EINTR {
                    unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
                }
                return Int32(got)
            }
        }
        guard let from = unsafe bytes else { return -1 }
        let taken = min(wanted, count)
        unsafe out.copyMemory(from: from, byteCount: taken)
        count -= taken
        unsafe bytes = unsafe from + taken
        if count == 0, let own = unsafe own {
            unsafe own.deallocate()
            unsafe self.own = nil
        }
        return Int32(taken)
    }

    /// - Returns: how many bytes the socket took, or -1 with "again" set or on an error.
    func write(_ bio: OpaquePointer?, _ bytes: UnsafeRawPointer, _ count: Int) -> Int32 {
        unsafe BIO_clear_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
        let sent = unsafe send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
        if sent < 0, errno == EAGAIN || errno == EINTR { unsafe BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY) }
        return Int32(sent)
    }

    func freed() {
        count = 0
        owner.forget(self)
    }
}

private func recordSocket(of bio: OpaquePointer?) -> Unmanaged<RecordSocket>? {
    unsafe BIO_get_data(bio).map { unsafe Unmanaged<RecordSocket>.fromOpaque($0) }
}
