/// Finds client frames that are not masked, which RFC 6455 section 5.1 forbids and lws lets through.
///
/// lws hands a payload over where it was read, so the frame's own header still stands before it. A frame counts as
/// unmasked only if an unmasked header is there and a masked one is not; a header that was cut off by the end of the read
/// before is neither, and is let through.
enum MaskCheck {
    /// - Parameters:
    ///   - payload: the first byte of the first piece of a message. At least eight bytes before it can be read: they are
    ///     lws's buffer, or what lies before that in the same allocation (its context, or a buffer list's head and `LWS_PRE`).
    ///   - length: the payload of the whole WebSocket frame, 1…65,535.
    static func isUnmasked(_ payload: UnsafeRawPointer, length: Int) -> Bool {
        func byte(_ offset: Int) -> Int { unsafe Int(payload.load(fromByteOffset: offset, as: UInt8.self)) }
        if length < 126 {
            if byte(-5) == 0x80 | length, isFirstOfMessage(byte(-6)) { return false }
            return byte(-1) == length && isFirstOfMessage(byte(-2))
        }
        guard length <= 0xFFFF else { return false }
        if byte(-7) == 0xFE, byte(-6) << 8 | byte(-5) == length, isFirstOfMessage(byte(-8)) { return false }
        return byte(-3) == 0x7E && byte(-2) << 8 | byte(-1) == length && isFirstOfMessage(byte(-4))
    }

    /// FIN or not, no reserved bit, text or binary.
    private static func isFirstOfMessage(_ byte: Int) -> Bool {
        let opcode = byte & 0x7F
        return opcode == 1 || opcode == 2
    }
}
