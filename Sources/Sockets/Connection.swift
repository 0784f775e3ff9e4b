internal import CLibwebsockets
internal import HTTPTypes
package import Wire

/// One WebSocket connection on a loop's thread: whole messages in, whole messages out, one close with a reason.
///
/// Built at the upgrade (or when a client starts to connect), alive until lws destroys its `wsi`: lws holds one retained
/// reference in between, so the owner may drop its own at any time. Everything here is called on the loop's thread.
///
/// Writing is immediate where the socket takes it. `isCongested` tells when it does not: then write nothing more until
/// `SocketOwner.writable(_:)`, or lws copies what does not fit into a list of its own that has no limit.
@safe package final class Connection: Attachment {
    package enum Phase: Hashable {
        case connecting, open, closing, closed
    }

    /// What the owner likes to remember: an index, so that no lookup is needed per message.
    package var slot: Int {
        get { unsafe uncheckedSlot }
        set { unsafe uncheckedSlot = newValue }
    }
    /// What the owner keeps between letting it in and `SocketOwner.opened`.
    package var context: AnyObject?
    package private(set) var phase: Phase {
        get { unsafe uncheckedPhase }
        set { unsafe uncheckedPhase = newValue }
    }
    /// Since the upgrade, for limits and statistics.
    package private(set) var openedAt: Instant

    // Each frame looks at these: whether two look at once is not checked.
    @exclusivity(unchecked) private var uncheckedSlot = -1
    @exclusivity(unchecked) private var uncheckedPhase = Phase.connecting
    /// Not retained and not checked, for the frame's way: a loop closes its connections before it ends.
    unowned(unsafe) let loop: Loop
    /// The loop's, not retained either.
    private let mediaDoor: Unmanaged<MediaReceiver>
    /// The handle in lws; nil once it is destroyed.
    @exclusivity(unchecked) private(set) var wsi: OpaquePointer?
    /// Its records, and the short way for what it writes; nil without TLS 1.3. Goes with `wsi`.
    @exclusivity(unchecked) private var records: Unmanaged<RecordSocket>?
    private var isServer = true
    private var socket = TCPSocket(descriptor: -1)
    private var assembly = MessageAssembly()
    /// Where to, if it was us who connected.
    var endpoint: Endpoint? {
        didSet { isServer = endpoint == nil }
    }
    /// Set once, at the first call of `close`.
    private var closeReason: CloseReason?
    private var closeDeadline: Instant?

    init(wsi: OpaquePointer?, loop: Loop) {
        unsafe self.wsi = unsafe wsi
        unsafe self.loop = loop
        unsafe mediaDoor = unsafe Unmanaged.passUnretained(loop.mediaDoor)
        self.openedAt = loop.now
        if let wsi = unsafe wsi { socket = unsafe TCPSocket(descriptor: lws_get_socket_fd(wsi)) }
    }

    // MARK: Sending

    /// Whether bytes of an earlier write still wait for the socket.
    package var isCongested: Bool {
        if let records = unsafe records { return unsafe records._withUnsafeGuaranteedRef { $0.isCongested } }
        guard let wsi = unsafe wsi else { return true }
        return unsafe lws_partial_buffered(wsi) != 0
    }

    /// Writes one binary message that has `headroom` writable bytes before it, and gives it to the kernel as far as it
    /// takes it. The WebSocket header goes into the headroom (and a client's mask over the message itself).
    ///
    /// - Parameter ping: the payload of a ping that goes right behind it; only where `pingsAlong`.
    /// - Returns: false if the connection is dead; it then closes by itself.
    @discardableResult
    package func write(
        binary message: UnsafeMutableRawPointer, count: Int, withTurn: Bool = false, followedByPing ping: UInt32? = nil
    ) -> Bool {
        unsafe write(message, count, .binary, withTurn ? .withTheTurn : .withTheBatch, followedByPing: ping)
    }

    /// Whether a ping can leave with what is written. It can't through lws, which takes none behind a message of which something is left.
    package var pingsAlong: Bool { unsafe isServer && records != nil }

    /// Bytes that must be writable before a message given to `write(binary:count:)`.
    package static var headroom: Int { Int(patchbay_lws_pre) }

    /// Writes one text message.
    @discardableResult
    package func write(text: [UInt8]) -> Bool {
        unsafe text.withUnsafeBytes { bytes in
            unsafe loop.withScratch(copying: bytes) { unsafe write($0, bytes.count, .text, .withTheTurn) }
        }
    }

    /// Writes one text message that has `headroom` writable bytes before it.
    ///
    /// - Parameter patience: milliseconds; not 0, it leaves with what is written next, and within these, or 20, in any case.
    @discardableResult
    package func write(text message: UnsafeMutableRawPointer, count: Int, patience: UInt8) -> Bool {
        unsafe write(message, count, .text, patience == 0 ? .withTheTurn : .withTheNext(within: patience))
    }

    /// Writes one binary message that has no headroom of its own.
    @discardableResult
    package func write(binary message: [UInt8]) -> Bool {
        unsafe message.withUnsafeBytes { bytes in
            unsafe loop.withScratch(copying: bytes) { unsafe write($0, bytes.count, .binary, .withTheBatch) }
        }
    }

    /// Pings at the WebSocket level, if nothing is in the way. The answer comes to `SocketOwner.ponged`.
    ///
    /// - Parameter number: the payload, 4 bytes, big-endian (at most 125 are allowed, RFC 6455 section 5.5).
    @discardableResult
    package func ping(_ number: UInt32) -> Bool {
        guard phase == .open, !isCongested else { return false }
        return unsafe withUnsafeBytes(of: number.bigEndian) { bytes in
            unsafe loop.withScratch(copying: bytes) { unsafe write($0, bytes.count, .ping, .withTheBatch) }
        }
    }

    /// Asks for one call of `SocketOwner.writable(_:)` once the socket takes bytes again.
    package func askForWritable() {
        if let wsi = unsafe wsi, phase == .open || phase == .closing { unsafe lws_callback_on_writable(wsi) }
    }

    /// Whether what the peer sends is taken; while it is not, it stays in the kernel. For tests of a peer that does not read.
    package func setReading(_ reads: Bool) {
        unsafe records?._withUnsafeGuaranteedRef { $0.readOnlyByLws() }
        if let wsi = unsafe wsi { _ = unsafe lws_rx_flow_control(wsi, reads ? 1 : 0) }
    }

    private func write(
        _ message: UnsafeMutableRawPointer, _ count: Int, _ opcode: RecordSocket.Opcode, _ departure: RecordSocket.Departure,
        followedByPing number: UInt32? = nil
    ) -> Bool {
        guard let wsi = unsafe wsi, phase == .open || (phase == .closing && opcode == .text) else { return false }
        if isServer, let records = unsafe records {
            // Past lws, which would add the same header.
            let isAlive = unsafe records._withUnsafeGuaranteedRef {
                unsafe $0.write(opcode, message, count, departure, followedByPing: number)
            }
            if isAlive { return true }
        } else {
            // A short count is neither an error nor a loss: lws keeps the rest. Only a negative one is the end.
            if unsafe lws_write(wsi, message.assumingMemoryBound(to: UInt8.self), count, opcode.asLwsHasIt) >= 0 { return true }
        }
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, Int32(LWS_TO_KILL_ASYNC))
        return false
    }

    // MARK: Closing

    /// Closes with a code after what has been written so far, at once or within a second if the peer does not read.
    /// Only the first reason counts.
    package func close(_ reason: CloseReason) {
        guard phase != .closed, closeReason == nil else { return }
        closeReason = reason
        phase = .closing
        closeDeadline = unsafe loop.now + .seconds(1)
        // lws sends its CLOSE from a timer or a receive callback only, so everything goes through the timer.
        guard let wsi = unsafe wsi else { return }
        unsafe lws_set_timer_usecs(wsi, 1)
        unsafe Self.wake(lws_get_context(wsi))
    }

    /// Ends the connection without a word, as a broken cable would.
    package func abort() {
        guard phase != .closed, let wsi = unsafe wsi else { return }
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, Int32(LWS_TO_KILL_ASYNC))
        unsafe Self.wake(lws_get_context(wsi))
    }

    /// lws looks at its timers after events of its own only; called from our timer or mailbox it would wait for the next one.
    private static func wake(_ context: OpaquePointer?) {
        if let context = unsafe context { unsafe lws_cancel_service(context) }
    }

    // MARK: What comes next

    /// What a frame to here will look at (`PrefetchHints`); nil where it goes through lws.
    ///
    /// - Parameters:
    ///   - sender: the address of what is known of who sends it; `track`, of its track.
    ///   - subscriber: the same of who gets it.
    package func prefetchHints(sender: UInt, track: UInt, subscriber: UInt) -> PrefetchHints? {
        guard let records = unsafe records else { return nil }
        return unsafe PrefetchHints(
            sender: sender, track: track, subscriber: subscriber,
            connection: UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), records: UInt(bitPattern: records.toOpaque()),
            cipher: records._withUnsafeGuaranteedRef { unsafe $0.ciphers.sealing.address })
    }

    /// The next message from here will look at this.
    package func prefetch(_ prefetchHints: PrefetchHints) {
        unsafe records?._withUnsafeGuaranteedRef { $0.prefetch(prefetchHints) }
    }

    /// Has a part of what the next message to this connection looks at come to hand; the step before must have been a while ago.
    package func prefetch(_ step: PrefetchHints.Step) {
        switch step {
        case .itself: PrefetchHints.fetch(unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), lines: 3)
        case .records:
            guard let records = unsafe records else { return }
            PrefetchHints.fetch(unsafe UInt(bitPattern: records.toOpaque()), lines: 5)
        case .cipher: unsafe records?._withUnsafeGuaranteedRef { unsafe $0.ciphers.sealing.prefetch() }
        }
    }

    // MARK: The socket below

    package var tcp: TCPSocket { socket }
    package var peerAddress: String { socket.peerAddress }

    // MARK: What lws tells (see Callback)

    func attach(_ wsi: OpaquePointer) {
        unsafe self.wsi = unsafe wsi
    }

    func established() {
        guard let wsi = unsafe wsi else { return }
        socket = unsafe TCPSocket(descriptor: lws_get_socket_fd(wsi))
        socket.tuneForMedia()
        // What a client sends comes from a microphone.
        if !isServer { socket.tuneForLiveMedia() }
        unsafe records = unsafe loop.established(wsi, of: self).map { unsafe Unmanaged.passUnretained($0) }
        openedAt = unsafe loop.now
        if phase == .connecting { phase = .open }
        unsafe loop.owner.opened(self)
    }

    /// A whole message of at most a record, or a pong.
    func received(_ message: UnsafeRawBufferPointer, _ kind: RecordFrames.Kind) {
        guard phase == .open else { return }
        switch kind {
        case .binary: unsafe mediaDoor._withUnsafeGuaranteedRef { unsafe $0.hand(message, from: self) }
        case .text: unsafe loop.owner.received(text: message, from: self)
        case .pong: unsafe loop.owner.ponged(message, from: self)
        }
    }

    /// - Returns: false to close the connection; the reason has been noted.
    func received(_ bytes: UnsafeRawBufferPointer, isServer: Bool) -> Bool {
        guard let wsi = unsafe wsi, phase == .open else { return true }
        let isFirst = unsafe lws_is_first_fragment(wsi) != 0
        let isFinal = unsafe lws_is_final_fragment(wsi) != 0
        let isBinary = unsafe lws_frame_is_binary(wsi) != 0
        let remaining = unsafe isFinal ? 0 : Int(lws_remaining_packet_payload(wsi))
        if isFirst, isServer, let start = bytes.baseAddress, unsafe !bytes.isEmpty,
            unsafe MaskCheck.isUnmasked(start, length: bytes.count + remaining)
        {
            return refuse(.webSocketProtocol)
        }
        if isFirst && isFinal {
            guard bytes.count <= MessageAssembly.limit(isBinary: isBinary) else { return refuse(.messageTooBig) }
            unsafe deliver(bytes, isBinary: isBinary)
        } else {
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
            unsafe loop.owner.received(binary: message, from: self)
        } else {
            unsafe loop.owner.received(text: message, from: self)
        }
    }

    private func refuse(_ reason: CloseReason) -> Bool {
        guard closeReason == nil else { return false }
        unsafe loop.owner.refused(reason, on: self)
        closeReason = reason
        phase = .closing
        writeCloseReason(reason)
        return false
    }

    /// The close timer rings.
    ///
    /// - Returns: false to close now.
    func closeTimerRang() -> Bool {
        guard let reason = closeReason, let wsi = unsafe wsi else { return true }
        let mayWait = unsafe isCongested && loop.now < closeDeadline ?? loop.now
        if mayWait {
            unsafe lws_set_timer_usecs(wsi, 10_000)
            return true
        }
        writeCloseReason(reason)
        return false
    }

    private func writeCloseReason(_ reason: CloseReason) {
        guard let wsi = unsafe wsi else { return }
        var phrase = Array(reason.phrase.utf8)
        unsafe lws_close_reason(wsi, lws_close_status(rawValue: UInt32(reason.code)), &phrase, phrase.count)
    }

    func closed() {
        guard phase != .closed else { return }
        if closeReason == nil, let reason = reasonOfLibrary {
            closeReason = reason
            unsafe loop.owner.refused(reason, on: self)
        }
        let end: SocketEnd = closeReason.map(SocketEnd.closed) ?? .lost
        phase = .closed
        assembly.reset()
        unsafe loop.owner.closed(self, end)
    }

    /// Why lws itself closed a client's socket: for reserved bits, say. It tells nobody but the client, but what it wrote is still there.
    private var reasonOfLibrary: CloseReason? {
        guard isServer, peerCloseCode == nil, let wsi = unsafe wsi, unsafe lws_get_close_length(wsi) >= 2,
            let payload = unsafe lws_get_close_payload(wsi)
        else { return nil }
        let code = unsafe UInt16(payload[0]) << 8 | UInt16(payload[1])
        return [CloseReason.webSocketProtocol, .invalidText, .messageTooBig].first { $0.code == code }
    }

    override func destroyed() {
        // A handshake that broke off after we let it in was never established, so nobody was told that it is closed either.
        if phase == .connecting, isServer { closed() }
        // lws says nothing more of a name that it could not resolve.
        if phase == .connecting, !isServer { connectFailed("no such host, or no way to it") }
        unsafe wsi = nil
        unsafe records = nil
        phase = .closed
    }

    /// The socket takes bytes again.
    func writable() {
        if let records = unsafe records, unsafe !records._withUnsafeGuaranteedRef({ $0.flush() }) { return }
        unsafe loop.owner.writable(self)
    }

    // MARK: A client's attempt

    func appendHeaders(at cursor: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, room: Int) -> Bool {
        guard let wsi = unsafe wsi, let authorization = endpoint?.authorization, let start = unsafe cursor.pointee else { return true }
        return unsafe lws_add_http_header_by_token(
            wsi, WSI_TOKEN_HTTP_AUTHORIZATION, Array(authorization.utf8), Int32(authorization.utf8.count), cursor, start + room) == 0
    }

    func connectFailed(_ words: String) {
        guard phase != .closed else { return }
        phase = .closed
        unsafe loop.owner.failed(self, ConnectError(status: refusalStatus, code: refusalCode, message: words))
    }

    private var refusalStatus: Int? {
        guard let wsi = unsafe wsi else { return nil }
        let status = unsafe Int(lws_http_client_http_response(wsi))
        return status > 0 ? status : nil
    }

    private var refusalCode: String? {
        guard let wsi = unsafe wsi, refusalStatus != nil else { return nil }
        let name = HTTPField.Name.patchbayError.canonicalName + ":"
        let length = unsafe Int(lws_hdr_custom_length(wsi, name, Int32(name.utf8.count)))
        guard length > 0 else { return nil }
        var buffer = [CChar](repeating: 0, count: length + 1)
        guard unsafe lws_hdr_custom_copy(wsi, &buffer, Int32(buffer.count), name, Int32(name.utf8.count)) >= 0 else { return nil }
        return String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// What the peer's CLOSE frame said.
    package private(set) var peerCloseCode: UInt16?

    func peerClosed(_ payload: UnsafeRawBufferPointer) {
        guard payload.count >= 2 else {
            peerCloseCode = 1005
            return
        }
        peerCloseCode = unsafe UInt16(payload[0]) << 8 | UInt16(payload[1])
    }
}

extension RecordSocket.Opcode {
    fileprivate var asLwsHasIt: lws_write_protocol {
        switch self {
        case .text: LWS_WRITE_TEXT
        case .binary: LWS_WRITE_BINARY
        case .ping: LWS_WRITE_PING
        }
    }
}

/// How a connection ended.
package enum SocketEnd: Hashable, Sendable {
    /// We closed it.
    case closed(CloseReason)
    /// The peer closed it or it broke; `Connection.peerCloseCode` tells which.
    case lost
}
