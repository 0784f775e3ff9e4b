internal import CLibwebsockets
package import Wire

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
    package var phase: Phase { unsafe uncheckedPhase }

    // Read for every frame, so exclusivity is not checked at run time.
    @exclusivity(unchecked) private var uncheckedSlot = -1
    @exclusivity(unchecked) private var uncheckedPhase = Phase.connecting
    /// Not retained, for frames: a loop closes its connections before it ends.
    package unowned(unsafe) let loop: Loop
    /// Where messages go to and come from; nil before the upgrade and after the end. Not retained: the edge holds this connection.
    @exclusivity(unchecked) private var edge: Unmanaged<EdgeConnection>?
    /// The edge's.
    @exclusivity(unchecked) private var stream: Unmanaged<ByteStream>?
    @exclusivity(unchecked) private var framer: WebSocketFramer
    @exclusivity(unchecked) var deferred = DeferredMessages()
    private let media: Unmanaged<MediaReceiver>
    package let isServer: Bool
    package private(set) var tcp: TCPSocket
    private var control = ControlFrames()
    /// Why an outgoing connection was not established.
    var failure: ConnectionFailure?

    /// The state of the control frames to send and of those received (RFC 6455 section 5.5).
    private struct ControlFrames {
        /// The payload of the last ping that was not answered yet.
        var pong: [UInt8]?
        /// Of this side's close. Set once, by the first close.
        var reason: CloseReason?
        /// This side's CLOSE frame has been written.
        var isCloseWritten = false
        /// The code of the peer's CLOSE frame.
        var peerCode: UInt16?
    }

    init(loop: Loop, isServer: Bool, tcp: TCPSocket) {
        unsafe self.loop = loop
        self.isServer = isServer
        self.tcp = tcp
        unsafe media = unsafe Unmanaged.passUnretained(loop.mediaReceiver)
        unsafe framer = WebSocketFramer(role: isServer ? .server : .client)
    }

    /// The code of the peer's CLOSE frame.
    package var peerCloseCode: UInt16? { control.peerCode }

    // MARK: Sending

    /// Whether bytes of an earlier write still wait for the socket.
    package var isCongested: Bool { unsafe stream.map { unsafe $0._withUnsafeGuaranteedRef { $0.isCongested } } ?? true }

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
        guard phase == .open || phase == .closing, let edge = unsafe edge?.takeUnretainedValue() else { return }
        edge.wantsWritable = true
        edge.updateWatch()
    }

    /// Pauses or resumes reading; meanwhile the peer's bytes stay in the kernel. For tests of a peer that does not read.
    package func setReading(_ reads: Bool) {
        unsafe edge?.takeUnretainedValue().setReading(reads)
    }

    private func write(copying bytes: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode, _ timing: FlushTiming) -> Bool {
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
    private func frame(_ opcode: WebSocketOpcode, _ payload: UnsafeMutableRawPointer, _ count: Int) -> UnsafeRawBufferPointer {
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

    private func writeNow(_ bytes: UnsafeRawBufferPointer, followedByPing ping: UInt32? = nil) -> Bool {
        guard let edge = unsafe edge else { return false }
        return unsafe edge._withUnsafeGuaranteedRef { unsafe $0.write(bytes, followedByPing: ping) }
    }

    /// Keeps a message to leave together with others.
    ///
    /// - Returns: false if it has to leave at once.
    private func putOff(_ frame: UnsafeRawBufferPointer, _ ping: UInt32?, _ milliseconds: UInt8? = nil) -> Bool {
        let deadline = milliseconds.map { unsafe loop.now.advanced(byNanoseconds: Int64($0) * 1_000_000) }
        guard !isCongested, unsafe deferred.append(frame, followedByPing: ping, until: deadline) else { return false }
        if unsafe deferred.deadline == nil { unsafe loop.flushAtTurnEnd(self) } else { unsafe loop.flushOnTimer(self) }
        return true
    }

    /// - Returns: whether nothing waits for the socket.
    @discardableResult
    func flushDeferred() -> Bool {
        guard unsafe !deferred.isEmpty else { return true }
        let bytes = unsafe deferred.take()
        return unsafe bytes.withUnsafeBytes { unsafe writeNow($0) }
    }

    /// The end of a batch or turn: messages that may not wait longer leave, then control frames.
    func finishTurn() {
        unsafe deferred.isOnTurnList = false
        if unsafe deferred.deadline == nil { flushDeferred() }
        writeControl()
    }

    /// - Returns: whether messages still wait for it.
    func finishTimer(before next: Instant) -> Bool {
        if let deadline = unsafe deferred.deadline, deadline >= next { return true }
        unsafe deferred.isOnTimerList = false
        flushDeferred()
        return false
    }

    // MARK: Prefetching

    /// The memory that a frame to this connection reads (`PrefetchHints`).
    ///
    /// - Parameters:
    ///   - sender: the address of the sender's state; `track`, of its track's.
    ///   - subscriber: the address of the subscriber's state.
    package func prefetchHints(sender: UInt, track: UInt, subscriber: UInt) -> PrefetchHints? {
        guard let stream = unsafe stream else { return nil }
        return unsafe PrefetchHints(
            sender: sender, track: track, subscriber: subscriber,
            connection: UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), stream: UInt(bitPattern: stream.toOpaque()),
            cipher: stream._withUnsafeGuaranteedRef { $0.sealingAddress })
    }

    /// The next message from this connection will read this memory.
    package func prefetch(_ hints: PrefetchHints) {
        unsafe edge?._withUnsafeGuaranteedRef { $0.prefetch(hints) }
    }

    package func prefetch(_ step: PrefetchHints.Step) {
        switch step {
        case .itself: PrefetchHints.fetch(unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), lines: 3)
        case .stream:
            guard let stream = unsafe stream else { return }
            PrefetchHints.fetch(unsafe UInt(bitPattern: stream.toOpaque()), lines: PrefetchHints.streamLines)
        case .cipher:
            guard let stream = unsafe stream else { return }
            PrefetchHints.fetch(unsafe stream._withUnsafeGuaranteedRef { $0.sealingAddress }, lines: PrefetchHints.cipherLines)
        }
    }

    // MARK: Receiving

    func opened(on edge: EdgeConnection) {
        unsafe self.edge = unsafe Unmanaged.passUnretained(edge)
        tcp = edge.tcp
        streamChanged()
        unsafe uncheckedPhase = .open
        unsafe loop.delegate.opened(self)
    }

    func streamChanged() {
        guard let edge = unsafe edge?.takeUnretainedValue() else { return }
        unsafe stream = unsafe Unmanaged.passUnretained(edge.stream)
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

    func inputEnded() {
        // A peer that has ended its side may not be reading either.
        unsafe edge?.takeUnretainedValue().end(within: Self.lingerSpan)
    }

    func becameWritable() {
        unsafe edge?.takeUnretainedValue().wantsWritable = false
        unsafe loop.delegate.writable(self)
        writeControl()
    }

    // MARK: Control frames

    /// Of several pings before the socket takes a pong, only the last is answered (RFC 6455 section 5.5.3).
    private func owePong(_ payload: [UInt8]) {
        guard phase == .open else { return }
        control.pong = payload
        unsafe loop.flushAtTurnEnd(self)
    }

    /// Writes the pong and the CLOSE frame that are due, once everything before them has left.
    private func writeControl() {
        guard control.pong != nil || (control.reason != nil && !control.isCloseWritten), !isCongested else { return }
        if phase == .open, let payload = control.pong {
            control.pong = nil
            _ = unsafe payload.withUnsafeBytes { unsafe write(copying: $0, .pong, .now) }
        }
        if control.reason != nil { writeClose() }
    }

    /// Writes the CLOSE frame: with the reason of this side, otherwise with code and reason of the peer's (RFC 6455 section 5.5.1).
    private func writeClose() {
        guard !control.isCloseWritten else { return }
        control.isCloseWritten = true
        flushDeferred()
        let payload = unsafe control.reason.map { WebSocketFramer.closePayload($0.code, $0.phrase) } ?? framer.receivedClosePayload
        _ = unsafe payload.withUnsafeBytes { unsafe writeNow(frame(.close, loop.scratch.copy($0), $0.count)) }
    }

    // MARK: Closing

    /// Time for what was written before a close, and for the peer's CLOSE frame. A peer on a slow line needs seconds for a full send buffer.
    private static let closeSpan: Duration = .seconds(4)
    /// How long a peer may take to end its side, after the closing handshake or a violation.
    private static let lingerSpan: Duration = .milliseconds(500)

    /// Closes with a code after what has been written so far, at once or within `closeSpan` if the peer does not read.
    /// Only the first reason counts.
    package func close(_ reason: CloseReason) {
        guard phase != .closed, control.reason == nil else { return }
        control.reason = reason
        guard let edge = unsafe edge?.takeUnretainedValue() else { return }
        unsafe uncheckedPhase = .closing
        edge.setDeadline(after: Self.closeSpan)
        unsafe loop.flushAtTurnEnd(self)
    }

    /// Ends the connection without a CLOSE frame, as a broken network would.
    package func abort() {
        unsafe edge?.takeUnretainedValue().fail()
    }

    /// The peer has violated the protocol. The messages before it have been delivered.
    private func refuse(_ reason: CloseReason) {
        guard let edge = unsafe edge?.takeUnretainedValue() else { return }
        if control.reason == nil {
            unsafe loop.delegate.refused(reason, on: self)
            control.reason = reason
        }
        unsafe uncheckedPhase = .closing
        writeClose()
        edge.end(within: Self.lingerSpan)
    }

    /// The closing handshake is answered if it is the peer's, and done in any case.
    private func peerClosed(_ code: UInt16) {
        guard let edge = unsafe edge?.takeUnretainedValue() else { return }
        control.peerCode = code
        unsafe uncheckedPhase = .closing
        writeClose()
        edge.end(within: Self.lingerSpan)
    }

    /// The peer has not taken part in the closing handshake in time.
    func closeExpired() {
        if control.reason != nil { writeClose() }
        unsafe edge?.takeUnretainedValue().end(within: Self.lingerSpan)
    }

    func ended() {
        guard phase != .closed else { return }
        let wasConnecting = phase == .connecting
        unsafe uncheckedPhase = .closed
        unsafe (edge, stream) = (nil, nil)
        unsafe deferred = DeferredMessages()
        if wasConnecting, !isServer { return unsafe loop.delegate.failed(self, failure ?? ConnectionFailure(message: "closed")) }
        unsafe loop.delegate.closed(self, control.reason.map(ConnectionEnd.closed) ?? .lost)
    }
}
