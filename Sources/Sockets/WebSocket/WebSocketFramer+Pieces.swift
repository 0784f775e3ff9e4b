internal import Wire

/// The frame that arrives in pieces.
struct PartialFrame {
    var length: UInt64 = 0
    /// Rotated, so that its lowest byte is for the next byte of payload. 0 in frames from a server.
    var mask: UInt32 = 0
    var payloadBytesLeft: UInt32 = 0
    /// A continuation has its message's.
    var opcode = WebSocketOpcode.binary
    var isFinal = true
    /// Bytes of the length or mask that have not arrived.
    var headerBytesLeft: UInt8 = 0
}

/// The message that has begun, with the control frame that interrupts it.
struct PartialMessage {
    /// The received part of the message, followed by that of a control frame within it. After a CLOSE frame: its payload.
    var buffer: [UInt8] = []
    /// How much of `buffer` belongs to the message.
    var byteCount: UInt32 = 0
    /// Nil if no message has begun.
    var opcode: WebSocketOpcode?
    /// In its initial state again at the end of each valid text.
    var text = UTF8Validator()

    private static var idleCapacityMax: Int { 4_096 }

    /// Removes the payload of the last event from the buffer, and frees the memory if it was a lot.
    mutating func releaseDelivered() {
        let delivered = buffer.count - Int(byteCount)
        if byteCount == 0 && buffer.capacity > Self.idleCapacityMax { buffer = [] } else { buffer.removeLast(delivered) }
    }
}

/// Takes frames in pieces, fragments of messages, and control frames, byte by byte up to the payload.
extension WebSocketFramer {
    @inline(never)
    mutating func nextInPieces(_ bytes: inout UnsafeMutableRawBufferPointer) -> Event? {
        if stage == .first {
            message.releaseDelivered()
            if message.opcode == nil { stage = .idle }
        }
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

    mutating func end(_ reason: CloseReason) -> Event {
        stage = .ended
        message.buffer = []
        return .violation(reason)
    }

    private mutating func takeHeader(_ byte: UInt8) throws(Violation) {
        switch stage {
        case .idle, .first: try takeFirst(byte)
        case .second: try takeSecond(byte)
        case .shortLength, .longLength:
            // The most significant bit must be 0 (RFC 6455 section 5.2).
            guard frame.headerBytesLeft < 8 || byte < 0x80 else { throw Violation(reason: .webSocketProtocol) }
            frame.length = frame.length << 8 | UInt64(byte)
            frame.headerBytesLeft -= 1
            guard frame.headerBytesLeft == 0 else { return }
            guard frame.length > (stage == .shortLength ? 125 : 65_535) else { throw Violation(reason: .webSocketProtocol) }
            try endLength()
        case .mask:
            frame.mask = frame.mask >> 8 | UInt32(byte) << 24
            frame.headerBytesLeft -= 1
            if frame.headerBytesLeft == 0 { stage = .payload }
        case .payload, .ended: break
        }
    }

    private mutating func takeFirst(_ byte: UInt8) throws(Violation) {
        frame.isFinal = byte & 0x80 != 0
        // With the reserved bits, which must be 0.
        let code = byte & 0x7F
        // A continuation needs a message, and a new message needs an end of the last one (RFC 6455 section 5.4).
        guard let known = code == 0 ? message.opcode : WebSocketOpcode(rawValue: code) else { throw Violation(reason: .webSocketProtocol) }
        guard known.isControl ? frame.isFinal : code == 0 || message.opcode == nil else { throw Violation(reason: .webSocketProtocol) }
        frame.opcode = known
        if !known.isControl { message.opcode = known }
        stage = .second
    }

    private mutating func takeSecond(_ byte: UInt8) throws(Violation) {
        guard byte & 0x80 == maskBit else { throw Violation(reason: .webSocketProtocol) }
        frame.length = UInt64(byte & 0x7F)
        guard frame.length < 126 || !frame.opcode.isControl else { throw Violation(reason: .webSocketProtocol) }
        // Half a code (RFC 6455 section 5.5.1).
        guard frame.length != 1 || frame.opcode != .close else { throw Violation(reason: .webSocketProtocol) }
        switch frame.length {
        case 126: (stage, frame.headerBytesLeft, frame.length) = (.shortLength, 2, 0)
        case 127: (stage, frame.headerBytesLeft, frame.length) = (.longLength, 8, 0)
        default: try endLength()
        }
    }

    private mutating func endLength() throws(Violation) {
        if !frame.opcode.isControl {
            let limit = frame.opcode == .binary ? ProtocolLimits.messageBytesMax : ProtocolLimits.controlBytesMax
            guard frame.length <= UInt64(limit) - UInt64(message.byteCount) else { throw Violation(reason: .messageTooBig) }
        }
        frame.payloadBytesLeft = UInt32(frame.length)
        frame.headerBytesLeft = UInt8(WebSocketMask.byteCount)
        stage = maskBit == 0 ? .payload : .mask
    }

    /// - Returns: nil if the frame has not ended, or does not end its message.
    private mutating func takePayload(_ bytes: inout UnsafeMutableRawBufferPointer) throws(Violation) -> Event? {
        let count = min(Int(frame.payloadBytesLeft), bytes.count)
        let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(count))
        unsafe bytes = UnsafeMutableRawBufferPointer(rebasing: bytes.dropFirst(count))
        frame.payloadBytesLeft -= UInt32(count)
        if maskBit != 0 { frame.mask = unsafe WebSocketMask.apply(frame.mask, to: piece) }
        if frame.opcode == .text, unsafe !message.text.accept(UnsafeRawBufferPointer(piece)) { throw Violation(reason: .invalidText) }
        let start = frame.opcode.isControl ? Int(message.byteCount) : 0
        let isWhole = frame.payloadBytesLeft == 0 && frame.isFinal
        if isWhole && message.buffer.count == start { return try unsafe deliver(UnsafeRawBufferPointer(piece)) }
        unsafe message.buffer.append(contentsOf: piece)
        if !frame.opcode.isControl { message.byteCount += UInt32(count) }
        if frame.payloadBytesLeft == 0 { stage = .first }
        guard isWhole else { return nil }
        // The buffer is not changed, so its bytes do not move, before the next call.
        return try unsafe deliver(message.buffer.withUnsafeBytes { unsafe UnsafeRawBufferPointer(rebasing: $0.dropFirst(start)) })
    }

    private mutating func deliver(_ payload: UnsafeRawBufferPointer) throws(Violation) -> Event {
        if !frame.opcode.isControl { (message.opcode, message.byteCount) = (nil, 0) }
        stage = message.opcode == nil && message.buffer.isEmpty ? .idle : .first
        switch frame.opcode {
        case .binary: return unsafe .binary(payload)
        case .text:
            guard message.text.isComplete else { throw Violation(reason: .invalidText) }
            return unsafe .text(payload)
        case .ping: return unsafe .ping(payload)
        case .pong: return unsafe .pong(payload)
        case .close:
            let code = try unsafe Self.code(ofClose: payload)
            (stage, message.buffer) = unsafe (.ended, Array(payload))
            return .close(code: code)
        }
    }
}
