internal import CLibwebsockets
package import HTTPTypes
internal import Wire

/// One HTTP request and its answer, which may come later but only from the loop's thread.
///
/// Lives as long as somebody holds it or lws has its transaction; an answer to a client that has gone is dropped. From the moment the
/// request is handed over nothing more is read from the connection until the answer has left: so requests that come one behind the other
/// are answered in their order, and there is one at a time. lws, which would take the next request in the middle of an answer, tells nothing
/// of the socket meanwhile; what it does not take at once leaves by a watch of our own.
@safe package final class HTTPExchange: Attachment {
    /// The largest request body, in bytes.
    package static let bodyBytesMax = 1 << 20
    /// How long an answer may take, in seconds; then the connection ends without one.
    package static let answerSecondsMax = 60
    /// What the socket is given at once, in bytes, and how often in one turn.
    private static let pieceBytesMax = 1 << 16
    private static let piecesOfTurnMax = 4
    /// How long a client may take for a piece of the answer, in seconds.
    private static let pieceSecondsMax = 30
    /// What is still read of a refused body so that its sender gets to read the answer, in bytes and seconds: a connection that is closed
    /// with something unread takes the answer with it.
    private static let discardedBytesMax = 4 << 20
    private static let discardingSecondsMax = 5

    package let method: HTTPRequest.Method
    package let path: String
    package let query: Query
    /// Those that `Header.ofRequests` names.
    package private(set) var headers: HTTPFields = [:]
    /// What the client calls us, with the port.
    package let host: String?
    package let isSecure: Bool
    package let peerAddress: String
    package private(set) var body: [UInt8] = []
    /// Why the request is not taken, and its body not read. The connection ends after the answer, because what follows is not the next request.
    package private(set) var fault: Fault?

    package enum Fault {
        case bodyInChunks, bodyTooBig, bodyTooSlow
        /// The request came right behind another one. lws reads such a body from the wrong place.
        case bodyUnasked
        /// Too many other bodies are being read.
        case noRoom
        /// The path or query has an encoded line end. lws takes it for the end of the request line, and what follows for a header: another
        /// path. It is known by the version, which is missing then, or cut off (`HeaderLimits`).
        case pathCutOff
    }

    private unowned let loop: Loop
    private var wsi: OpaquePointer?
    /// When the body must be there.
    private let deadline: Instant
    /// The client asks for nothing more on this connection. Told so in the answer (RFC 9112 section 9.6) it does not try, which it may if
    /// it has not yet seen the end.
    private let isLastAsked: Bool
    /// A method that usually has a body came without a word on its length: lws would take the next request for it.
    private var isLengthUnknown = false
    private var stage = Stage.reading
    private var repetitions = 0
    /// Whoever hands over sees to it that the answer is begun.
    private var isHandingOver = false
    private var watch: WritableWatch?
    private var discardedBytes = 0
    private var discardsUntil: Instant?

    private enum Stage {
        case reading
        /// The request has been handed over.
        case waiting
        case writing(HTTPServerResponse, Progress)
        /// All of the answer is lws's, some of which has to wait for the socket.
        case flushing
        case written
        /// The connection ends as soon as lws lets it.
        case ending
    }

    /// How much of an answer has left: nothing, or the head and so many bytes of the body.
    private enum Progress {
        case nothing, body(Int)
    }

    init(wsi: OpaquePointer, loop: Loop, method: String, path: String, peerAddress: String) {
        unsafe self.wsi = unsafe wsi
        self.loop = loop
        self.method = HTTPRequest.Method(method) ?? .get
        self.path = path
        self.peerAddress = peerAddress
        query = unsafe Query(of: wsi)
        host = unsafe Header.host.text(of: wsi)
        isSecure = unsafe lws_is_ssl(wsi) != 0
        deadline = loop.now + loop.bodyTimeout
        isLastAsked = unsafe Header.connection.items(of: wsi).contains { $0.lowercased() == "close" }
        super.init()
        for (name, header) in Header.ofRequests { headers[name] = unsafe header.text(of: wsi) }
        for name in Header.customOfRequests { headers[name] = unsafe Header.custom(name.canonicalName, of: wsi) }
    }

    /// Answers. Only the first answer counts.
    package func respond(_ response: HTTPServerResponse) {
        guard case .waiting = stage else { return }
        stage = .writing(response, .nothing)
        if !isHandingOver { goOnOrEnd() }
    }

    // MARK: What lws tells (see Callback)

    /// The head is there.
    ///
    /// - Returns: whether the request is whole, because nothing comes behind its head or nothing of it is wanted.
    func readHead() -> Bool {
        guard let wsi = unsafe wsi else { return false }
        let lengthText = unsafe Header.contentLength.text(of: wsi)
        // More digits than lws reads would be one length to it and another to us.
        let length = lengthText.map { $0.utf8.count <= 10 ? Int($0) ?? -1 : -1 } ?? 0
        if unsafe Header.isPathCutOff(in: wsi) {
            fault = .pathCutOff
        } else if unsafe Header.transferEncoding.text(of: wsi) != nil {
            // lws waits for ever for the end of a chunked body.
            fault = .bodyInChunks
        } else if !(0...Self.bodyBytesMax ~= length) {
            fault = .bodyTooBig
        } else if length > 0, loop.isServingWhatStayed {
            fault = .bodyUnasked
        }
        isLengthUnknown = lengthText == nil && method != .get && method != .head && method != .delete && method != .options
        return length == 0 || fault != nil
    }

    /// The request is there whole. lws says so twice of a body of no bytes.
    ///
    /// - Returns: false to end the connection.
    func handOver(to owner: any SocketOwner) -> Bool {
        // Behind the answer: the end of a body that was refused.
        if case .written = stage { return fault == nil }
        guard case .reading = stage, let wsi = unsafe wsi else {
            // Said again and again, it is lws's endless loop over what it takes for more of the body.
            repetitions += 1
            return repetitions < 8
        }
        stage = .waiting
        if fault == nil { unsafe lws_rx_flow_control(wsi, 0) }
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, Int32(Self.answerSecondsMax))
        isHandingOver = true
        owner.handle(self)
        isHandingOver = false
        return goOn()
    }

    /// - Returns: false to end the connection.
    func append(_ piece: UnsafeRawBufferPointer, owner: any SocketOwner) -> Bool {
        guard case .reading = stage else {
            discardedBytes += piece.count
            return discardedBytes <= Self.discardedBytesMax && discardsUntil.map { loop.now <= $0 } ?? true
        }
        if body.count + piece.count > Self.bodyBytesMax {
            fault = .bodyTooBig
        } else if loop.now > deadline {
            fault = .bodyTooSlow
        } else if !loop.takeBodyBytes(piece.count) {
            fault = .noRoom
        } else {
            unsafe body.append(contentsOf: piece)
            return true
        }
        return handOver(to: owner)
    }

    /// Writes as much of the answer as the socket takes, if there is one.
    ///
    /// - Returns: false to end the connection.
    func goOn() -> Bool {
        guard let wsi = unsafe wsi else { return true }
        switch stage {
        case .reading, .waiting, .written: return true
        case .ending: return false
        case .writing(let response, .nothing):
            guard unsafe response.writeHead(to: wsi, isLast: fault != nil || isLengthUnknown || isLastAsked) else { return false }
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

    private func goOnOrEnd() {
        guard !goOn(), let wsi = unsafe wsi else { return }
        stage = .ending
        unsafe lws_rx_flow_control(wsi, 1)
        unsafe lws_callback_on_writable(wsi)
    }

    private enum Flush {
        case done, waits, broken
    }

    /// Has lws write what it had to keep.
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
        if watch == nil { watch = unsafe loop.watchWritable(wsi) { [unowned self] in goOnOrEnd() } }
        return watch != nil
    }

    private func finish(_ wsi: OpaquePointer) -> Bool {
        stage = .written
        release()
        switch fault {
        case nil:
            guard !isLengthUnknown, !isLastAsked else { return false }
            unsafe lws_rx_flow_control(wsi, 1)
            return unsafe lws_http_transaction_completed(wsi) == 0
        case .bodyTooBig, .bodyTooSlow, .noRoom:
            discardsUntil = loop.now + .seconds(Self.discardingSecondsMax)
            unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, Int32(Self.discardingSecondsMax))
            return true
        case .bodyInChunks, .bodyUnasked, .pathCutOff:
            return false
        }
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
