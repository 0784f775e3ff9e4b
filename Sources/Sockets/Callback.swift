internal import CLibwebsockets
internal import HTTPTypes
internal import Wire

/// The table of protocols that lws wants to point to for as long as its context lives.
struct LwsProtocols {
    let pointer: UnsafeMutablePointer<lws_protocols>

    init() {
        let name = strdup(ProtocolLimits.subprotocol)
        pointer = .allocate(capacity: 2)
        pointer.initialize(repeating: lws_protocols(), count: 2)
        pointer[0].name = UnsafePointer(name)
        pointer[0].callback = callback
        pointer[0].per_session_data_size = MemoryLayout<UnsafeMutableRawPointer>.size
        // lws takes this much for every connection; whole frames fit, larger messages come in pieces.
        pointer[0].rx_buffer_size = 2_048
        pointer[0].tx_packet_size = 1 << 17
    }
}

/// Where C enters. Recovers whose event it is and forwards it; decides nothing.
///
/// Two pointers lead back to us: a WebSocket's `user` (one load, for the frame's way) and lws's opaque user data (for all
/// else). Both stand for the one reference that lws holds from the moment a `Connection` or `HTTPExchange` is attached until
/// LWS_CALLBACK_WSI_DESTROY, or until another one takes its place on the same wsi.
private func callback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?, _ input: UnsafeMutableRawPointer?, _ length: Int
) -> Int32 {
    switch reason {
    // The frame's way.
    case LWS_CALLBACK_RECEIVE:
        guard let connection = websocket(user) else { return -1 }
        return connection._withUnsafeGuaranteedRef {
            $0.received(UnsafeRawBufferPointer(start: input, count: length), isServer: true) ? 0 : -1
        }
    case LWS_CALLBACK_CLIENT_RECEIVE:
        guard let connection = websocket(user) else { return -1 }
        return connection._withUnsafeGuaranteedRef {
            $0.received(UnsafeRawBufferPointer(start: input, count: length), isServer: false) ? 0 : -1
        }
    case LWS_CALLBACK_SERVER_WRITEABLE, LWS_CALLBACK_CLIENT_WRITEABLE:
        guard let connection = websocket(user)?.takeUnretainedValue() else { return 0 }
        connection.loop.owner.writable(connection)
        return 0

    // A WebSocket's life.
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return wsi.map(admit) ?? -1
    case LWS_CALLBACK_ESTABLISHED, LWS_CALLBACK_CLIENT_ESTABLISHED:
        guard let wsi, let user, let connection = attachment(of: wsi) as? Connection else { return -1 }
        user.storeBytes(of: Unmanaged.passUnretained(connection).toOpaque(), as: UnsafeMutableRawPointer?.self)
        connection.attach(wsi)
        connection.established()
        return 0
    case LWS_CALLBACK_RECEIVE_PONG, LWS_CALLBACK_CLIENT_RECEIVE_PONG:
        guard let connection = websocket(user)?.takeUnretainedValue() else { return 0 }
        connection.loop.owner.ponged(UnsafeRawBufferPointer(start: input, count: length), from: connection)
        return 0
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        websocket(user)?.takeUnretainedValue().peerClosed(UnsafeRawBufferPointer(start: input, count: length))
        return 0
    case LWS_CALLBACK_TIMER:
        guard let wsi, let connection = attachment(of: wsi) as? Connection else { return 0 }
        return connection.closeTimerRang() ? 0 : -1
    case LWS_CALLBACK_CLOSED, LWS_CALLBACK_CLIENT_CLOSED:
        websocket(user)?.takeUnretainedValue().closed()
        return 0

    // A client's attempt.
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
        guard let wsi, let input, let connection = attachment(of: wsi) as? Connection else { return 0 }
        return connection.appendHeaders(at: input.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self), room: length) ? 0 : -1
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        guard let wsi, let connection = attachment(of: wsi) as? Connection else { return 0 }
        let words = input.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: length), as: UTF8.self) }
        connection.connectFailed(words ?? "the connection was refused")
        return 0

    // HTTP.
    case LWS_CALLBACK_HTTP:
        return wsi.map(startExchange) ?? -1
    case LWS_CALLBACK_HTTP_BODY:
        guard let wsi, let exchange = attachment(of: wsi) as? HTTPExchange else { return -1 }
        return exchange.append(UnsafeRawBufferPointer(start: input, count: length)) ? 0 : -1
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        guard let wsi, let exchange = attachment(of: wsi) as? HTTPExchange else { return -1 }
        loop(of: wsi).owner.handle(exchange)
        return 0
    case LWS_CALLBACK_HTTP_WRITEABLE:
        guard let wsi, let exchange = attachment(of: wsi) as? HTTPExchange else { return 0 }
        return exchange.writable() ? 0 : -1

    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
        // `wsi` is a stand-in here and `user` is OpenSSL's context.
        if let wsi, let user { loop(of: wsi).tlsContextMade(OpaquePointer(user)) }
        return 0
    case LWS_CALLBACK_WSI_DESTROY:
        guard let wsi else { return 0 }
        let isServer = !(lws_get_vhost(wsi).map { String(cString: lws_get_vhost_name($0)) == "patchbay-client" } ?? false)
        loop(of: wsi).wsiDestroyed(isServer: isServer)
        attach(nil, to: wsi)
        return 0
    default:
        return lws_callback_http_dummy(wsi, reason, user, input, length)
    }
}

