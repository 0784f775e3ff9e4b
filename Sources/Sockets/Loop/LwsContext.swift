internal import CLibwebsockets
internal import Glibc
internal import Wire

/// The libwebsockets context of a loop, and its one virtual host, which has neither a listener nor TLS (`LibraryRequest`).
@safe final class LwsContext {
    private(set) var pointer: OpaquePointer?
    private(set) var vhost: OpaquePointer?
    private let protocols = LwsProtocols()
    private var eventPipe: EventPipe?

    func open(on uv: UnsafeMutablePointer<uv_loop_t>) throws(LoopError) {
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.options = UInt64(LWS_SERVER_OPTION_LIBUV) | UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
        // For the heads that `RequestHead.forLibrary` writes.
        unsafe info.max_http_header_data = 1_024
        var loops = unsafe patchbay_as_loop(uv)
        unsafe pointer = unsafe withUnsafeMutablePointer(to: &loops) { loops in
            unsafe info.foreign_loops = unsafe loops
            return unsafe lws_create_context(&info)
        }
        guard unsafe pointer != nil else {
            throw LoopError(
                "libwebsockets cannot create a context; check that libwebsockets-evlib-uv is installed and `ulimit -n` is high enough")
        }
        eventPipe = unsafe EventPipe(stoppingRouteWatchOf: uv)
        unsafe vhost = unsafe makeVhost()
        guard unsafe vhost != nil else { throw LoopError("libwebsockets cannot create a virtual host") }
    }

    private func makeVhost() -> OpaquePointer? {
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN_SERVER
        unsafe info.protocols = unsafe UnsafePointer(protocols.pointer)
        return unsafe "patchbay".withCString { name in
            unsafe info.vhost_name = unsafe name
            return unsafe lws_create_vhost(pointer, &info)
        }
    }

    /// Starts closing everything; libwebsockets continues in the following turns of its loop.
    ///
    /// - Returns: whether it may have these turns. If not, its memory is leaked.
    func destroy() -> Bool {
        guard let context = unsafe pointer else { return true }
        eventPipe?.willDestroy()
        unsafe lws_context_destroy(context)
        return eventPipe?.keepTaken() ?? true
    }

    /// Frees the context, once the libuv loop has closed its handles. On a loop that is not its own, libwebsockets 4.1 leaves this second
    /// call to its user; without it the context and its descriptor of `/dev/urandom` are leaked.
    func finishDestroying() {
        guard let context = unsafe pointer else { return }
        unsafe pointer = nil
        unsafe lws_context_destroy(context)
        eventPipe?.close()
    }
}

/// The protocol table that a context points to for as long as it lives.
@safe private final class LwsProtocols {
    let pointer = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
    private let name = unsafe strdup(ProtocolLimits.subprotocol)

    init() {
        unsafe pointer.initialize(repeating: lws_protocols(), count: 2)
        unsafe pointer[0].name = unsafe UnsafePointer(name)
        unsafe pointer[0].callback = unsafe lwsCallback
        // libwebsockets allocates this much per upgrade.
        unsafe pointer[0].rx_buffer_size = 128
        // A whole piece of a response is written at once.
        unsafe pointer[0].tx_packet_size = 1 << 17
    }

    deinit {
        unsafe pointer.deallocate()
        unsafe free(name)
    }
}

/// The descriptor through which libwebsockets wakes its own loop, guarded against a double close and a leak.
///
/// On libuv, libwebsockets 4.1 closes it in `lws_context_destroy` and again in a later turn of the loop. In between, the number may have been
/// reused by another thread, whose file would be closed. So the number is kept taken until the second close. libwebsockets 4.3.5 does not
/// close it at all.
private struct EventPipe {
    private let descriptor: Int32
    /// A duplicate, while the context is being destroyed.
    private var copy: Int32 = -1

    /// Stops libwebsockets' watch over the system's routes, which libwebsockets has from 4.2 on and no option turns off. When an interface or
    /// an address goes, it would close connections that it believes to have no route any more, those of clients on other interfaces too.
    ///
    /// - Parameter uv: a loop on which a context has just been created and nothing else polls.
    init?(stoppingRouteWatchOf uv: UnsafeMutablePointer<uv_loop_t>) {
        var found: Int32 = -1
        unsafe withUnsafeMutablePointer(to: &found) { found in
            unsafe uv_walk(
                uv,
                { handle, found in
                    var descriptor: Int32 = -1
                    guard let handle = unsafe handle, unsafe uv_handle_get_type(handle) == UV_POLL,
                        unsafe uv_fileno(handle, &descriptor) == 0
                    else { return }
                    if patchbay_netlink_unsubscribe(descriptor) == 0 {
                        unsafe uv_poll_stop(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_poll_t.self))
                    } else {
                        unsafe found?.storeBytes(of: descriptor, as: Int32.self)
                    }
                }, found)
        }
        guard found >= 0 else { return nil }
        descriptor = found
    }

    mutating func willDestroy() {
        copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    }

    /// Takes the number again if it has been closed.
    ///
    /// - Returns: false if another thread was faster. Then libwebsockets must not get another turn; its memory is leaked instead.
    func keepTaken() -> Bool {
        if isOpen { return true }
        let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        if null == descriptor { return true }
        guard null >= 0 else { return false }
        defer { _ = Glibc.close(null) }
        // The lowest free number from there on.
        let keeper = fcntl(null, F_DUPFD_CLOEXEC, descriptor)
        if keeper == descriptor { return true }
        if keeper >= 0 { _ = Glibc.close(keeper) }
        return false
    }

    mutating func close() {
        if isOpen { _ = Glibc.close(descriptor) }
        _ = Glibc.close(copy)
        copy = -1
    }

    /// Whether the number still stands for the same open file, and not for one of another thread: then a flag that is changed through the
    /// duplicate changes with it (fcntl(2), F_SETFL).
    private var isOpen: Bool {
        let flags = fcntl(copy, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_GETFL) == flags, fcntl(copy, F_SETFL, flags ^ O_APPEND) == 0 else { return false }
        defer { _ = fcntl(copy, F_SETFL, flags) }
        return fcntl(descriptor, F_GETFL) == flags ^ O_APPEND
    }
}
