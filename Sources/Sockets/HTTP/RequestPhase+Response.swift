internal import CLibwebsockets
internal import HTTPTypes
internal import Wire

/// The way of one request through libwebsockets, and of its response to the client.
extension RequestPhase {
    /// Has libwebsockets read the head of the request, which is complete.
    func serve() {
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
        if !input.isEmpty { edge.fail() }
    }

    private static let switching = Array("HTTP/1.1 101 ".utf8)

    func received(_ head: RequestHead) -> ReceivedRequest {
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

    /// Gives the client time for the next piece of the response.
    func progressed() {
        if let loop { awaitClient(for: loop.settings.transferTimeout) }
    }

    /// How long an idle connection is kept for its next request, in seconds.
    private static var idleSecondsMax: Int64 { 30 }

    private func awaitClient(for span: Duration) {
        unacknowledgedBytes = edge?.tcp.unacknowledgedBytes ?? 0
        edge?.setDeadline(after: span)
    }

    /// Whether the client has acknowledged a piece of the response since the deadline was set. The socket does not tell: its send buffer
    /// holds megabytes, and it becomes writable only once much of that is acknowledged.
    var hasClientProgressed: Bool {
        guard let bytes = edge?.tcp.unacknowledgedBytes else { return false }
        return unacknowledgedBytes - bytes >= HTTPExchange.pieceBytesMax
    }

    /// All of the response has been passed on.
    func answered(isLast: Bool) {
        guard let edge, let request = current else { return }
        loop?.bodies.giveBack(request.body.count)
        request.library?.close()
        current = nil
        if isLast { return edge.end(within: .seconds(Self.endSecondsMax)) }
        awaitClient(for: .seconds(Self.idleSecondsMax))
        edge.setReading(true)
        guard !isReading else { return }
        // The next request does not start within a call of libwebsockets.
        if !input.isEmpty { continueLater() } else if !edge.isInputOpen { inputEnded() }
    }

    /// libwebsockets has ended the request: after the refusal of an upgrade, or before a response was complete.
    func libraryEnded() {
        guard let edge, current != nil, current?.admitted == nil else { return }
        drain()
        edge.end(within: .seconds(Self.endSecondsMax))
    }
}
