internal import CLibwebsockets
internal import HTTPTypes
internal import Wire

/// The table of protocols that lws wants to point to for as long as its context lives.
@safe struct LwsProtocols {
    let pointer: UnsafeMutablePointer<lws_protocols>

    init() {
        let name = unsafe strdup(ProtocolLimits.subprotocol)
        unsafe pointer = .allocate(capacity: 2)
        unsafe pointer.initialize(repeating: lws_protocols(), count: 2)
        unsafe pointer[0].name = unsafe UnsafePointer(name)
        unsafe pointer[0].callback = unsafe callback
        unsafe pointer[0].per_session_data_size = unsafe MemoryLayout<UnsafeMutableRawPointer>.size
        // lws takes this much for every connection. Media do not come through it (`RecordSocket.takeMessages`), and most of what
        // control messages say fits; larger ones come in pieces.
        unsafe pointer[0].rx_buffer_size = 512
        unsafe pointer[0].tx_packet_size = 1 << 17
    }
}

/// Where C enters. Recovers whose event it is and forwards it; decides nothing.
///
/// Two pointers lead back to us: a WebSocket's `user` (one load, for the frame's way) and lws's opaque user data (for all
/// else). Both stand for the one reference that lws holds from the moment a `Connection` or `HTTPExchange` is attached until
/// LWS_CALLBACK_WSI_DESTROY, or until another one takes its place on the same wsi.
private func callback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?, _ input: UnsafeMutableRawPointer?,
    _ length: Int
) -> Int32 {
    switch reason {
    // The frame's way.
    case LWS_CALLBACK_RECEIVE:
        guard let connection = unsafe websocket(user) else { return -1 }
        return unsafe connection._withUnsafeGuaranteedRef {
            unsafe $0.received(UnsafeRawBufferPointer(start: input, count: length), isServer: true) ? 0 : -1
        }
    case LWS_CALLBACK_CLIENT_RECEIVE:
        guard let connection = unsafe websocket(user) else { return -1 }
        return unsafe connection._withUnsafeGuaranteedRef {
            unsafe $0.received(UnsafeRawBufferPointer(start: input, count: length), isServer: false) ? 0 : -1
        }
    case LWS_CALLBACK_SERVER_WRITEABLE, LWS_CALLBACK_CLIENT_WRITEABLE:
        guard let connection = unsafe websocket(user)?.takeUnretainedValue() else { return 0 }
        connection.writable()
        return 0

    // A WebSocket's life.
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return unsafe wsi.map(admit) ?? -1
    case LWS_CALLBACK_ESTABLISHED, LWS_CALLBACK_CLIENT_ESTABLISHED:
        guard let wsi = unsafe wsi, let user = unsafe user, let connection = unsafe attachment(of: wsi) as? Connection else { return -1 }
        unsafe user.storeBytes(of: Unmanaged.passUnretained(connection).toOpaque(), as: UnsafeMutableRawPointer?.self)
        unsafe connection.attach(wsi)
        connection.established()
        return 0
    case LWS_CALLBACK_RECEIVE_PONG, LWS_CALLBACK_CLIENT_RECEIVE_PONG:
        guard let connection = unsafe websocket(user)?.takeUnretainedValue() else { return 0 }
        unsafe connection.loop.owner.ponged(UnsafeRawBufferPointer(start: input, count: length), from: connection)
        return 0
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        unsafe websocket(user)?.takeUnretainedValue().peerClosed(UnsafeRawBufferPointer(start: input, count: length))
        return 0
    case LWS_CALLBACK_TIMER:
        guard let wsi = unsafe wsi, let connection = unsafe attachment(of: wsi) as? Connection else { return 0 }
        return connection.closeTimerRang() ? 0 : -1
    case LWS_CALLBACK_CLOSED, LWS_CALLBACK_CLIENT_CLOSED:
        unsafe websocket(user)?.takeUnretainedValue().closed()
        return 0

    // A client's attempt.
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
        guard let wsi = unsafe wsi, let cursor = unsafe input?.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self) else { return 0 }
        let attached = unsafe attachment(of: wsi)
        if let call = attached as? HTTPCall { return unsafe call.appendHeaders(to: wsi, at: cursor, room: length) ? 0 : -1 }
        guard let connection = attached as? Connection else { return 0 }
        return unsafe connection.appendHeaders(at: cursor, room: length) ? 0 : -1
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        guard let wsi = unsafe wsi else { return 0 }
        let words = unsafe input.map { unsafe String(decoding: UnsafeRawBufferPointer(start: $0, count: length), as: UTF8.self) }
        (unsafe attachment(of: wsi) as? Connection)?.connectFailed(words ?? "the connection was refused")
        (unsafe attachment(of: wsi) as? HTTPCall)?.failed(words ?? "the connection was refused")
        return 0

    // A client's HTTP request.
    case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP, LWS_CALLBACK_CLIENT_HTTP_WRITEABLE, LWS_CALLBACK_RECEIVE_CLIENT_HTTP,
        LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ, LWS_CALLBACK_COMPLETED_CLIENT_HTTP, LWS_CALLBACK_CLOSED_CLIENT_HTTP:
        guard let wsi = unsafe wsi, let call = unsafe attachment(of: wsi) as? HTTPCall else {
            return unsafe lws_callback_http_dummy(wsi, reason, user, input, length)
        }
        return unsafe call.handle(reason, wsi, input, length)

    // HTTP.
    case LWS_CALLBACK_HTTP:
        return unsafe wsi.map(startExchange) ?? -1
    case LWS_CALLBACK_HTTP_BODY:
        guard let wsi = unsafe wsi, let exchange = unsafe attachment(of: wsi) as? HTTPExchange else { return -1 }
        let piece = unsafe UnsafeRawBufferPointer(start: input, count: length)
        return unsafe exchange.append(piece, owner: loop(of: wsi).owner) ? 0 : -1
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        guard let wsi = unsafe wsi, let exchange = unsafe attachment(of: wsi) as? HTTPExchange else { return -1 }
        return unsafe exchange.handOver(to: loop(of: wsi).owner) ? 0 : -1
    case LWS_CALLBACK_HTTP_WRITEABLE:
        guard let wsi = unsafe wsi, let exchange = unsafe attachment(of: wsi) as? HTTPExchange else { return 0 }
        return exchange.goOn() ? 0 : -1

    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
        // `wsi` is a stand-in here and `user` is OpenSSL's context.
        if let wsi = unsafe wsi, let user = unsafe user { unsafe loop(of: wsi).tlsContextMade(OpaquePointer(user)) }
        return 0
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_CLIENT_VERIFY_CERTS:
        if let wsi = unsafe wsi, let user = unsafe user { unsafe loop(of: wsi).clientTLSContextMade(OpaquePointer(user)) }
        return 0
    case LWS_CALLBACK_WSI_DESTROY:
        guard let wsi = unsafe wsi else { return 0 }
        let attached = unsafe attachment(of: wsi)
        // Not by the name of its vhost: that is freed before the last wsi when the context is destroyed.
        let isServer = (attached as? Connection)?.endpoint == nil && !(attached is HTTPCall)
        unsafe loop(of: wsi).wsiDestroyed(isServer: isServer, madeARequest: attached != nil)
        unsafe attach(nil, to: wsi)
        return 0
    default:
        return unsafe lws_callback_http_dummy(wsi, reason, user, input, length)
    }
}

