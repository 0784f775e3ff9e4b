internal import CLibwebsockets
internal import HTTPTypes
internal import Wire

/// The requests of one connection until its upgrade: one at a time through `RequestGate`, then through libwebsockets.
///
/// Bytes that arrive while a request is under way wait here, up to `waitingBytesMax`; the rest stays in the kernel.
@safe final class RequestPhase {
    weak var edge: EdgeConnection?
    /// The connection arrived over TLS, or at a listener that has none.
    var isSecure: Bool
    /// TLS is established, and the client has time for a request.
    var isHandshakeDone = false
    private var gate = RequestGate()
    /// Received and not read yet.
    private var waiting: ArraySlice<UInt8> = []
    private var current: Request?
    private var isReading = false
    /// Bytes of the response that the client had not acknowledged when the deadline was set.
    private var unacknowledgedBytes = 0
    /// A request was refused; everything behind it is discarded.
    private var isOver = false
    private(set) var hasHadARequest = false

    /// The request whose head has been read.
    private struct Request {
        let head: RequestHead
        var body: [UInt8] = []
        /// When the body must be complete.
        var bodyDeadline: Instant
        /// Made for an upgrade only.
        var received: ReceivedRequest?
        /// The delegate decides on the upgrade.
        var held: HeldUpgrade?
        /// Once the request is complete.
        var library: LibraryRequest?
        var exchange: HTTPExchange?
        var fault: HTTPExchange.Fault?
        /// The WebSocket that libwebsockets was told to upgrade to.
        var admitted: Connection?
    }

    private static var waitingBytesMax: Int { 1 << 15 }
    /// How long an idle connection is kept for its next request, in seconds.
    private static var idleSecondsMax: Int64 { 30 }
    /// The time for a client to take the end of a response after which the connection ends, in seconds.
    private static var endSecondsMax: Int64 { 5 }

    init(isSecure: Bool) {
        self.isSecure = isSecure
    }

    var loop: Loop? { unsafe edge?.loop }

