internal import Engine
internal import Synchronization
package import Wire

/// Passes one track's frames from the publisher's shard to the recorder's thread through a double buffer, with one copy.
///
/// The shard never waits for a disk: frames that do not fit are dropped and counted, and become a pause in the file.
package final class RecordedTrack: Sendable {
    /// In bytes; 30 seconds at 64 kbit/s.
    static let bytesMax = 256 << 10

    let tap: Room.RecordingTap
    private let state = Mutex(State())

    private struct State {
        var frames = TapBuffer()
        var lost = 0
        var hasEnded = false
    }

    /// The result of one `take(into:)`.
    struct Taken {
        var lost: Int
        /// No frames follow.
        var isLast: Bool
    }

    init(_ tap: Room.RecordingTap) {
        self.tap = tap
    }

    /// - Parameter playedAt: arrival time, or playout time of an `ahead` track's frame.
    /// - Returns: false if the buffer is full.
    package func append(_ frame: UnsafeRawBufferPointer, playedAt: Instant) -> Bool {
        state.withLock { state in
            let fits = state.frames.byteCount + frame.count <= Self.bytesMax
            if fits { state.frames.append(frame, playedAt: playedAt) } else { state.lost += 1 }
            return fits
        }
    }

    func end() {
        state.withLock { $0.hasEnded = true }
    }

    /// Swaps the filled buffer with `buffer`, which must be empty and whose memory is reused.
    func take(into buffer: inout TapBuffer) -> Taken {
        state.withLock { state in
            swap(&state.frames, &buffer)
            defer { state.lost = 0 }
            return Taken(lost: state.lost, isLast: state.hasEnded)
        }
    }
}

/// Concatenated frames, each preceded by its `playedAt` and length.
struct TapBuffer: Sendable {
    private var bytes: [UInt8] = []

    private static let headBytes = MemoryLayout<UInt64>.size + MemoryLayout<UInt16>.size

    var byteCount: Int { bytes.count }

    mutating func append(_ frame: UnsafeRawBufferPointer, playedAt: Instant) {
        withUnsafeBytes(of: playedAt.nanoseconds) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt16(frame.count)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: frame)
    }

    /// The bytes are valid only during the call.
    func forEachFrame(_ body: (_ frame: UnsafeRawBufferPointer, _ playedAt: Instant) throws -> Void) rethrows {
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
