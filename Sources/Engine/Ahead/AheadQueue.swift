internal import Wire

/// The frames of one `ahead` track, stored in bundle layout (`u16 length`, frame), so that a bundle is a header and one copy.
///
/// Offsets count bytes from the beginning of the track and are never reused. Memory grows to the maximum needed and is reused; a
/// frame takes no allocation then.
struct AheadQueue: Sendable {
    struct Entry {
        let timestamp: MediaTime
        /// Offset of the following entry.
        let next: Int
    }

    private static let lengthBytes = MemoryLayout<UInt16>.size

    private var bytes: [UInt8] = []
    /// Bytes at the front that are dropped but not yet overwritten.
    private var dead = 0
    /// Offset of the oldest retained frame.
    private(set) var start = 0

    /// Offset of the next frame to append.
    var end: Int { start + bytes.count - dead }

    /// Bytes that a frame takes in the queue.
    static func size(of frame: UnsafeRawBufferPointer) -> Int { frame.count + lengthBytes }

    /// - Parameter afterDrop: whether the frame must carry flag 0x08.
    mutating func append(_ frame: UnsafeRawBufferPointer, afterDrop: Bool) {
        bytes.append(UInt8(truncatingIfNeeded: frame.count >> 8))
        bytes.append(UInt8(truncatingIfNeeded: frame.count))
        bytes.append(contentsOf: frame)
        if afterDrop { bytes[bytes.count - frame.count + 1] |= FrameFlags.discontinuity.rawValue }
    }

    func entry(at offset: Int) -> Entry {
        let header = header(at: offset)
        return Entry(timestamp: header.timestamp, next: next(after: offset))
    }

    func header(at offset: Int) -> FrameHeader {
        let position = position(of: offset) + Self.lengthBytes
        precondition(position + ProtocolLimits.frameHeaderBytes <= bytes.count, "the frame at this offset is not retained")
        return bytes.withUnsafeBytes { FrameHeader(unchecked: $0.baseAddress! + position) }
    }

    func next(after offset: Int) -> Int {
        let position = position(of: offset)
        return offset + Self.lengthBytes + (Int(bytes[position]) << 8 | Int(bytes[position + 1]))
    }

    /// Copies entries with their length fields.
    func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) {
        let position = position(of: range.lowerBound)
        precondition(range.upperBound <= end, "the range exceeds the retained frames")
        bytes.withUnsafeBytes { target.copyMemory(from: $0.baseAddress! + position, byteCount: range.count) }
    }

    /// Calls `body` with each frame of a range. The bytes are valid during the call only.
    func forEachFrame(in range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let next = next(after: offset)
            let first = position(of: offset) + Self.lengthBytes
            bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[first..<first + next - offset - Self.lengthBytes])) }
            offset = next
        }
    }

    mutating func drop(before offset: Int) {
        precondition(start...end ~= offset, "the offset is outside the retained frames")
        dead += offset - start
        start = offset
        if dead == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            dead = 0
        } else if dead >= Self.deadBytesMin, dead * 2 >= bytes.count {
            bytes.removeSubrange(..<dead)
            dead = 0
        }
    }

    /// Below this, moving the remaining bytes costs more than it saves.
    private static let deadBytesMin = 8_192

    /// Drops all frames and releases the memory.
    mutating func release() {
        start = end
        dead = 0
        bytes = []
    }

    private func position(of offset: Int) -> Int {
        precondition(offset >= start, "the frame at this offset was dropped")
        return offset - start + dead
    }
}
