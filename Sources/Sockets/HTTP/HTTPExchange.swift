internal import CLibwebsockets
internal import COpenSSL
package import HTTPTypes
internal import Wire

/// One HTTP request and its response, which may come later but only on the loop's thread.
///
/// A response to a client that has disconnected is dropped. From the moment the request is handed over, nothing more is read from the connection
/// until the response has left, so pipelined requests are answered in order, one at a time. libwebsockets reports nothing about the socket
/// while its reading is paused, so a large response is driven by a `WritableWatch`.
@safe package final class HTTPExchange: Attachment {
    /// The largest request body, in bytes.
    package static let bodyBytesMax = 1 << 20
    /// How long the response may take, in seconds; then the connection ends without one.
    package static let answerSecondsMax = 60
    /// Bytes of a body written at once, and how often in one turn.
    private static let pieceBytesMax = 1 << 16
    private static let piecesOfTurnMax = 4
    /// How long a client may take for a piece of the response, in seconds.
    private static let pieceSecondsMax = 30
    /// How much of a refused body is still read, in bytes and seconds: closing with unread bytes would reset the connection, and the client
    /// could lose the response.
    private static let discardedBytesMax = 4 << 20
    private static let discardingSecondsMax = 5

    package let method: HTTPRequest.Method
    package let path: String
    package let query: Query
    /// The headers that `RequestHeader.ofRequests` and `customOfRequests` name.
    package private(set) var headers: HTTPFields = [:]
    /// The `Host` header: the server's name and port as the client knows them.
    package let host: String?
    /// The request arrived over TLS, or at a listener that has none.
    package let isSecure: Bool
    package let source: RequestSource
    /// How the connection arrived, if it has no TLS; kept for later requests on the same connection.
    var arrival: PlainArrival?
    package private(set) var body: [UInt8] = []
    /// Why the request is refused and its body not read. The connection ends after the response, because the next bytes are not a request.
    package private(set) var fault: Fault?

    package enum Fault {
        case bodyInChunks, bodyTooBig, bodyTooSlow
        /// The request was pipelined behind another one, on a connection without a `RequestGate`; libwebsockets reads such a body from the
        /// wrong position.
        case bodyUnasked
        /// Bodies of other requests take up too much memory.
        case noRoom
        /// The path or query has an encoded line end, which libwebsockets takes for the end of the request line. Detected by the version,
        /// which is missing then, or cut off (`HeaderLimits`).
        case pathCutOff
        /// `RequestGate` has refused the request.
        case malformed(RequestFault)
    }

    private unowned let loop: Loop
    private var wsi: OpaquePointer?
    /// When the body must be complete.
    private let deadline: Instant
    /// The client sent `Connection: close`; the response repeats it (RFC 9112 section 9.6).
    private let isLastAsked: Bool
    /// A request with a body has no length; libwebsockets would read the next request as its body.
    private var isLengthUnknown = false
    /// The length of the body, in bytes.
    private var length = 0
    /// libwebsockets has read part of the next request as this one's body.
    private var isNextCutOff = false
    private var stage = Stage.reading
    private var repetitions = 0
    /// `handOver` starts the response itself.
    private var isHandingOver = false
    private var watch: WritableWatch?
    private var discardedBytes = 0
    private var discardsUntil: Instant?

    private enum Stage {
        case reading
        /// The request has been handed over.
        case waiting
        case writing(HTTPServerResponse, Progress)
        /// libwebsockets has all of the response, and part of it waits for the socket.
        case flushing
        case written
        /// The connection ends as soon as libwebsockets allows it.
        case ending
    }

    /// How much of a response has been written: nothing, or the head and a number of bytes of the body.
    private enum Progress {
        case nothing, body(Int)
    }

    init(wsi: OpaquePointer, loop: Loop, method: String, path: String, source: RequestSource) {
        unsafe self.wsi = unsafe wsi
        self.loop = loop
        self.method = HTTPRequest.Method(method) ?? .get
        self.path = path
        self.source = source
        query = unsafe Query(of: wsi)
        host = unsafe RequestHeader.host.text(of: wsi)
        isSecure = unsafe source.entrance != .clients || lws_is_ssl(wsi) != 0
        deadline = loop.now + loop.bodyTimeout
        isLastAsked = unsafe RequestHeader.connection.items(of: wsi).contains { $0.lowercased() == "close" }
        super.init()
        for (name, header) in RequestHeader.ofRequests { headers[name] = unsafe header.text(of: wsi) }
        for name in RequestHeader.customOfRequests { headers[name] = unsafe RequestHeader.custom(name.canonicalName, of: wsi) }
    }

    /// The client's address, as limits and logs see it.
    package var peerAddress: String { source.address }

    /// Sends the response. Only the first one counts.
    package func respond(_ response: HTTPServerResponse) {
        guard case .waiting = stage else { return }
        stage = .writing(response, .nothing)
        if !isHandingOver { proceedOrEnd() }
    }

    // MARK: Events (see Callback)

    /// The head has arrived.
    ///
    /// - Returns: whether the request is complete, because it has no body or the body is refused.
    func readHead() -> Bool {
        guard let wsi = unsafe wsi else { return false }
        let lengthText = unsafe RequestHeader.contentLength.text(of: wsi)
        // With more digits than libwebsockets reads, its length and ours would differ.
        length = lengthText.map { $0.utf8.count <= 10 ? Int($0) ?? -1 : -1 } ?? 0
        if method == .post, length == 1, let refused = RequestGate.refused(at: path) {
            fault = .malformed(refused)
        } else if unsafe RequestHeader.isPathCutOff(in: wsi) {
            fault = .pathCutOff
        } else if unsafe RequestHeader.transferEncoding.text(of: wsi) != nil {
            // libwebsockets waits forever for the end of a chunked body.
            fault = .bodyInChunks
        } else if !(0...Self.bodyBytesMax ~= length) {
            fault = .bodyTooBig
        } else if length > 0, loop.isServingLeftover {
            fault = .bodyUnasked
        }
        isLengthUnknown = lengthText == nil && method != .get && method != .head && method != .delete && method != .options
        return length == 0 || fault != nil
    }

    /// The request is complete. libwebsockets reports that twice for an empty body.
    ///
    /// - Returns: false to end the connection.
    func handOver(to delegate: any SocketDelegate) -> Bool {
        // After the response: the end of a refused body.
        if case .written = stage { return fault == nil }
        guard case .reading = stage, let wsi = unsafe wsi else {
            // Reported again and again, it is libwebsockets' endless loop over what it takes for more of the body.
            repetitions += 1
            return repetitions < 8
        }
        stage = .waiting
        if fault == nil { unsafe lws_rx_flow_control(wsi, 0) }
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, Int32(Self.answerSecondsMax))
        isHandingOver = true
        delegate.handle(self)
        isHandingOver = false
        return proceed()
    }

    /// - Returns: false to end the connection.
    func append(_ piece: UnsafeRawBufferPointer, delegate: any SocketDelegate) -> Bool {
        guard case .reading = stage else {
            discardedBytes += piece.count
            return discardedBytes <= Self.discardedBytesMax && discardsUntil.map { loop.now <= $0 } ?? true
        }
        // libwebsockets 4.3 takes everything behind a body in the same read for more of it, and then never reports the end of the body. Only
        // `RequestGate` keeps it from that: elsewhere the next request is lost, and the client has to repeat it on another connection.
        isNextCutOff = body.count + piece.count > length
        let piece = unsafe UnsafeRawBufferPointer(rebasing: piece.prefix(length - body.count))
        if loop.now > deadline {
            fault = .bodyTooSlow
        } else if !loop.takeBodyBytes(piece.count) {
            fault = .noRoom
        } else {
            unsafe body.append(contentsOf: piece)
            guard isNextCutOff else { return true }
        }
        return handOver(to: delegate)
    }

    /// Writes as much of the response as the socket takes.
    ///
    /// - Returns: false to end the connection.
    func proceed() -> Bool {
        guard let wsi = unsafe wsi else { return true }
        switch stage {
        case .reading, .waiting, .written: return true
        case .ending: return false
        case .writing(let response, .nothing):
            let isLast = fault != nil || isLengthUnknown || isLastAsked || isNextCutOff
            guard unsafe response.writeHead(to: wsi, isLast: isLast) else { return false }
            return unsafe write(response, from: 0, to: wsi)
        case .writing(let response, .body(let sent)):
            return switch unsafe flush(wsi) {
            case .done: unsafe write(response, from: sent, to: wsi)
            case .waits: true
            case .broken: false
            }
        case .flushing:
            return switch unsafe flush(wsi) {
            case .done: unsafe finish(wsi)
            case .waits: true
            case .broken: false
            }
        }
    }

    private func proceedOrEnd() {
        guard !proceed(), let wsi = unsafe wsi else { return }
        stage = .ending
        unsafe lws_rx_flow_control(wsi, 1)
        unsafe lws_callback_on_writable(wsi)
    }

    private enum Flush {
        case done, waits, broken
    }

    /// Has libwebsockets write what it had to keep.
    private func flush(_ wsi: OpaquePointer) -> Flush {
        while unsafe lws_partial_buffered(wsi) != 0 {
            let taken = unsafe lws_write(wsi, nil, 0, LWS_WRITE_HTTP)
            if taken < 0 { return .broken }
            if taken == 0 { return .waits }
        }
        return .done
    }

    private func write(_ response: HTTPServerResponse, from start: Int, to wsi: OpaquePointer) -> Bool {
        let end = method == .head ? 0 : response.body.count
        var sent = start
        for _ in 0..<Self.piecesOfTurnMax {
            guard sent < end, unsafe lws_partial_buffered(wsi) == 0 else { break }
            let next = min(end, sent + Self.pieceBytesMax)
            guard unsafe HTTPServerResponse.write(response.body[sent..<next], isLast: next == end, to: wsi) else { return false }
            sent = next
        }
        if sent >= end, unsafe lws_partial_buffered(wsi) == 0 { return unsafe finish(wsi) }
        stage = sent < end ? .writing(response, .body(sent)) : .flushing
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, Int32(Self.pieceSecondsMax))
        if watch == nil { watch = unsafe loop.watchWritable(wsi) { [unowned self] in proceedOrEnd() } }
        return watch != nil
    }

    private func finish(_ wsi: OpaquePointer) -> Bool {
        stage = .written
        release()
        switch fault {
        case nil where isNextCutOff:
            unsafe lws_rx_flow_control(wsi, 1)
            unsafe endWriting(wsi)
            return unsafe discardInput(of: wsi)
        case nil:
            guard !isLengthUnknown, !isLastAsked else { return false }
            unsafe lws_rx_flow_control(wsi, 1)
            guard unsafe lws_http_transaction_completed(wsi) == 0 else { return false }
            unsafe loop.recordLayer.answered(on: wsi)
            return true
        case .bodyTooBig, .bodyTooSlow, .noRoom, .malformed:
            if case .malformed = fault { unsafe endWriting(wsi) }
            return unsafe discardInput(of: wsi)
        case .bodyInChunks, .bodyUnasked, .pathCutOff:
            return false
        }
    }

    private func discardInput(of wsi: OpaquePointer) -> Bool {
        discardsUntil = loop.now + .seconds(Self.discardingSecondsMax)
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, Int32(Self.discardingSecondsMax))
        return true
    }

    /// Shows the client the end of the connection while its own bytes are still read and dropped.
    private func endWriting(_ wsi: OpaquePointer) {
        if let ssl = unsafe lws_get_ssl(wsi) { unsafe SSL_shutdown(ssl) }
        unsafe TCPSocket(descriptor: lws_get_socket_fd(wsi)).endWriting()
    }

    override func destroyed() {
        unsafe wsi = nil
        release()
    }

    private func release() {
        watch?.stop()
        loop.giveBackBodyBytes(body.count)
        body = []
    }
}
