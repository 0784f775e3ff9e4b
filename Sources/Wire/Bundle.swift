/// Several whole frames in one message: `u8 version|type, u8 count, count × (u16 length, frame)`.
public enum Bundle {
    /// Hands each frame of a bundle to `body`, in order, after checking that the lengths add up exactly.
    ///
    /// Nothing is handed over unless the whole bundle is sound: a bundle whose lengths lie is one malformed message and
    /// not a few good frames and a bad one. The frames themselves are not checked. Never traps on any bytes.
    @inlinable
    public static func forEachFrame(
        in message: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(FrameError) {
        guard message.count >= 2, unsafe message[0] == FrameKind.bundle.rawValue else { throw .bundle }
        guard message.count <= ProtocolLimits.messageBytesMax else { throw .long }
        let count = Int(unsafe message[1])
        guard 1...ProtocolLimits.bundleFramesMax ~= count else { throw .bundle }
        var offset = 2
        for _ in 0..<count {
            guard let length = unsafe length(at: offset, in: message), length <= message.count - offset - 2 else { throw .bundle }
            offset += 2 + length
        }
        guard offset == message.count else { throw .bundle }
        offset = 2
        for _ in 0..<count {
            guard let length = unsafe length(at: offset, in: message) else { return }
            unsafe body(UnsafeRawBufferPointer(rebasing: message[offset + 2..<offset + 2 + length]))
            offset += 2 + length
        }
    }

    @usableFromInline
    static func length(at offset: Int, in message: UnsafeRawBufferPointer) -> Int? {
        guard offset + 2 <= message.count else { return nil }
        return Int(UInt16(bigEndian: unsafe message.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    /// Joins frames into one message.
    ///
    /// - Precondition: 1 to 50 frames, each of 12 to 1,500 bytes, at most 16 KiB with their lengths.
    public static func joining(_ frames: [[UInt8]]) -> [UInt8] {
        precondition(1...ProtocolLimits.bundleFramesMax ~= frames.count, "a bundle holds 1 to 50 frames")
        var message = [FrameKind.bundle.rawValue, UInt8(frames.count)]
        for frame in frames {
            message.append(UInt8(truncatingIfNeeded: frame.count >> 8))
            message.append(UInt8(truncatingIfNeeded: frame.count))
            message.append(contentsOf: frame)
        }
        precondition(message.count <= ProtocolLimits.messageBytesMax, "a bundle is at most 16 KiB")
        return message
    }
}