// MARK: Whose event it is

private func websocket(_ user: UnsafeMutableRawPointer?) -> Unmanaged<Connection>? {
    guard let pointer = user?.load(as: UnsafeMutableRawPointer?.self) else { return nil }
    return Unmanaged<Connection>.fromOpaque(pointer)
}

private func loop(of wsi: OpaquePointer) -> Loop {
    // The context lives inside the loop that made it.
    Unmanaged<Loop>.fromOpaque(lws_context_user(lws_get_context(wsi))).takeUnretainedValue()
}

private func attachment(of wsi: OpaquePointer) -> Attachment? {
    lws_get_opaque_user_data(wsi).map { Unmanaged<Attachment>.fromOpaque($0).takeUnretainedValue() }
}

/// Gives lws its reference, and takes back the one it had.
private func attach(_ object: Attachment?, to wsi: OpaquePointer) {
    let before = lws_get_opaque_user_data(wsi)
    lws_set_opaque_user_data(wsi, object.map { Unmanaged<Attachment>.passRetained($0).toOpaque() })
    object?.isHeldByLws = true
    if let before {
        let old = Unmanaged<Attachment>.fromOpaque(before)
        old.takeUnretainedValue().destroyed()
        old.takeUnretainedValue().isHeldByLws = false
        old.release()
    }
}

/// What lws holds a reference of: a connection, or an HTTP exchange on its way to become one.
package class Attachment {
    var isHeldByLws = false
    func destroyed() {}
}

// MARK: First steps

private func admit(_ wsi: OpaquePointer) -> Int32 {
    let loop = loop(of: wsi)
    let connection = Connection(wsi: wsi, loop: loop)
    let request = UpgradeRequest(wsi: wsi, peerAddress: connection.peerAddress, isSecure: lws_is_ssl(wsi) != 0)
    if let refusal = loop.owner.admit(request, as: connection) {
        _ = refusal.write(to: wsi)
        return -1
    }
    attach(connection, to: wsi)
    return 0
}

private func startExchange(_ wsi: OpaquePointer) -> Int32 {
    let uri = Header.uriByMethod.lazy.compactMap { method, header in header.text(of: wsi).map { (method, $0) } }.first
    guard let (method, path) = uri else { return -1 }
    let address = TCPSocket(descriptor: lws_get_socket_fd(wsi)).peerAddress
    let exchange = HTTPExchange(wsi: wsi, method: method, path: path, peerAddress: address)
    attach(exchange, to: wsi)
    if Header.transferEncoding.text(of: wsi) != nil {
        // lws waits for ever for the end of a chunked body.
        exchange.respond(Response.error(.lengthRequired, "length_required", "send the body with a Content-Length, not in chunks"))
        return 0
    }
    let length = Header.contentLength.text(of: wsi).map { Int($0) ?? -1 } ?? 0
    guard 0...HTTPExchange.bodyBytesMax ~= length else {
        exchange.respond(Response.error(.contentTooLarge, "body_too_large", "a body has at most 1 MiB"))
        return 0
    }
    if length == 0 { loop(of: wsi).owner.handle(exchange) }
    return 0
}
