internal import CLibwebsockets
internal import COpenSSL
internal import Glibc
internal import Wire

/// The libwebsockets context of a loop and its virtual hosts: one for connections that are accepted, one for those that are made.
@safe final class LwsContext {
    private(set) var pointer: OpaquePointer?
    private(set) var serverVhost: OpaquePointer?
    /// For accepted connections without TLS.
    private(set) var plainVhost: OpaquePointer?
    private(set) var clientVhost: OpaquePointer?
    /// The server's `SSL_CTX`, known once libwebsockets has created it.
    var serverTLS: OpaquePointer?
    private let protocols = LwsProtocols()
    private let headerLimits = HeaderLimits()
    private var eventPipe: EventPipe?

    /// - Parameter user: what `lws_context_user` returns.
    func open(on uv: UnsafeMutablePointer<uv_loop_t>, user: UnsafeMutableRawPointer, handshakeSecondsMax: Int) throws(LoopError) {
        guard TLSLibrary.isReady else { throw LoopError("libwebsockets has no memory for TLS") }
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.options = UInt64(LWS_SERVER_OPTION_LIBUV) | UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
        // The longest incomplete head, and a whole TLS record behind it (`RequestGate`).
        unsafe info.pt_serv_buf_size = 33_792
        unsafe info.max_http_header_data = 16_384
        unsafe info.token_limits = unsafe UnsafePointer(headerLimits.pointer)
        unsafe info.timeout_secs = UInt32(handshakeSecondsMax)
        unsafe info.user = unsafe user
        var loops = unsafe patchbay_as_loop(uv)
        // A ping interval without a hang-up time turns libwebsockets' own watch over idle connections off: it keeps a sorted list and walks
        // all of it for every message received. The loop's delegate pings and gives up by itself.
        var idlePolicy = unsafe lws_retry_bo_t()
        unsafe idlePolicy.secs_since_valid_ping = 1
        unsafe idlePolicy.secs_since_valid_hangup = 0
        unsafe pointer = unsafe withUnsafeMutablePointer(to: &loops) { loops in
            unsafe withUnsafePointer(to: &idlePolicy) { idlePolicy in
                unsafe info.foreign_loops = unsafe loops
                unsafe info.retry_and_idle_policy = unsafe idlePolicy
                return unsafe lws_create_context(&info)
            }
        }
        guard unsafe pointer != nil else {
            throw LoopError(
                "libwebsockets cannot create a context; check that libwebsockets-evlib-uv is installed and `ulimit -n` is high enough")
        }
        eventPipe = unsafe EventPipe(stoppingRouteWatchOf: uv)
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

    func makeServerVhost(_ files: TLSFiles, handshakeSecondsMax: Int) throws(LoopError) {
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN_SERVER
        unsafe info.protocols = unsafe UnsafePointer(protocols.pointer)
        // ALLOW_NON_SSL_ON_SSL_PORT (bit 3): clients without TLS get an HTTP error instead of a closed connection.
        unsafe info.options =
            UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT) | UInt64(1 << 3)
            | UInt64(LWS_SERVER_OPTION_ALLOW_HTTP_ON_HTTPS_LISTENER)
        unsafe info.timeout_secs = UInt32(handshakeSecondsMax)
        unsafe info.keepalive_timeout = 30
        unsafe serverVhost = unsafe "patchbay".withCString { name in
            unsafe files.certificatePath.withCString { certificate in
                unsafe files.privateKeyPath.withCString { key in
                    // Not HTTP/2, which libwebsockets would offer too: WebSocket over it is another protocol.
                    unsafe "http/1.1".withCString { alpn in
                        unsafe info.vhost_name = unsafe name
                        unsafe info.ssl_cert_filepath = unsafe certificate
                        unsafe info.ssl_private_key_filepath = unsafe key
                        unsafe info.alpn = unsafe alpn
                        return unsafe lws_create_vhost(pointer, &info)
                    }
                }
            }
        }
        guard unsafe serverVhost != nil else { throw LoopError("libwebsockets does not take the certificate \(files.certificatePath)") }
    }

