internal import CLibwebsockets
internal import Glibc

/// One request in libwebsockets, from its head to the end of its response.
///
/// libwebsockets adopts one end of a socketpair on a virtual host without TLS, reads the head that `RequestHead.forLibrary` has written, calls
/// back (`lwsCallback`), and writes its response into the pair; what it writes is drained after each call. No byte of a client reaches it
/// except a validated Sec-WebSocket-Key. Bodies stay with the `RequestPhase`. The pair lives for one request, so nothing depends on how
/// libwebsockets reads the next one on the same connection.
@safe final class LibraryRequest {
    let loop: Loop
    /// The phase that the callbacks go to; nil once it does not want them any more.
    private(set) weak var phase: RequestPhase?
    private let descriptor: Int32
    private(set) var wsi: OpaquePointer?
    private var isServicing = false
    private var isClosed = false

    /// Fails if descriptors or memory have run out.
    init?(_ phase: RequestPhase, on loop: Loop) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else { return nil }
        descriptor = pair[0]
        self.loop = loop
        self.phase = phase
        // Balanced by LWS_CALLBACK_WSI_DESTROY, or below.
        let held = unsafe Unmanaged.passRetained(self)
        guard let wsi = unsafe patchbay_adopt(loop.lws.vhost, pair[1], held.toOpaque()) else {
            // libwebsockets has closed its end, and has destroyed what it may have made of it.
            if !isDestroyed { unsafe held.release() }
            return nil
        }
        unsafe self.wsi = unsafe wsi
        unsafe removeTimeout(of: wsi)
    }

    private var isDestroyed = false

    deinit { close() }

    /// LWS_CALLBACK_HTTP_WRITEABLE.
    ///
    /// - Returns: whether libwebsockets is to go on with the request.
    func becameWritable() -> Bool {
        isServicing = true
        phase?.libraryBecameWritable()
        isServicing = false
        return !isClosed
    }

    /// Has libwebsockets read the head and call back.
    ///
    /// - Returns: false if it has no room for the head.
    func start(_ head: [UInt8]) -> Bool {
        guard let wsi = unsafe wsi, unsafe send(descriptor, head, head.count, Int32(MSG_NOSIGNAL)) == head.count else { return false }
        isServicing = true
        var readable = unsafe pollfd(fd: lws_get_socket_fd(wsi), events: Int16(POLLIN), revents: Int16(POLLIN))
        unsafe lws_service_fd(loop.lws.pointer, &readable)
        isServicing = false
        if isClosed { kill() }
        return true
    }

    /// Passes on what libwebsockets has written.
    ///
    /// - Parameter body: takes a piece; returns whether it wants more.
    func drain(_ body: (UnsafeRawBufferPointer) -> Bool) {
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.pieceBytesMax, alignment: 16) { room in
            while !isClosed {
                let count = unsafe recv(descriptor, room.baseAddress, room.count, 0)
                guard count > 0, unsafe body(UnsafeRawBufferPointer(rebasing: room[..<count])) else { return }
            }
        }
    }

    private static var pieceBytesMax: Int { 1 << 14 }

    /// Ends the request in libwebsockets, at once or after the callback that is running.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        phase = nil
        Glibc.close(descriptor)
        if !isServicing { kill() }
    }

    private func kill() {
        if let wsi = unsafe wsi { unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, Int32(LWS_TO_KILL_SYNC)) }
    }

    /// LWS_CALLBACK_WSI_DESTROY: libwebsockets gives its reference back.
    func destroyed() {
        unsafe wsi = nil
        isDestroyed = true
        phase?.libraryEnded()
    }
}

/// The edge has deadlines of its own: those of libwebsockets are in a sorted list, and are not extended while a client reads the response.
private func removeTimeout(of wsi: OpaquePointer) { unsafe lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0) }

/// The callback of libwebsockets. The opaque user data of each wsi is its `LibraryRequest`, of which libwebsockets holds one reference from the
/// adoption until LWS_CALLBACK_WSI_DESTROY.
func lwsCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?, _ input: UnsafeMutableRawPointer?,
    _ length: Int
) -> Int32 {
    guard let wsi = unsafe wsi, let held = unsafe lws_get_opaque_user_data(wsi) else { return 0 }
    let request = unsafe Unmanaged<LibraryRequest>.fromOpaque(held)
    switch reason {
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return unsafe request.takeUnretainedValue().phase?.admit(wsi) == true ? 0 : -1
    case LWS_CALLBACK_HTTP:
        // libwebsockets has set one for the whole response.
        unsafe removeTimeout(of: wsi)
        unsafe request.takeUnretainedValue().phase?.startExchange(wsi)
        return 0
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return unsafe request.takeUnretainedValue().becameWritable() ? 0 : -1
    case LWS_CALLBACK_WSI_DESTROY:
        unsafe lws_set_opaque_user_data(wsi, nil)
        unsafe request.takeUnretainedValue().destroyed()
        unsafe request.release()
        return 0
    default:
        // Everything else is accepted: the head is of our own making.
        return 0
    }
}
