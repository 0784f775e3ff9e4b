internal import CLibwebsockets
internal import HTTPTypes
internal import Wire

/// The callback of libwebsockets: finds the object that an event belongs to and forwards it.
///
/// Two pointers lead back to our objects: a WebSocket's `user` (one load, for frames) and libwebsockets' opaque user data (for everything
/// else). Both stand for the one reference that libwebsockets holds from the moment a `Connection` or `HTTPExchange` is attached until
/// LWS_CALLBACK_WSI_DESTROY, or until another one replaces it on the same wsi.
func lwsCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?, _ input: UnsafeMutableRawPointer?,
    _ length: Int
) -> Int32 {
    switch reason {
    // Frames.
    case LWS_CALLBACK_RECEIVE, LWS_CALLBACK_CLIENT_RECEIVE:
        guard let connection = unsafe websocket(user) else { return -1 }
        return unsafe connection._withUnsafeGuaranteedRef {
            unsafe $0.received(UnsafeRawBufferPointer(start: input, count: length)) ? 0 : -1
        }
    case LWS_CALLBACK_SERVER_WRITEABLE, LWS_CALLBACK_CLIENT_WRITEABLE:
        guard let connection = unsafe websocket(user)?.takeUnretainedValue() else { return 0 }
        connection.writable()
        return 0

    // The life cycle of a WebSocket.
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
        unsafe connection.loop.delegate.ponged(UnsafeRawBufferPointer(start: input, count: length), from: connection)
        return 0
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        guard let connection = unsafe websocket(user)?.takeUnretainedValue() else { return 0 }
        return unsafe connection.peerClosed(UnsafeRawBufferPointer(start: input, count: length)) ? 0 : -1
    case LWS_CALLBACK_TIMER:
        guard let wsi = unsafe wsi, let connection = unsafe attachment(of: wsi) as? Connection else { return 0 }
        return connection.closeTimerFired() ? 0 : -1
    case LWS_CALLBACK_CLOSED, LWS_CALLBACK_CLIENT_CLOSED:
        unsafe websocket(user)?.takeUnretainedValue().closed()
        return 0

    // An outgoing connection.
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
        guard let wsi = unsafe wsi, let cursor = unsafe input?.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self) else { return 0 }
        guard let connection = unsafe attachment(of: wsi) as? Connection else { return 0 }
        return unsafe connection.appendHeaders(at: cursor, room: length) ? 0 : -1
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        guard let wsi = unsafe wsi else { return 0 }
        let words = unsafe input.map { unsafe String(decoding: UnsafeRawBufferPointer(start: $0, count: length), as: UTF8.self) }
        (unsafe attachment(of: wsi) as? Connection)?.connectFailed(words ?? "the connection was refused")
        return 0

    // HTTP.
    case LWS_CALLBACK_HTTP:
        return unsafe wsi.map(startExchange) ?? -1
    case LWS_CALLBACK_HTTP_BODY:
        guard let wsi = unsafe wsi, let exchange = unsafe attachment(of: wsi) as? HTTPExchange else { return -1 }
        let piece = unsafe UnsafeRawBufferPointer(start: input, count: length)
        return unsafe exchange.append(piece, delegate: loop(of: wsi).delegate) ? 0 : -1
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        guard let wsi = unsafe wsi, let exchange = unsafe attachment(of: wsi) as? HTTPExchange else { return -1 }
        return unsafe exchange.handOver(to: loop(of: wsi).delegate) ? 0 : -1
    case LWS_CALLBACK_HTTP_WRITEABLE:
        guard let wsi = unsafe wsi, let exchange = unsafe attachment(of: wsi) as? HTTPExchange else { return 0 }
        return exchange.proceed() ? 0 : -1

    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
        // `wsi` is a placeholder here and `user` is the `SSL_CTX`.
        if let wsi = unsafe wsi, let user = unsafe user { unsafe loop(of: wsi).tlsContextMade(OpaquePointer(user)) }
        return 0
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_CLIENT_VERIFY_CERTS:
        if let wsi = unsafe wsi, let user = unsafe user { unsafe loop(of: wsi).clientTLSContextMade(OpaquePointer(user)) }
        return 0
    case LWS_CALLBACK_WSI_CREATE:
        if let wsi = unsafe wsi { unsafe loop(of: wsi).wsiCreated() }
        return 0
    case LWS_CALLBACK_WSI_DESTROY:
        guard let wsi = unsafe wsi else { return 0 }
        let attached = unsafe attachment(of: wsi)
        // The name of its vhost would not do: it is freed before the last wsi when the context is destroyed.
        let isServer = (attached as? Connection)?.endpoint == nil
        let entrance = isServer ? attached?.entrance ?? .clients : nil
        unsafe loop(of: wsi).wsiDestroyed(at: entrance, madeARequest: attached != nil && !(attached is PlainArrival))
        unsafe attach(nil, to: wsi)
        return 0
    default:
        return unsafe lws_callback_http_dummy(wsi, reason, user, input, length)
    }
}

