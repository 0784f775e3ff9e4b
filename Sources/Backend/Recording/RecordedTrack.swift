internal import Engine
internal import Synchronization
package import Wire

/// Frames of one track on their way from its publisher's shard to the recorder's thread: copied once, into a buffer that changes sides.
///
/// Its policy: what does not fit is lost, and counted; in the file it is a pause. The shard never waits for a disk.
package final class RecordedTrack: Sendable {
    /// Half a minute of speech at 64 kbit/s.
    static let bytesMax = 256 << 10

    let order: Room.RecordingTap
    private let state = Mutex(State())

    private struct State {
        var frames = TapBuffer()
        var lost = 0
        var hasEnded = false
    }

    /// What the recorder takes at once.
    struct Taken {
        var lost: Int
        /// No frame comes after these.
        var isLast: Bool
    }

    init(_ order: Room.RecordingTap) {
        self.order = order
    }

    /// - Parameter heardAt: when it came, or plays if it was sent ahead.
    /// - Returns: whether there was room.
    package func append(_ frame: UnsafeRawBufferPointer, heardAt: Instant) -> Bool {
        state.withLock { state in
            let fits = state.frames.byteCount + frame.count <= Self.bytesMax
            if fits { state.frames.append(frame, heardAt: heardAt) } else { state.lost += 1 }
            return fits
        }
    }

    func end() {
        state.withLock { $0.hasEnded = true }
    }

    /// Takes all that has come; `buffer` must be empty, and its memory is used again.
    func take(into buffer: inout TapBuffer) -> Taken {
        state.withLock { state in
            swap(&state.frames, &buffer)
            defer { state.lost = 0 }
            return Taken(lost: state.lost, isLast: state.hasEnded)
        }
    }
}

/// Frames one behind the other, each after the instant at which it was heard and its length.
struct TapBuffer: Sendable {
    private var bytes: [UInt8] = []

    private static let headBytes = MemoryLayout<UInt64>.size + MemoryLayout<UInt16>.size

    var byteCount: Int { bytes.count }

    mutating func append(_ frame: UnsafeRawBufferPointer, heardAt: Instant) {
        withUnsafeBytes(of: heardAt.nanoseconds) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt16(frame.count)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: frame)
    }

    /// The bytes are valid during the call only.
    func forEachFrame(_ body: (_ frame: UnsafeRawBufferPointer, _ heardAt: Instant) throws -> Void) rethrows {
        try bytes.withUnsafeBytes { all in
            var offset = 0
            while offset < all.count {
                let nanoseconds = all.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let count = Int(all.loadUnaligned(fromByteOffset: offset + MemoryLayout<UInt64>.size, as: UInt16.self))
                let start = offset + Self.headBytes
                try body(UnsafeRawBufferPointer(rebasing: all[start..<start + count]), Instant(nanoseconds: nanoseconds))
                offset = start + count
            }
        }
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }
}
