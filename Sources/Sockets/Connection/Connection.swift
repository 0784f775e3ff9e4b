internal import CLibwebsockets
internal import HTTPTypes
package import Wire

/// One WebSocket connection on a loop's thread: whole messages in, whole messages out, one close with a reason.
///
/// Created at the upgrade (or when an outgoing connection starts) and alive until libwebsockets destroys its `wsi`: it holds one retained
/// reference in between, so the delegate may drop its own at any time. Everything here is called on the loop's thread.
///
/// Writes are immediate where the socket takes them. While `isCongested`, write nothing more until `SocketDelegate.writable(_:)`:
/// libwebsockets would copy what does not fit into a list of its own that has no limit.
@safe package final class Connection: Attachment {
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
    package private(set) var phase: Phase {
        get { unsafe uncheckedPhase }
        set { unsafe uncheckedPhase = newValue }
    }

    // Read for every frame, so exclusivity is not checked at run time.
    @exclusivity(unchecked) private var uncheckedSlot = -1
    @exclusivity(unchecked) private var uncheckedPhase = Phase.connecting
    /// Not retained, for frames: a loop closes its connections before it ends.
    package unowned(unsafe) let loop: Loop
    /// The handle in libwebsockets; nil once it is destroyed.
    @exclusivity(unchecked) private(set) var wsi: OpaquePointer?
    @exclusivity(unchecked) private var layer = Layer()
    private var socket = TCPSocket(descriptor: -1)
    private var assembly = MessageAssembly()
    /// The server's address of an outgoing connection.
    var endpoint: Endpoint? {
        didSet { unsafe layer.isServer = endpoint == nil }
    }
    private var control = ControlFrames()

    /// The paths of messages in and out.
    @safe private struct Layer {
        var isServer = true
        /// Writes past libwebsockets; nil where libwebsockets writes. Not retained: goes with `wsi`.
        var direct: Unmanaged<ConnectionRecordLayer>?
        /// The same object, also where it does not write. Not retained either.
        var attached: Unmanaged<ConnectionRecordLayer>?
        /// The loop's.
        let media: Unmanaged<MediaReceiver>?

        init(media: MediaReceiver? = nil) { unsafe self.media = unsafe media.map { unsafe Unmanaged.passUnretained($0) } }
    }

    /// The state of the control frames to send and of those received (RFC 6455 section 5.5).
    private struct ControlFrames {
        /// The payload of the last ping that was not answered yet.
        var pong: [UInt8]?
        /// Of this side's close. Set once, by the first close.
        var reason: CloseReason?
        var deadline: Instant?
        /// The peer broke the protocol; to be refused when the timer fires.
        var violation: CloseReason?
        /// The code of the peer's CLOSE frame.
        var peerCode: UInt16?
        /// The peer's CLOSE frame is answered with this side's.
        var isAnswered = false
    }

    init(wsi: OpaquePointer?, loop: Loop) {
        unsafe self.wsi = unsafe wsi
        unsafe self.loop = loop
        unsafe layer = Layer(media: loop.mediaReceiver)
        if let wsi = unsafe wsi { socket = unsafe TCPSocket(descriptor: lws_get_socket_fd(wsi)) }
    }

    /// Whether the peer connected to us.
    package var isServer: Bool { unsafe layer.isServer }
    package var tcp: TCPSocket { socket }
    package var peerAddress: String { socket.peerAddress }
    /// The code of the peer's CLOSE frame.
    package var peerCloseCode: UInt16? { control.peerCode }

    // MARK: Sending

    /// Whether bytes of an earlier write still wait for the socket.
    package var isCongested: Bool {
        if let direct = unsafe layer.direct { return unsafe direct._withUnsafeGuaranteedRef { $0.isCongested } }
        guard let wsi = unsafe wsi else { return true }
        return unsafe lws_partial_buffered(wsi) != 0
    }

    /// Writes one binary message that has `headroom` writable bytes before it, and gives it to the kernel as far as it
    /// takes it. The WebSocket header goes into the headroom (and a client's mask over the message itself).
    ///
    /// - Parameters:
    ///   - withTurn: leave together with everything else written in this turn of the loop.
    ///   - ping: the payload of a ping that leaves with the message; only if `pingsAlong`.
    /// - Returns: false if the connection is dead; it then closes by itself.
    @discardableResult
    package func write(
        binary message: UnsafeMutableRawPointer, count: Int, withTurn: Bool = false, followedByPing ping: UInt32? = nil
    ) -> Bool {
        unsafe write(message, count, .binary, withTurn ? .turn : .batch, followedByPing: ping)
    }

    /// Whether a ping can leave with a message. libwebsockets takes no ping while part of a message is unsent.
    package var pingsAlong: Bool { unsafe layer.isServer && layer.direct != nil }

    /// Bytes that must be writable before a message given to `write(binary:count:)`.
    package static var headroom: Int { Int(patchbay_lws_pre) }

    /// Writes one text message.
    @discardableResult
    package func write(text: [UInt8]) -> Bool {
        unsafe text.withUnsafeBytes { bytes in
            unsafe loop.withScratch(copying: bytes) { unsafe write($0, bytes.count, .text, .turn) }
        }
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
        unsafe message.withUnsafeBytes { bytes in
            unsafe loop.withScratch(copying: bytes) { unsafe write($0, bytes.count, .binary, .batch) }
        }
    }

    /// Sends a WebSocket ping, unless earlier bytes still wait. The pong goes to `SocketDelegate.ponged`.
    ///
    /// - Parameter number: the payload, four bytes, big-endian.
    @discardableResult
    package func ping(_ number: UInt32) -> Bool {
        guard phase == .open, !isCongested else { return false }
        return unsafe withUnsafeBytes(of: number.bigEndian) { bytes in
            unsafe loop.withScratch(copying: bytes) { unsafe write($0, bytes.count, .ping, .batch) }
        }
    }

    /// Requests one call of `SocketDelegate.writable(_:)` once the socket takes bytes again.
    package func askForWritable() {
        if let wsi = unsafe wsi, phase == .open || phase == .closing { unsafe lws_callback_on_writable(wsi) }
    }

    /// Pauses or resumes reading; meanwhile the peer's bytes stay in the kernel. For tests of a peer that does not read.
    package func setReading(_ reads: Bool) {
        unsafe layer.direct?._withUnsafeGuaranteedRef { $0.readThroughLibrary() }
        if let wsi = unsafe wsi { _ = unsafe lws_rx_flow_control(wsi, reads ? 1 : 0) }
    }

    private func write(
        _ message: UnsafeMutableRawPointer, _ count: Int, _ opcode: WebSocketOpcode, _ timing: FlushTiming,
        followedByPing number: UInt32? = nil
    ) -> Bool {
        guard let wsi = unsafe wsi, phase == .open || (phase == .closing && opcode == .text) else { return false }
        if unsafe layer.isServer, let direct = unsafe layer.direct {
            let isAlive = unsafe direct._withUnsafeGuaranteedRef {
                unsafe $0.write(opcode, message, count, timing, followedByPing: number)
            }
            if isAlive { return true }
        } else {
            // A short count is not an error: libwebsockets keeps the rest. A negative one is fatal.
            if unsafe lws_write(wsi, message.assumingMemoryBound(to: UInt8.self), count, opcode.lwsProtocol) >= 0 { return true }
        }
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, Int32(LWS_TO_KILL_ASYNC))
        return false
    }

    // MARK: Prefetching

    /// The memory that a frame to this connection reads (`PrefetchHints`); nil where it goes through libwebsockets.
    ///
    /// - Parameters:
    ///   - sender: the address of the sender's state; `track`, of its track's.
    ///   - subscriber: the address of the subscriber's state.
    package func prefetchHints(sender: UInt, track: UInt, subscriber: UInt) -> PrefetchHints? {
        guard let direct = unsafe layer.direct else { return nil }
        return unsafe PrefetchHints(
            sender: sender, track: track, subscriber: subscriber,
            connection: UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), records: UInt(bitPattern: direct.toOpaque()),
            cipher: direct._withUnsafeGuaranteedRef { $0.sealingCipherAddress })
    }

    /// The next message from this connection will read this memory.
    package func prefetch(_ hints: PrefetchHints) {
        unsafe layer.direct?._withUnsafeGuaranteedRef { $0.setPrefetchHints(hints) }
    }

    /// Requests part of the memory that the next message to this connection reads.
    package func prefetch(_ step: PrefetchHints.Step) {
        switch step {
        case .itself: PrefetchHints.fetch(unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), lines: 3)
        case .records:
            guard let direct = unsafe layer.direct else { return }
            PrefetchHints.fetch(unsafe UInt(bitPattern: direct.toOpaque()), lines: PrefetchHints.recordLines)
        case .cipher: unsafe layer.direct?._withUnsafeGuaranteedRef { $0.prefetchSealingCipher() }
        }
    }

    // MARK: Receiving

    func attach(_ wsi: OpaquePointer) {
        unsafe self.wsi = unsafe wsi
    }

    func established() {
        guard let wsi = unsafe wsi else { return }
        socket = unsafe TCPSocket(descriptor: lws_get_socket_fd(wsi))
        socket.tuneForMedia()
        // A client sends live audio.
        if !isServer { socket.tuneForLiveMedia() }
        // The `SSL` holds it as long as the wsi lives.
        if let attached = unsafe loop.recordLayer.attach(wsi, to: self) {
            unsafe layer.attached = unsafe Unmanaged.passUnretained(attached)
            if attached.writesDirectly { unsafe layer.direct = unsafe layer.attached }
        }
        if phase == .connecting { phase = .open }
        unsafe loop.delegate.opened(self)
    }

    /// A whole message of at most one record, or a pong.
    package func received(_ message: UnsafeRawBufferPointer, _ kind: MessageKind) {
        guard phase == .open else { return }
        switch kind {
        case .binary: unsafe layer.media?._withUnsafeGuaranteedRef { unsafe $0.receive(message, from: self) }
        case .text: unsafe loop.delegate.received(text: message, from: self)
        case .pong: unsafe loop.delegate.ponged(message, from: self)
        }
    }

    /// A piece of a message.
    ///
    /// - Returns: false to close the connection; the reason has been noted.
    func received(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let wsi = unsafe wsi, phase == .open else { return true }
        let isFirst = unsafe lws_is_first_fragment(wsi) != 0
        let isFinal = unsafe lws_is_final_fragment(wsi) != 0
        let isBinary = unsafe lws_frame_is_binary(wsi) != 0
        if isFirst && isFinal {
            guard bytes.count <= MessageAssembly.limit(isBinary: isBinary) else { return refuse(.messageTooBig) }
            unsafe deliver(bytes, isBinary: isBinary)
        } else {
            let remaining = unsafe isFinal ? 0 : Int(lws_remaining_packet_payload(wsi))
            guard unsafe assembly.append(bytes, isFirst: isFirst, isBinary: isBinary, remaining: remaining) else {
                return refuse(.messageTooBig)
            }
            if isFinal {
                unsafe assembly.bytes.withUnsafeBytes { unsafe deliver($0, isBinary: isBinary) }
                assembly.reset()
            }
        }
        return true
    }

    private func deliver(_ message: UnsafeRawBufferPointer, isBinary: Bool) {
        if isBinary {
            unsafe loop.delegate.received(binary: message, from: self)
        } else {
            unsafe loop.delegate.received(text: message, from: self)
        }
    }

    /// The socket takes bytes again.
    func writable() {
        if let direct = unsafe layer.direct, unsafe !direct._withUnsafeGuaranteedRef({ $0.flush() }) { return }
        if control.pong != nil { sendPong() }
        unsafe loop.delegate.writable(self)
    }

    /// The record layer has read a ping. Of several before the socket takes a pong, only the last is answered (RFC 6455 section 5.5.3).
    package func owePong(_ payload: [UInt8]) {
        guard phase == .open, let wsi = unsafe wsi else { return }
        control.pong = payload
        unsafe lws_callback_on_writable(wsi)
    }

    private func sendPong() {
        guard phase == .open, let payload = control.pong else { return }
        control.pong = nil
        unsafe payload.withUnsafeBytes { bytes in
            _ = unsafe loop.withScratch(copying: bytes) { unsafe write($0, bytes.count, .pong, .batch) }
        }
    }

    // MARK: Closing

    /// Time for what was written before a close. A peer on a slow line needs seconds for a full send buffer.
    private static let closeSpan: Duration = .seconds(4)

    /// Closes with a code after what has been written so far, at once or within `closeSpan` if the peer does not read.
    /// Only the first reason counts.
    package func close(_ reason: CloseReason) {
        guard phase != .closed, control.reason == nil else { return }
        control.reason = reason
        control.deadline = unsafe loop.now + Self.closeSpan
        phase = .closing
        startCloseTimer()
    }

    /// Ends the connection without a CLOSE frame, as a broken network would.
    package func abort() {
        guard phase != .closed, let wsi = unsafe wsi else { return }
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, Int32(LWS_TO_KILL_ASYNC))
        unsafe Self.wake(lws_get_context(wsi))
    }

    /// The record layer has seen a frame that RFC 6455 forbids. The messages before it are still delivered.
    package func failProtocol(_ reason: CloseReason) {
        guard phase != .closed, control.reason == nil else { return }
        control.violation = reason
        startCloseTimer()
    }

    /// How long a peer that violated the protocol may take to close after it has got a CLOSE frame, in microseconds. libwebsockets would
    /// wait 5 s.
    private static let lingerMicroseconds: lws_usec_t = 500_000

    /// The CLOSE frame for a violation was sent. Input is no longer read, so the peer's CLOSE frame is not noticed.
    package func linger() { end(after: Self.lingerMicroseconds) }

    /// Ends the connection after a while, and after bytes that the socket has not taken.
    private func end(after microseconds: lws_usec_t) {
        guard let wsi = unsafe wsi else { return }
        control.deadline = unsafe loop.now + Self.closeSpan
        unsafe lws_set_timer_usecs(wsi, microseconds)
        unsafe Self.wake(lws_get_context(wsi))
    }

    /// libwebsockets sends its CLOSE from a timer or a receive callback only.
    private func startCloseTimer() {
        guard let wsi = unsafe wsi else { return }
        unsafe lws_set_timer_usecs(wsi, 1)
        unsafe Self.wake(lws_get_context(wsi))
    }

    /// libwebsockets checks its timers only after its own events; one set from our timer or mailbox would wait for the next event.
    private static func wake(_ context: OpaquePointer?) {
        if let context = unsafe context { unsafe lws_cancel_service(context) }
    }

    /// - Returns: false, for libwebsockets to close with the reason.
    private func refuse(_ reason: CloseReason) -> Bool {
        guard control.reason == nil else { return false }
        unsafe loop.delegate.refused(reason, on: self)
        control.reason = reason
        phase = .closing
        unsafe layer.attached?._withUnsafeGuaranteedRef { $0.holdInput() }
        writeCloseReason(reason)
        return false
    }

    /// - Returns: false to close now.
    func closeTimerFired() -> Bool {
        if control.reason == nil, let violation = control.violation { return refuse(violation) }
        guard control.reason != nil || control.isAnswered, let wsi = unsafe wsi else { return true }
        let mayWait = unsafe isCongested && loop.now < control.deadline ?? loop.now
        if mayWait {
            unsafe lws_set_timer_usecs(wsi, 10_000)
            return true
        }
        if let reason = control.reason { writeCloseReason(reason) }
        return false
    }

    private func writeCloseReason(_ reason: CloseReason) {
        guard let wsi = unsafe wsi else { return }
        var phrase = Array(reason.phrase.utf8)
        unsafe lws_close_reason(wsi, lws_close_status(rawValue: UInt32(reason.code)), &phrase, phrase.count)
    }

    func closed() {
        guard phase != .closed else { return }
        if control.reason == nil, let reason = libraryCloseReason {
            control.reason = reason
            unsafe loop.delegate.refused(reason, on: self)
        }
        let end: ConnectionEnd = control.reason.map(ConnectionEnd.closed) ?? .lost
        phase = .closed
        assembly.reset()
        unsafe loop.delegate.closed(self, end)
    }

    /// Why libwebsockets itself closed a client's connection. It does not report the reason, but its CLOSE payload is still there.
    private var libraryCloseReason: CloseReason? {
        guard isServer, control.peerCode == nil, let wsi = unsafe wsi, unsafe lws_get_close_length(wsi) >= 2,
            let payload = unsafe lws_get_close_payload(wsi)
        else { return nil }
        let code = unsafe UInt16(payload[0]) << 8 | UInt16(payload[1])
        return [CloseReason.webSocketProtocol, .invalidText, .messageTooBig].first { $0.code == code }
    }

    override func destroyed() {
        // A handshake that failed after `admit` was never established, so nothing has reported its end yet.
        if phase == .connecting, isServer { closed() }
        // libwebsockets reports nothing for a name that it could not resolve.
        if phase == .connecting, !isServer { connectFailed("no such host, or no way to it") }
        unsafe wsi = nil
        unsafe (layer.direct, layer.attached) = (nil, nil)
        phase = .closed
    }

    /// The record layer has read a whole CLOSE frame; libwebsockets gets it next.
    package func peerSentClose(_ code: UInt16) {
        control.peerCode = code
    }

    /// - Returns: whether libwebsockets is to echo the frame; if not, it sends the reason that it has been given.
    func peerClosed(_ payload: UnsafeRawBufferPointer) -> Bool {
        guard payload.count >= 2 else {
            // No status code (RFC 6455 section 7.1.5).
            control.peerCode = 1005
            return true
        }
        // libwebsockets has replaced codes that it does not know by 1002.
        let code = unsafe control.peerCode ?? (UInt16(payload[0]) << 8 | UInt16(payload[1]))
        control.peerCode = code
        guard 1012...1014 ~= code, isServer, let wsi = unsafe wsi else { return true }
        var reason = unsafe Array(payload.dropFirst(2))
        unsafe lws_close_reason(wsi, lws_close_status(rawValue: UInt32(code)), &reason, reason.count)
        control.isAnswered = true
        return false
    }

    /// libwebsockets has written a CLOSE frame. It would wait for the peer's, which it has got already if this one is the answer.
    package func closeFrameLeft() {
        if control.isAnswered { end(after: 1) }
    }

    // MARK: Outgoing connections

    func appendHeaders(at cursor: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, room: Int) -> Bool {
        guard let wsi = unsafe wsi, let authorization = endpoint?.authorization, let start = unsafe cursor.pointee else { return true }
        return unsafe lws_add_http_header_by_token(
            wsi, WSI_TOKEN_HTTP_AUTHORIZATION, Array(authorization.utf8), Int32(authorization.utf8.count), cursor, start + room) == 0
    }

    func connectFailed(_ message: String) {
        guard phase != .closed else { return }
        phase = .closed
        let status = unsafe wsi.map { unsafe Int(lws_http_client_http_response($0)) }.flatMap { $0 > 0 ? $0 : nil }
        let name = HTTPField.Name.patchbayError.canonicalName
        let code = status == nil ? nil : unsafe wsi.flatMap { unsafe RequestHeader.custom(name, of: $0) }
        unsafe loop.delegate.failed(self, ConnectionFailure(status: status, code: code, message: message))
    }
}

extension WebSocketOpcode {
    fileprivate var lwsProtocol: lws_write_protocol {
        switch self {
        case .text: LWS_WRITE_TEXT
        case .binary: LWS_WRITE_BINARY
        case .ping: LWS_WRITE_PING
        case .pong: LWS_WRITE_PONG
        }
    }
}
