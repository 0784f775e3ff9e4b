internal import Wire

/// One WebSocket on a loop's thread: whole messages in, whole messages out, one close with a reason.
///
/// Created at the upgrade, or when an outgoing connection starts. Its `EdgeConnection` holds it until the end, so the delegate may drop its own
/// reference at any time. Everything here is called on the loop's thread.
///
/// Writes are immediate where the socket takes them. While `isCongested`, write nothing more until `SocketDelegate.writable(_:)`.
@safe package final class Connection {
    package enum Phase: Hashable {
        case connecting, open, closing, closed
    }

    /// The delegate's index for this connection, so that no lookup is needed per message.
    package var slot: Int {
        get { unsafe uncheckedSlot }
        set { unsafe uncheckedSlot = newValue }
    }
    /// An object that the delegate keeps between `admit` and `opened`.
    package var context: AnyObject?
    package internal(set) var phase: Phase {
        get { unsafe uncheckedPhase }
        set { unsafe uncheckedPhase = newValue }
    }

    // Read for every frame, so exclusivity is not checked at run time.
    @exclusivity(unchecked) private var uncheckedSlot = -1
    @exclusivity(unchecked) private var uncheckedPhase = Phase.connecting
    /// Not retained, for frames: a loop closes its connections before it ends.
    package unowned(unsafe) let loop: Loop
    /// Where messages go to and come from; nil before the upgrade and after the end.
    @exclusivity(unchecked) private(set) var link: Link?
    @exclusivity(unchecked) private(set) var framer: WebSocketFramer
    @exclusivity(unchecked) var deferred = DeferredMessages()
    private let media: Unmanaged<MediaReceiver>
    package private(set) var tcp: TCPSocket
    var control = ControlFrames()

    /// Neither is retained: the edge holds this connection and the stream.
    @safe struct Link {
        let edge: Unmanaged<EdgeConnection>
        let stream: Unmanaged<ByteStream>
    }

    init(loop: Loop, isServer: Bool, tcp: TCPSocket) {
        unsafe self.loop = loop
        self.tcp = tcp
        unsafe media = unsafe Unmanaged.passUnretained(loop.mediaReceiver)
        unsafe framer = WebSocketFramer(role: isServer ? .server : .client)
    }

    /// The code of the peer's CLOSE frame.
    package var peerCloseCode: UInt16? { control.peerCode }

    private var isServer: Bool { unsafe framer.maskBit != 0 }

    /// For everything but frames.
    var edge: EdgeConnection? { unsafe link?.edge.takeUnretainedValue() }

    // MARK: Sending

    /// Whether bytes of an earlier write still wait for the socket.
    package var isCongested: Bool { unsafe link.map { unsafe $0.stream._withUnsafeGuaranteedRef { $0.isCongested } } ?? true }

    /// Bytes that must be writable before a message given to `write(binary:count:)`: of the longest header (RFC 6455 section 5.2).
    package static var headroom: Int { 16 }

    /// Writes one binary message that has `headroom` writable bytes before it, and gives it to the kernel as far as it
    /// takes it. The WebSocket header goes into the headroom (and a client's mask over the message itself).
    ///
    /// - Parameters:
    ///   - withTurn: leave together with everything else written in this turn of the loop.
    ///   - ping: the payload of a ping that leaves with the message.
    /// - Returns: false if the connection is dead; it then closes by itself.
    @discardableResult
    package func write(
        binary message: UnsafeMutableRawPointer, count: Int, withTurn: Bool = false, followedByPing ping: UInt32? = nil
    ) -> Bool {
        unsafe write(message, count, .binary, withTurn ? .turn : .batch, followedByPing: ping)
    }

    @discardableResult
    package func write(text: [UInt8]) -> Bool {
        unsafe text.withUnsafeBytes { unsafe write(copying: $0, .text, .turn) }
    }

    /// Writes one text message that has `headroom` writable bytes before it.
    ///
    /// - Parameter patience: milliseconds for which the message may wait for another one to leave with; the loop looks every 20 ms.
    @discardableResult
    package func write(text message: UnsafeMutableRawPointer, count: Int, patience: UInt8) -> Bool {
        unsafe write(message, count, .text, patience == 0 ? .turn : .delayed(milliseconds: patience))
    }

    /// Writes one binary message that has no headroom of its own.
    @discardableResult
    package func write(binary message: [UInt8]) -> Bool {
        unsafe message.withUnsafeBytes { unsafe write(copying: $0, .binary, .batch) }
    }

    /// Sends a WebSocket ping, unless earlier bytes still wait. The pong goes to `SocketDelegate.ponged`.
    ///
    /// - Parameter number: the payload, four bytes, big-endian.
    @discardableResult
    package func ping(_ number: UInt32) -> Bool {
        guard phase == .open, !isCongested else { return false }
        return unsafe withUnsafeBytes(of: number.bigEndian) { unsafe write(copying: $0, .ping, .batch) }
    }

    /// Requests one call of `SocketDelegate.writable(_:)` once the socket takes bytes again.
    package func askForWritable() {
        guard phase == .open || phase == .closing, let edge else { return }
        edge.wantsWritable = true
        edge.updateWatch()
    }

    /// Pauses or resumes reading; meanwhile the peer's bytes stay in the kernel. For tests of a peer that does not read.
    package func setReading(_ reads: Bool) {
        edge?.setReading(reads)
    }

    func write(copying bytes: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode, _ timing: FlushTiming) -> Bool {
        unsafe write(loop.scratch.copy(bytes), bytes.count, opcode, timing)
    }

    private func write(
        _ message: UnsafeMutableRawPointer, _ count: Int, _ opcode: WebSocketOpcode, _ timing: FlushTiming,
        followedByPing ping: UInt32? = nil
    ) -> Bool {
        guard phase == .open || (phase == .closing && opcode == .text && !control.isCloseWritten) else { return false }
        let frame = unsafe frame(opcode, message, count)
        // A client's ping would need a mask; only servers send one along.
        return unsafe send(frame, timing, followedByPing: ping)
    }

    /// Writes a frame's header into the headroom of its payload; a client also masks the payload.
    func frame(_ opcode: WebSocketOpcode, _ payload: UnsafeMutableRawPointer, _ count: Int) -> UnsafeRawBufferPointer {
        let start: UnsafeMutableRawPointer
        if isServer {
            unsafe start = unsafe WebSocketFramer.writeHeader(opcode, payloadCount: count, before: payload)
        } else {
            let mask = unsafe loop.scratch.nextMask()
            unsafe start = unsafe WebSocketFramer.writeMaskedHeader(opcode, payloadCount: count, before: payload, mask: mask)
        }
        return unsafe UnsafeRawBufferPointer(start: start, count: payload + count - start)
    }

    private func send(_ frame: UnsafeRawBufferPointer, _ timing: FlushTiming, followedByPing ping: UInt32?) -> Bool {
        switch timing {
        case .turn where unsafe putOff(frame, ping): return true
        case .delayed(let milliseconds) where unsafe putOff(frame, ping, milliseconds): return true
        case .batch where unsafe (loop.isBatch || !deferred.isEmpty) && putOff(frame, ping):
            // Earlier messages wait for the end of the turn; this one takes them along now.
            if unsafe !loop.isBatch { flushDeferred() }
            return true
        default: break
        }
        flushDeferred()
        return unsafe writeNow(frame, followedByPing: ping)
    }

    func writeNow(_ bytes: UnsafeRawBufferPointer, followedByPing ping: UInt32? = nil) -> Bool {
        guard let link = unsafe link else { return false }
        return unsafe link.edge._withUnsafeGuaranteedRef { unsafe $0.write(bytes, followedByPing: ping) }
    }

    // MARK: Receiving

    func opened(on edge: EdgeConnection) {
        tcp = edge.tcp
        attach(to: edge)
        phase = .open
        unsafe loop.delegate.opened(self)
    }

    /// The edge has replaced its stream.
    func streamChanged() {
        if let edge { attach(to: edge) }
    }

    private func attach(to edge: EdgeConnection) {
        unsafe link = unsafe Link(edge: Unmanaged.passUnretained(edge), stream: Unmanaged.passUnretained(edge.stream))
        edge.setHints(of: self)
    }

    func receive(_ content: UnsafeMutableRawBufferPointer) {
        var rest = unsafe content
        while let event = unsafe framer.next(in: &rest) {
            switch event {
            case .binary(let message):
                if phase == .open { unsafe media._withUnsafeGuaranteedRef { unsafe $0.receive(message, from: self) } }
            case .text(let message): if phase == .open { unsafe loop.delegate.received(text: message, from: self) }
            case .pong(let payload): if phase == .open { unsafe loop.delegate.ponged(payload, from: self) }
            case .ping(let payload): unsafe owePong(Array(payload))
            case .close(let code): return peerClosed(code)
            case .violation(let reason): return refuse(reason)
            }
            if phase == .closed { return }
        }
    }

    /// Everything that was written has left.
    func becameWritable() {
        edge?.wantsWritable = false
        unsafe loop.delegate.writable(self)
        writeControl()
    }

    // MARK: The end

    /// The edge has ended, or there never was one.
    ///
    /// - Parameter failure: why an outgoing connection was not established.
    func ended(_ failure: ConnectionFailure? = nil) {
        guard phase != .closed else { return }
        let wasConnecting = phase == .connecting
        phase = .closed
        unsafe link = nil
        unsafe deferred = DeferredMessages()
        if wasConnecting, !isServer { return unsafe loop.delegate.failed(self, failure ?? ConnectionFailure(message: "closed")) }
        unsafe loop.delegate.closed(self, control.reason.map(ConnectionEnd.closed) ?? .lost)
    }
}