    func makePlainVhost(handshakeSecondsMax: Int) throws(LoopError) {
        var info = unsafe lws_context_creation_info()
        // Not the port of the other virtual host: libwebsockets would choose between the two by the `Host` header.
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.protocols = unsafe UnsafePointer(protocols.pointer)
        unsafe info.timeout_secs = UInt32(handshakeSecondsMax)
        unsafe info.keepalive_timeout = 30
        unsafe plainVhost = unsafe "patchbay-plain".withCString { name in
            unsafe info.vhost_name = unsafe name
            return unsafe lws_create_vhost(pointer, &info)
        }
        guard unsafe plainVhost != nil else { throw LoopError("libwebsockets cannot create a virtual host without TLS") }
    }

    func makeClientVhost(_ trust: ClientTrust, handshakeSecondsMax: Int) throws {
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        unsafe info.protocols = unsafe UnsafePointer(protocols.pointer)
        unsafe info.timeout_secs = UInt32(handshakeSecondsMax)
        func make() -> OpaquePointer? {
            unsafe "patchbay-client".withCString { name in
                unsafe "http/1.1".withCString { alpn in
                    unsafe info.vhost_name = unsafe name
                    unsafe info.alpn = unsafe alpn
                    return unsafe lws_create_vhost(pointer, &info)
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

/// The protocol table that a context points to for as long as it lives.
@safe private final class LwsProtocols {
    let pointer = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
    private let name = unsafe strdup(ProtocolLimits.subprotocol)

    init() {
        unsafe pointer.initialize(repeating: lws_protocols(), count: 2)
        unsafe pointer[0].name = unsafe UnsafePointer(name)
        unsafe pointer[0].callback = unsafe lwsCallback
        unsafe pointer[0].per_session_data_size = unsafe MemoryLayout<UnsafeMutableRawPointer>.size
        // libwebsockets allocates this much per connection. Larger messages come in pieces.
        unsafe pointer[0].rx_buffer_size = 512
        // Whole messages go to OpenSSL in one write.
        unsafe pointer[0].tx_packet_size = 1 << 17
    }

    deinit {
        unsafe pointer.deallocate()
        unsafe free(name)
    }
}

/// Length limits for parsed headers.
///
/// libwebsockets treats the HTTP version as a header named `http/1.1 `. After a path it finds the version by position, and this limit does
/// not apply. After a line end it finds it by name: an encoded line end followed by `http/1.1` at the end of a path would look like the end
/// of the request line. Limited to four bytes that is not a version, and the request is refused (`RequestHeader.isPathCutOff`).
@safe private final class HeaderLimits {
    let pointer = UnsafeMutablePointer<lws_token_limits>.allocate(capacity: 1)

    /// A response's status, which a client finds under the same name, needs three digits.
    private static let versionBytesMax: UInt16 = 4

    init() {
        // Zero: only the limit for the whole head applies.
        unsafe pointer.initialize(to: lws_token_limits())
        let offset = Int(WSI_TOKEN_HTTP.rawValue) * MemoryLayout<UInt16>.size
        unsafe UnsafeMutableRawPointer(pointer).storeBytes(of: Self.versionBytesMax, toByteOffset: offset, as: UInt16.self)
    }

    deinit {
        unsafe pointer.deallocate()
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

    /// Closes what libwebsockets has left open.
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

/// libwebsockets' own slots in OpenSSL's objects, which must be allocated once per process.
///
/// With `LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT` each context would allocate them anew, and handshakes on other threads would fail in that
/// moment as if the certificate were not trusted. So one short-lived context does it, and no other has the option.
enum TLSLibrary {
    static let isReady: Bool = {
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT) | UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
        guard let context = unsafe lws_create_context(&info) else { return false }
        unsafe lws_context_destroy(context)
        return true
    }()

    /// Checks that a PEM file holds certificates of authorities; libwebsockets ignores files that it cannot use.
    static func check(authorityPath path: String) throws(TLSFileError) {
        try TLSFileRole.authority.checkReadable(path)
        guard let store = unsafe X509_STORE_new() else { throw TLSFileError(path: path, reason: "no memory", remedy: "free some") }
        defer { unsafe X509_STORE_free(store) }
        ERR_clear_error()
        guard unsafe X509_STORE_load_file(store, path) == 1 else { throw .unusable(.authority, path) }
    }
}
