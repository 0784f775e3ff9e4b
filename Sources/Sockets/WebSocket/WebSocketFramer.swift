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

    enum Stage: UInt8 {
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

    /// The mask bit of the peer's frames: 0 if the peer is a server.
    let maskBit: UInt8
    var stage = Stage.idle
    var frame = PartialFrame()
    var message = PartialMessage()

    package init(role: Role) {
        maskBit = role == .server ? 0x80 : 0
    }

    /// Whether the stream stands between two frames and outside of a message, so that nothing of what comes next has arrived.
    package var isBetweenMessages: Bool { stage == .idle }

    /// The payload of the CLOSE frame that has arrived, for the answer (RFC 6455 section 5.5.1).
    package var receivedClosePayload: [UInt8] { stage == .ended ? message.buffer : [] }

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