    // MARK: Input

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard !isOver else { return }
        unsafe waiting += bytes
        read()
        if waiting.count > Self.waitingBytesMax { edge?.setReading(false) }
    }

    func inputEnded() {
        // Without a request under way there is nothing to answer.
        if current?.library == nil { edge?.end(within: .seconds(Self.endSecondsMax)) }
    }

    /// Reads requests until one is under way or more bytes are needed.
    private func read() {
        // A response that is written at once ends its request within this call.
        guard !isReading else { return }
        isReading = true
        defer { isReading = false }
        while !isOver, current?.library == nil, let edge, !edge.isClosed, let loop, let event = gate.next(in: &waiting) {
            switch event {
            case .request(let head):
                current = Request(head: head, bodyDeadline: loop.now + loop.transferTimeout)
                check(head)
                if current?.fault == nil { edge.setDeadline(after: loop.transferTimeout) }
            case .body(let piece): collect(piece, loop)
            case .end: if !hold() { serve() }
            case .fault(let fault): refuse(.malformed(fault))
            case .headTooLong:
                isOver = true
                edge.end(within: .seconds(Self.endSecondsMax))
            }
        }
        if waiting.isEmpty { waiting = [] }
        if let edge, !edge.isInputOpen { inputEnded() }
    }

    private func check(_ head: RequestHead) {
        switch head.body {
        case .none: break
        case .length(let count): if count > HTTPExchange.bodyBytesMax { refuse(.bodyTooBig) }
        case .chunked: refuse(.bodyInChunks)
        }
    }

    private func collect(_ piece: ArraySlice<UInt8>, _ loop: Loop) {
        guard let request = current, request.fault == nil else { return }
        if loop.now > request.bodyDeadline { return refuse(.bodyTooSlow) }
        guard loop.takeBodyBytes(piece.count) else { return refuse(.noRoom) }
        current?.body += piece
    }

    /// Responds with an error. The connection ends after it, because what follows is not a request.
    private func refuse(_ fault: HTTPExchange.Fault) {
        let head = current?.head ?? .refused
        if current == nil, let loop { current = Request(head: head, bodyDeadline: loop.now) }
        current?.fault = fault
        isOver = true
        waiting = []
        serve()
    }

    // MARK: An upgrade that another node may serve

    /// Asks the delegate whether the upgrade is to wait for its decision.
    ///
    /// An untrusted peer or a client without TLS where it is required is never held, because another node would take the request for ours.
    private func hold() -> Bool {
        guard let edge, let loop, let request = current, request.head.upgrades, request.fault == nil, isSecure else { return false }
        let received = received(request.head)
        current?.received = received
        guard received.source.isTrusted else { return false }
        let held = HeldUpgrade(received, of: self)
        current?.held = held
        edge.setDeadline(after: .seconds(loop.settings.holdSecondsMax))
        edge.noticesHangup = true
        if unsafe loop.delegate.hold(held) {
            hasHadARequest = true
            if !edge.hasEnded { edge.setReading(false) }
            return true
        }
        held.release()
        current?.held = nil
        edge.noticesHangup = false
        return edge.hasEnded
    }

    /// The client of the held upgrade still waits for the response.
    var hasClient: Bool { current?.held != nil && edge.map { !$0.hasEnded } == true }

    /// The upgrade is served here after all. Not at once, because the delegate may be in a call of libwebsockets.
    func serveHeld() {
        edge?.setDeadline(after: .seconds(HTTPExchange.answerSecondsMax))
        continueLater()
    }

    func refuseHeld(_ response: HTTPServerResponse) {
        isOver = true
        waiting = []
        unsafe response.refusal.withUnsafeBytes { _ = unsafe edge?.write($0) }
        edge?.end(within: .seconds(Self.endSecondsMax))
    }

    /// Passes on another node's response to the upgrade, and the connection to the tunnel.
    ///
    /// - Returns: false if the client has left.
    func join(_ home: EdgeConnection, _ response: [UInt8], _ name: String) -> Bool {
        guard let edge, hasClient else { return false }
        // A client waits for the response before it sends frames (RFC 6455 section 4.1).
        guard waiting.isEmpty, unsafe response.withUnsafeBytes({ unsafe edge.write($0) }) else {
            edge.fail()
            return false
        }
        current = nil
        TunnelEnd.join(edge, home, name)
        return true
    }

    /// The client has left while nothing is read from it.
    func hungUp() {
        if current?.held != nil { edge?.fail() }
    }

    // MARK: Through libwebsockets

    private func serve() {
        guard let edge, let loop, let request = current else { return }
        hasHadARequest = true
        guard let library = LibraryRequest(self, on: loop) else {
            loop.counters.acceptFailures += 1
            return edge.fail()
        }
        current?.library = library
        edge.setDeadline(after: .seconds(HTTPExchange.answerSecondsMax))
        let head = request.fault == nil ? request.head : .refused
        guard library.start(head.forLibrary) else { return edge.fail() }
        if let connection = current?.admitted { return upgrade(to: connection, library) }
        drain()
    }

    /// LWS_CALLBACK_HTTP_CONFIRM_UPGRADE.
    ///
    /// - Returns: whether libwebsockets is to upgrade the connection.
    func admit(_ wsi: OpaquePointer) -> Bool {
        guard let edge, let loop, let head = current?.head, head.upgrades, current?.fault == nil else { return false }
        let connection = Connection(loop: loop, isServer: true, tcp: edge.tcp)
        if let response = unsafe loop.delegate.admit(current?.received ?? received(head), as: connection) {
            unsafe response.refuseUpgrade(of: wsi)
            return false
        }
        current?.admitted = connection
        return true
    }

    /// LWS_CALLBACK_HTTP.
    func startExchange(_ wsi: OpaquePointer) {
        guard let loop, let request = current, let library = request.library else { return }
        let exchange = HTTPExchange(received(request.head), body: request.body, fault: request.fault, of: self, in: library)
        current?.exchange = exchange
        unsafe loop.delegate.handle(exchange)
    }

    /// LWS_CALLBACK_HTTP_WRITEABLE.
    func libraryBecameWritable() {
        drain()
        current?.exchange?.proceed()
    }

    /// Passes on libwebsockets' response to the upgrade, and the connection to the WebSocket.
    private func upgrade(to connection: Connection, _ library: LibraryRequest) {
        guard let edge else { return }
        var response: [UInt8] = []
        unsafe library.drain { piece in
            unsafe response.append(contentsOf: piece)
            return true
        }
        library.close()
        guard response.starts(with: Self.switching), response.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return edge.fail() }
        guard unsafe response.withUnsafeBytes({ unsafe edge.write($0) }) else { return }
        current = nil
        edge.begin(connection)
        // A client waits for the response before it sends frames (RFC 6455 section 4.1).
        if !waiting.isEmpty { edge.fail() }
    }

    private static let switching = Array("HTTP/1.1 101 ".utf8)

    private func received(_ head: RequestHead) -> ReceivedRequest {
        var source = RequestSource(entrance: .clients, address: "unknown", isTrusted: false)
        if let edge, let peer = edge.arrival.peer, let loop {
            source = loop.source(of: edge.arrival.entrance, peer, forwardedFor: head.fields[.forwardedFor])
        }
        return ReceivedRequest(head: head, source: source, isSecure: isSecure)
    }

    // MARK: The response

    /// Passes on what libwebsockets has written, as far as the client takes it.
    func drain() {
        guard let edge, let library = current?.library else { return }
        guard !edge.isCongested else { return }
        unsafe library.drain { piece in unsafe edge.write(piece) && !edge.isCongested }
    }

    /// Whether the client has taken everything that libwebsockets has written.
    var isDrained: Bool { edge.map { !$0.isCongested } ?? true }

    func becameWritable() {
        edge?.wantsWritable = false
        if let held = current?.held { return serve(held) }
        drain()
        current?.exchange?.proceed()
        if current == nil { read() }
    }

    /// The response, or the next request, continues in the next turn.
    func continueLater() {
        edge?.wantsWritable = true
        edge?.updateWatch()
    }

    private func serve(_ held: HeldUpgrade) {
        guard held.takeServing() else { return }
        current?.held = nil
        edge?.noticesHangup = false
        edge?.setReading(true)
        serve()
    }

    /// Gives the client time for the next piece of the response.
    func progressed() {
        if let loop { awaitClient(for: loop.transferTimeout) }
    }

    private func awaitClient(for span: Duration) {
        unacknowledgedBytes = edge?.tcp.unacknowledgedBytes ?? 0
        edge?.setDeadline(after: span)
    }

    /// Whether the client has acknowledged a piece of the response since the deadline was set. The socket does not tell: its send buffer
    /// holds megabytes, and it becomes writable only once much of that is acknowledged.
    private var hasClientProgressed: Bool {
        guard let bytes = edge?.tcp.unacknowledgedBytes else { return false }
        return unacknowledgedBytes - bytes >= HTTPExchange.pieceBytesMax
    }

    /// All of the response has been passed on.
    func answered(isLast: Bool) {
        guard let edge, let request = current else { return }
        loop?.giveBackBodyBytes(request.body.count)
        request.library?.close()
        current = nil
        if isLast { return edge.end(within: .seconds(Self.endSecondsMax)) }
        awaitClient(for: .seconds(Self.idleSecondsMax))
        edge.setReading(true)
        guard !isReading else { return }
        // The next request does not start within a call of libwebsockets.
        if !waiting.isEmpty { continueLater() } else if !edge.isInputOpen { inputEnded() }
    }

    /// libwebsockets has ended the request: after the refusal of an upgrade, or before a response was complete.
    func libraryEnded() {
        guard let edge, current != nil, current?.admitted == nil else { return }
        drain()
        edge.end(within: .seconds(Self.endSecondsMax))
    }

    /// The deadline has passed: of the handshake, a head, a body or a response.
    func expired() {
        if let held = current?.held, let loop { return unsafe refuseHeld(loop.delegate.unavailable(held)) }
        if let request = current, request.library == nil, request.fault == nil { return refuse(.bodyTooSlow) }
        if hasClientProgressed { return progressed() }
        edge?.fail()
    }

    func ended() {
        guard let request = current else { return }
        current = nil
        if let loop { request.held?.ended(on: loop) }
        request.exchange?.abandon()
        loop?.giveBackBodyBytes(request.body.count)
        request.library?.close()
        request.admitted?.ended()
    }
}

extension RequestHead {
    /// Stands for a request whose head could not be read.
    fileprivate static let refused: RequestHead = {
        guard let head = try? RequestHead(Array("GET / HTTP/1.1\r\nHost: -\r\nConnection: close\r\n\r\n".utf8)) else {
            preconditionFailure("a valid head is accepted")
        }
        return head
    }()
}