// MARK: From C pointers to objects

private func websocket(_ user: UnsafeMutableRawPointer?) -> Unmanaged<Connection>? {
    guard let pointer = unsafe user?.load(as: UnsafeMutableRawPointer?.self) else { return nil }
    return unsafe Unmanaged<Connection>.fromOpaque(pointer)
}

private func loop(of wsi: OpaquePointer) -> Loop {
    // The loop outlives the context it created.
    unsafe Unmanaged<Loop>.fromOpaque(lws_context_user(lws_get_context(wsi))).takeUnretainedValue()
}

private func attachment(of wsi: OpaquePointer) -> Attachment? {
    unsafe lws_get_opaque_user_data(wsi).map { unsafe Unmanaged<Attachment>.fromOpaque($0).takeUnretainedValue() }
}

/// Gives libwebsockets its reference and releases the previous one.
func attach(_ object: Attachment?, to wsi: OpaquePointer) {
    let before = unsafe lws_get_opaque_user_data(wsi)
    unsafe lws_set_opaque_user_data(wsi, object.map { unsafe Unmanaged<Attachment>.passRetained($0).toOpaque() })
    object?.isHeldByLws = true
    if let before = unsafe before {
        let old = unsafe Unmanaged<Attachment>.fromOpaque(before)
        object?.entrance = unsafe old.takeUnretainedValue().entrance
        unsafe old.takeUnretainedValue().destroyed()
        unsafe old.takeUnretainedValue().isHeldByLws = false
        unsafe old.release()
    }
}

/// The arrival of a plain connection, which its first request or an earlier one on it holds; nil with TLS.
private func arrival(of wsi: OpaquePointer) -> PlainArrival? {
    let attached = unsafe attachment(of: wsi)
    return attached as? PlainArrival ?? (attached as? HTTPExchange)?.arrival
}

/// An object that libwebsockets holds a reference to: a connection or an HTTP exchange.
package class Attachment {
    var isHeldByLws = false
    /// Of a server's connection; passed on to the object that replaces this one.
    var entrance = Entrance.clients
    func destroyed() {}
}

// MARK: New requests

private func admit(_ wsi: OpaquePointer) -> Int32 {
    guard unsafe RequestHeader.upgrade.text(of: wsi)?.lowercased() == "websocket" else {
        // libwebsockets would switch to HTTP/2.
        unsafe attach(Attachment(), to: wsi)
        unsafe HTTPServerResponse.error(.badRequest, "upgrade_refused", "this port speaks HTTP/1.1 and WebSocket").refuseUpgrade(of: wsi)
        return -1
    }
    let loop = unsafe loop(of: wsi)
    let connection = unsafe Connection(wsi: wsi, loop: loop)
    let request = unsafe UpgradeRequest(wsi: wsi, source: loop.source(of: wsi, arrival(of: wsi)))
    if let response = unsafe loop.delegate.admit(request, as: connection) {
        // Counts as a request, not as an abandoned handshake.
        unsafe attach(Attachment(), to: wsi)
        unsafe response.refuseUpgrade(of: wsi)
        return -1
    }
    unsafe attach(connection, to: wsi)
    return 0
}

private func startExchange(_ wsi: OpaquePointer) -> Int32 {
    let uri = RequestHeader.uriByMethod.lazy.compactMap { method, header in unsafe header.text(of: wsi).map { (method, $0) } }.first
    guard let (method, path) = uri else { return -1 }
    let loop = unsafe loop(of: wsi)
    let arrival = unsafe arrival(of: wsi)
    let source = unsafe loop.source(of: wsi, arrival)
    let exchange = unsafe HTTPExchange(wsi: wsi, loop: loop, method: method, path: path, source: source)
    exchange.arrival = arrival
    unsafe attach(exchange, to: wsi)
    guard exchange.readHead() else { return 0 }
    return unsafe exchange.handOver(to: loop.delegate) ? 0 : -1
}
