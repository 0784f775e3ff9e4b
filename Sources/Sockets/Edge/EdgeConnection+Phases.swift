internal import Glibc
internal import Wire

extension EdgeConnection {
    /// The content that a connection carries, and its receiver.
    enum Phase {
        case requests(RequestPhase)
        case client(OutgoingRequest)
        case webSocket(Connection)
        case tunnel(TunnelEnd)
        /// Nothing is passed on any more. Unsent bytes are sent, then this side of the socket is ended and input is discarded until the peer
        /// ends its own, because closing a socket with unread bytes resets the connection and the peer may lose what it was sent.
        case ending(Ending)
        case closed
    }

    struct Ending {
        var hasEndedOutput = false
        private var discardedBytes = 0

        /// How much input is discarded while a connection ends, in bytes.
        private static var discardedBytesMax: Int { 4 << 20 }

        /// - Returns: false if that was too much.
        mutating func discard(_ count: Int) -> Bool {
            discardedBytes += count
            return discardedBytes <= Self.discardedBytesMax
        }
    }

    /// The phase that a connection is in. A frame reads one of the two references and not the phase.
    @safe struct CurrentPhase {
        private(set) var phase: Phase
        /// The connection of `Phase.webSocket`, for frames: not retained, because the phase holds it.
        private(set) var webSocket: Unmanaged<Connection>?
        /// The same for `Phase.tunnel`.
        private(set) var tunnel: Unmanaged<TunnelEnd>?

        init(_ phase: Phase) {
            self.phase = phase
        }

        /// - Returns: the phase before.
        @discardableResult
        mutating func enter(_ next: Phase) -> Phase {
            let before = phase
            phase = next
            unsafe (webSocket, tunnel) = (nil, nil)
            switch next {
            case .webSocket(let connection): unsafe webSocket = unsafe Unmanaged.passUnretained(connection)
            case .tunnel(let end): unsafe tunnel = unsafe Unmanaged.passUnretained(end)
            default: break
            }
            return before
        }
    }
}

// MARK: The upgrade

extension EdgeConnection {
    /// The upgrade is done.
    func begin(_ connection: Connection) {
        setDeadline(after: nil)
        unsafe current.enter(.webSocket(connection))
        wantsWritable = false
        takeover.want()
        continueTakeover()
        connection.opened(on: self)
    }

    /// The upgrade has been forwarded: from now on this connection's bytes go to another one.
    func begin(_ end: TunnelEnd) {
        setDeadline(after: nil)
        unsafe current.enter(.tunnel(end))
        wantsWritable = false
        noticesHangup = true
        takeover.want()
        continueTakeover()
        setReading(true)
    }

    /// TLS has made progress, before or shortly after the upgrade.
    func continueHandshakes() {
        switch unsafe current.phase {
        case .requests(let requests): if isHandshakeDone { noteHandshake(of: requests) }
        case .client(let upgrade): upgrade.advance()
        case .webSocket, .tunnel: continueTakeover()
        default: break
        }
    }

    /// Gives the client time for its first request. Called before that request is read: it may have arrived with the end of the handshake,
    /// and then its body and response have their own deadlines.
    func noteHandshake(of requests: RequestPhase) {
        guard !requests.isHandshakeDone else { return }
        requests.isHandshakeDone = true
        unsafe setDeadline(after: .seconds(loop.settings.handshakeSecondsMax))
    }

    /// A client speaks without TLS on a port with it, and gets an HTTP error.
    func replaceTLS() {
        let plain = unsafe ByteStream(descriptor: stream.descriptor, buffers: loop.buffers)
        unsafe plain.arrived = unsafe stream.arrived
        unsafe stream = plain
        takeover.settle()
        if case .requests(let requests) = unsafe current.phase { requests.isSecure = false }
    }

    /// Replaces OpenSSL by `RecordStream` if it has nothing under way.
    private func continueTakeover() {
        let before = unsafe stream
        guard let records = unsafe takeover.advance(before, with: loop.settings.fastPath, isServer: arrival.peer != nil) else { return }
        unsafe stream = records
        switch unsafe current.phase {
        case .webSocket(let connection): connection.streamChanged()
        case .tunnel(let end): end.streamChanged()
        default: break
        }
        (before as? OpenSSLStream)?.release()
    }
}

// MARK: The end

extension EdgeConnection {
    /// Closes the sending side once pending output has been written. Receiving goes on.
    func endContent() {
        unsafe isOutputOpen = false
        unsafe stream.end()
        updateWatch()
    }

    /// Ends the connection after what has been written, giving the peer this long to end its side.
    func end(within span: Duration) {
        guard !hasEnded else { return }
        let before = unsafe current.enter(.ending(Ending()))
        unsafe isOutputOpen = false
        unsafe loop.noteEnded(before)
        unsafe stream.end()
        setDeadline(after: span)
        unsafe watch.setReading(true)
        if unsafe !stream.isCongested { endOutput() }
        updateWatch()
    }

    /// Everything has left: ends this side, and the connection if the peer has ended its own.
    func endOutput() {
        guard case .ending(var ending) = unsafe current.phase, !ending.hasEndedOutput else { return }
        ending.hasEndedOutput = true
        unsafe current.enter(.ending(ending))
        tcp.endWriting()
        if !isInputOpen { fail() }
    }

    /// Discards input that is no longer needed.
    func discard(_ count: Int, _ ending: Ending) {
        var ending = ending
        let mayGoOn = ending.discard(count)
        unsafe current.enter(.ending(ending))
        if !mayGoOn { fail() }
    }

    /// Closes the connection at once: it is broken, or is to look like it.
    func fail() {
        guard !isClosed else { return }
        let before = unsafe current.enter(.closed)
        unsafe isOutputOpen = false
        setDeadline(after: nil)
        unsafe watch.close()
        Glibc.close(unsafe stream.descriptor)
        unsafe loop.noteEnded(before)
        unsafe loop.remove(self)
    }

    /// Breaks a tunnel or a forward to a node.
    ///
    /// - Parameter name: nil for any.
    func breakTunnel(to name: String?) {
        switch unsafe current.phase {
        case .tunnel(let end): if name == nil || end.name == name { fail() }
        case .client(let forward as Forward): if name == nil || forward.name == name { forward.fail(.ended) }
        default: break
        }
    }

    func setDeadline(after span: Duration?) {
        if isClosed, span != nil { return }
        unsafe loop.set(span.map { unsafe loop.now + $0 }, of: self)
    }

    func expired() {
        switch unsafe current.phase {
        case .requests(let requests): requests.expired()
        case .client(let request): request.expired()
        case .webSocket(let connection): connection.closeExpired()
        case .tunnel, .ending, .closed: fail()
        }
    }
}
