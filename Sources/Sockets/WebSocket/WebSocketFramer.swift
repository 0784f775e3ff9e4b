package import Wire

/// The parser of the WebSocket frames that arrive on one connection, and the writer of those that leave (RFC 6455 section 5).
///
/// Takes the bytes of the stream in any pieces, unmasks them in place and returns whole messages and control frames. Each header is parsed
/// once, and whatever section 5 forbids or a size limit excludes ends the stream. Media frames nearly always arrive whole: `next` returns
/// them from the caller's bytes. All other frames go byte by byte through a state machine.
///
/// Deterministic: no I/O, no clock, no randomness. Memory is allocated for bytes received, never for bytes announced.
package struct WebSocketFramer {
    /// Which end reads. A client must mask its frames, a server must not (RFC 6455 section 5.1).
    package enum Role {
        case server, client
    }

    /// An element of the stream. The bytes are unmasked, and valid until the next call of `next`.
    @safe package enum Event {
        /// A whole message.
        case binary(UnsafeRawBufferPointer), text(UnsafeRawBufferPointer)
        case ping(UnsafeRawBufferPointer), pong(UnsafeRawBufferPointer)
        /// A valid CLOSE frame; 1005 if it has no code (RFC 6455 section 7.1.5). Later bytes are ignored.
        case close(code: UInt16)
        /// Why the stream is refused. Later bytes are ignored.
        case violation(CloseReason)
    }

    private enum Stage: UInt8 {
        /// Before the first frame of a message, with an empty buffer.
        case idle
        /// Before another frame: within a message, or with a delivered payload in the buffer.
        case first
        case second, shortLength, longLength, mask, payload
        /// After a CLOSE frame or a violation.
        case ended
    }

    struct Violation: Error {
        var reason: CloseReason
    }

    /// The mask bit of the peer's frames.
    private let maskBit: UInt8
    private var stage = Stage.idle

    // The header of the current frame. A continuation has its message's opcode.
    private var opcode = WebSocketOpcode.binary
    private var isFinal = true
    /// Bytes of the length or mask that have not arrived.
    private var headerBytesLeft: UInt8 = 0
    /// Rotated, so that its lowest byte is for the next byte of payload. 0 in frames from a server.
    private var mask: UInt32 = 0
    private var length: UInt64 = 0
    private var payloadBytesLeft: UInt32 = 0

    /// The opcode of the message that has begun and not ended.
    private var message: WebSocketOpcode?
    /// In its initial state again at the end of each valid text.
    private var text = UTF8Validator()
    /// How much of `buffer` belongs to the message.
    private var messageBytes: UInt32 = 0
    /// The received part of the current message, followed by that of a control frame within it. After a CLOSE frame: its payload.
    private(set) var buffer: [UInt8] = []

    package init(role: Role) {
        maskBit = role == .server ? 0x80 : 0
    }

    /// Whether the stream stands between two frames and outside of a message, so that nothing of what comes next has arrived.
    package var isBetweenMessages: Bool { stage == .idle }

    /// The payload of the CLOSE frame that has arrived, for the answer (RFC 6455 section 5.5.1).
    package var receivedClosePayload: [UInt8] { stage == .ended ? buffer : [] }

    /// Takes the next event from the front of `bytes`, which it unmasks in place.
    ///
    /// To be called until it returns nil: this also frees what the last event needed.
    ///
    /// - Returns: nil when all bytes have been consumed.
    @inline(__always)
    package mutating func next(in bytes: inout UnsafeMutableRawBufferPointer) -> Event? {
        if unsafe stage == .idle && bytes.isEmpty { return nil }
        guard stage == .idle, let (first, payload) = unsafe wholeFrame(at: bytes) else { return unsafe nextInPieces(&bytes) }
        let start = payload.baseAddress!
        if maskBit != 0 { unsafe WebSocketMask.apply((start - WebSocketMask.byteCount).loadUnaligned(as: UInt32.self), to: payload) }
        let used = unsafe start - bytes.baseAddress! + payload.count
        unsafe bytes = UnsafeMutableRawBufferPointer(start: start + payload.count, count: bytes.count - used)
        let content = UnsafeRawBufferPointer(payload)
        switch first {
        case .binary: return unsafe .binary(content)
        case .pong: return unsafe .pong(content)
        case .text: return unsafe UTF8Validator.isValid(content) ? .text(content) : end(.invalidText)
        }
    }

    /// The first byte of the frames that need no state.
    private enum WholeFrame: UInt8 {
        case text = 0x81
        case binary = 0x82
        case pong = 0x8A
    }

    /// The masked payload of the frame at the front, if it is a valid one of these, and complete.
    @inline(__always)
    private func wholeFrame(at bytes: UnsafeMutableRawBufferPointer) -> (WholeFrame, payload: UnsafeMutableRawBufferPointer)? {
        guard let start = bytes.baseAddress, bytes.count >= 2 else { return nil }
        guard let first = unsafe WholeFrame(rawValue: start.load(as: UInt8.self)) else { return nil }
        // Above 127 if the mask bit is wrong.
        var count = unsafe Int(start.load(fromByteOffset: 1, as: UInt8.self) ^ maskBit)
        var header = maskBit == 0 ? 2 : 2 + WebSocketMask.byteCount
        if count > 125 {
            guard count == 126, bytes.count >= 4, first != .pong else { return nil }
            count = unsafe Int(UInt16(bigEndian: start.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            guard count > 125, count <= ProtocolLimits.messageBytesMax else { return nil }
            header += 2
        }
        guard header + count <= bytes.count else { return nil }
        return unsafe (first, UnsafeMutableRawBufferPointer(start: start + header, count: count))
    }
}

// MARK: Frames in pieces, fragments and control frames

extension WebSocketFramer {
    @inline(never)
    private mutating func nextInPieces(_ bytes: inout UnsafeMutableRawBufferPointer) -> Event? {
        releaseDelivered()
        do throws(Violation) {
            while stage != .ended {
                if stage == .payload {
                    if let event = try unsafe takePayload(&bytes) { return event }
                    if stage == .payload { return nil }
                } else {
                    guard let byte = unsafe bytes.first else { return nil }
                    unsafe bytes = UnsafeMutableRawBufferPointer(rebasing: bytes.dropFirst())
                    try takeHeader(byte)
                }
            }
        } catch {
            return end(error.reason)
        }
        unsafe bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        return nil
    }

    /// Removes the payload of the last event from the buffer, and frees the memory if it was a lot.
    private mutating func releaseDelivered() {
        guard stage == .first else { return }
        let delivered = buffer.count - Int(messageBytes)
        if messageBytes == 0 && buffer.capacity > Self.idleCapacityMax { buffer = [] } else { buffer.removeLast(delivered) }
        if message == nil { stage = .idle }
    }

    private static var idleCapacityMax: Int { 4_096 }

    private mutating func end(_ reason: CloseReason) -> Event {
        stage = .ended
        buffer = []
        return .violation(reason)
    }

    private mutating func takeHeader(_ byte: UInt8) throws(Violation) {
        switch stage {
        case .idle, .first: try takeFirst(byte)
        case .second: try takeSecond(byte)
        case .shortLength, .longLength:
            // The most significant bit must be 0 (RFC 6455 section 5.2).
            guard headerBytesLeft < 8 || byte < 0x80 else { throw Violation(reason: .webSocketProtocol) }
            length = length << 8 | UInt64(byte)
            headerBytesLeft -= 1
            guard headerBytesLeft == 0 else { return }
            guard length > (stage == .shortLength ? 125 : 65_535) else { throw Violation(reason: .webSocketProtocol) }
            try endLength()
        case .mask:
            mask = mask >> 8 | UInt32(byte) << 24
            headerBytesLeft -= 1
            if headerBytesLeft == 0 { stage = .payload }
        case .payload, .ended: break
        }
    }

    private mutating func takeFirst(_ byte: UInt8) throws(Violation) {
        isFinal = byte & 0x80 != 0
        // With the reserved bits, which must be 0.
        let code = byte & 0x7F
        // A continuation needs a message, and a new message needs an end of the last one (RFC 6455 section 5.4).
        guard let known = code == 0 ? message : WebSocketOpcode(rawValue: code) else { throw Violation(reason: .webSocketProtocol) }
        guard known.isControl ? isFinal : code == 0 || message == nil else { throw Violation(reason: .webSocketProtocol) }
        opcode = known
        if !known.isControl { message = known }
        stage = .second
    }

    private mutating func takeSecond(_ byte: UInt8) throws(Violation) {
        guard byte & 0x80 == maskBit else { throw Violation(reason: .webSocketProtocol) }
        length = UInt64(byte & 0x7F)
        guard length < 126 || !opcode.isControl else { throw Violation(reason: .webSocketProtocol) }
        // Half a code (RFC 6455 section 5.5.1).
        guard length != 1 || opcode != .close else { throw Violation(reason: .webSocketProtocol) }
        switch length {
        case 126: (stage, headerBytesLeft, length) = (.shortLength, 2, 0)
        case 127: (stage, headerBytesLeft, length) = (.longLength, 8, 0)
        default: try endLength()
        }
    }

    private mutating func endLength() throws(Violation) {
        if !opcode.isControl {
            let limit = opcode == .binary ? ProtocolLimits.messageBytesMax : ProtocolLimits.controlBytesMax
            guard length <= UInt64(limit) - UInt64(messageBytes) else { throw Violation(reason: .messageTooBig) }
        }
        payloadBytesLeft = UInt32(length)
        headerBytesLeft = UInt8(WebSocketMask.byteCount)
        stage = maskBit == 0 ? .payload : .mask
    }

    /// - Returns: nil if the frame has not ended, or does not end its message.
    private mutating func takePayload(_ bytes: inout UnsafeMutableRawBufferPointer) throws(Violation) -> Event? {
        let count = min(Int(payloadBytesLeft), bytes.count)
        let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(count))
        unsafe bytes = UnsafeMutableRawBufferPointer(rebasing: bytes.dropFirst(count))
        payloadBytesLeft -= UInt32(count)
        if maskBit != 0 { mask = unsafe WebSocketMask.apply(mask, to: piece) }
        if opcode == .text, unsafe !text.accept(UnsafeRawBufferPointer(piece)) { throw Violation(reason: .invalidText) }
        let start = opcode.isControl ? Int(messageBytes) : 0
        let isWhole = payloadBytesLeft == 0 && isFinal
        if isWhole && buffer.count == start { return try unsafe deliver(UnsafeRawBufferPointer(piece)) }
        unsafe buffer.append(contentsOf: piece)
        if !opcode.isControl { messageBytes += UInt32(count) }
        if payloadBytesLeft == 0 { stage = .first }
        guard isWhole else { return nil }
        // The buffer is not changed, so its bytes do not move, before the next call.
        return try unsafe deliver(buffer.withUnsafeBytes { unsafe UnsafeRawBufferPointer(rebasing: $0.dropFirst(start)) })
    }

    private mutating func deliver(_ payload: UnsafeRawBufferPointer) throws(Violation) -> Event {
        if !opcode.isControl { (message, messageBytes) = (nil, 0) }
        stage = message == nil && buffer.isEmpty ? .idle : .first
        switch opcode {
        case .binary: return unsafe .binary(payload)
        case .text:
            guard text.isComplete else { throw Violation(reason: .invalidText) }
            return unsafe .text(payload)
        case .ping: return unsafe .ping(payload)
        case .pong: return unsafe .pong(payload)
        case .close:
            let code = try unsafe Self.code(ofClose: payload)
            (stage, buffer) = unsafe (.ended, Array(payload))
            return .close(code: code)
        }
    }
}