// MARK: Whose event it is

private func websocket(_ user: UnsafeMutableRawPointer?) -> Unmanaged<Connection>? {
    guard let pointer = unsafe user?.load(as: UnsafeMutableRawPointer?.self) else { return nil }
    return unsafe Unmanaged<Connection>.fromOpaque(pointer)
}

private func loop(of wsi: OpaquePointer) -> Loop {
    // The context lives inside the loop that made it.
    unsafe Unmanaged<Loop>.fromOpaque(lws_context_user(lws_get_context(wsi))).takeUnretainedValue()
}

private func attachment(of wsi: OpaquePointer) -> Attachment? {
    unsafe lws_get_opaque_user_data(wsi).map { unsafe Unmanaged<Attachment>.fromOpaque($0).takeUnretainedValue() }
}

/// Gives lws its reference, and takes back the one it had.
private func attach(_ object: Attachment?, to wsi: OpaquePointer) {
    let before = unsafe lws_get_opaque_user_data(wsi)
    unsafe lws_set_opaque_user_data(wsi, object.map { unsafe Unmanaged<Attachment>.passRetained($0).toOpaque() })
    object?.isHeldByLws = true
    if let before = unsafe before {
        let old = unsafe Unmanaged<Attachment>.fromOpaque(before)
        unsafe old.takeUnretainedValue().destroyed()
        unsafe old.takeUnretainedValue().isHeldByLws = false
        unsafe old.release()
    }
}

/// What lws holds a reference of: a connection, or an HTTP exchange on its way to become one.
package class Attachment {
    var isHeldByLws = false
    func destroyed() {}
}

// MARK: First steps

private func admit(_ wsi: OpaquePointer) -> Int32 {
    guard unsafe Header.upgrade.text(of: wsi)?.lowercased() == "websocket" else {
        // lws would go over to HTTP/2.
        unsafe attach(Attachment(), to: wsi)
        unsafe HTTPServerResponse.error(.badRequest, "upgrade_refused", "this port speaks HTTP/1.1 and WebSocket").refuseUpgrade(of: wsi)
        return -1
    }
    let loop = unsafe loop(of: wsi)
    let connection = unsafe Connection(wsi: wsi, loop: loop)
    let request = unsafe UpgradeRequest(wsi: wsi, peerAddress: connection.peerAddress, isSecure: lws_is_ssl(wsi) != 0)
    if let refusal = unsafe loop.owner.admit(request, as: connection) {
        // It did make a request.
        unsafe attach(Attachment(), to: wsi)
        unsafe refusal.refuseUpgrade(of: wsi)
        return -1
    }
    unsafe attach(connection, to: wsi)
    return 0
}

private func startExchange(_ wsi: OpaquePointer) -> Int32 {
    let uri = Header.uriByMethod.lazy.compactMap { method, header in unsafe header.text(of: wsi).map { (method, $0) } }.first
    guard let (method, path) = uri else { return -1 }
    let address = unsafe TCPSocket(descriptor: lws_get_socket_fd(wsi)).peerAddress
    let loop = unsafe loop(of: wsi)
    let exchange = unsafe HTTPExchange(wsi: wsi, loop: loop, method: method, path: path, peerAddress: address)
    unsafe attach(exchange, to: wsi)
    guard exchange.readHead() else { return 0 }
    return unsafe exchange.handOver(to: loop.owner) ? 0 : -1
}
