internal import Engine
internal import Synchronization
internal import Wire

/// Frames on their way from one shard to another: one thread appends, the other takes all there is at once.
///
/// Two buffers that change sides, so that a frame costs a copy and no allocation once both have grown. What does not fit into
/// `bytesMax` is refused, and counted by who wanted it carried: a shard that far behind has worse to do than to catch up.
final class Trunk: Sendable {
    static let bytesMax = 4 << 20

    private let waiting = Mutex(TrunkBatch())

    /// - Parameter evenIfFull: for what the other side would wait for in vain: a header that says where a track begins.
    /// - Returns: whether the frame was taken, and whether the other side has to be woken for it.
    func append(
        _ frame: UnsafeRawBufferPointer, from publisher: ParticipantHandle, evenIfFull: Bool = false
    ) -> (isTaken: Bool, needsWake: Bool) {
        waiting.withLock { batch in
            let needsWake = batch.isEmpty
            guard batch.append(frame, from: publisher, limit: evenIfFull ? .max : Self.bytesMax) else { return (false, false) }
            return (true, needsWake)
        }
    }

    /// Hands over what waits, behind what the batch holds already. An empty one's memory is used again.
    func take(into batch: inout TrunkBatch) {
        waiting.withLock { waiting in
            if batch.isEmpty { return swap(&batch, &waiting) }
            batch.append(contentsOf: waiting)
            waiting.removeAll()
        }
    }
}

/// Frames one behind the other, each after its publisher's handle and its length.
struct TrunkBatch: Sendable {
    private var bytes: [UInt8] = []

    private static let headBytes = MemoryLayout<ParticipantHandle>.size + MemoryLayout<UInt16>.size

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ frame: UnsafeRawBufferPointer, from publisher: ParticipantHandle, limit: Int) -> Bool {
        guard bytes.count + Self.headBytes + frame.count <= limit else { return false }
        withUnsafeBytes(of: publisher) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt16(frame.count)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: frame)
        return true
    }

    mutating func append(contentsOf later: TrunkBatch) {
        bytes.append(contentsOf: later.bytes)
    }

    /// Calls `body` with each frame that is still here, in the order in which they were appended. One that it takes is not shown
    /// again. The bytes are valid during the call only.
    mutating func take(_ body: (_ frame: UnsafeRawBufferPointer, _ publisher: ParticipantHandle) -> Bool) {
        bytes.withUnsafeMutableBytes { all in
            var offset = 0
            while offset < all.count {
                let publisher = all.loadUnaligned(fromByteOffset: offset, as: ParticipantHandle.self)
                let countOffset = offset + Self.headBytes - MemoryLayout<UInt16>.size
                let marked = all.loadUnaligned(fromByteOffset: countOffset, as: UInt16.self)
                let count = Int(marked & ~Self.takenMark)
                let start = offset + Self.headBytes
                if marked & Self.takenMark == 0, body(UnsafeRawBufferPointer(rebasing: all[start..<start + count]), publisher) {
                    all.storeBytes(of: marked | Self.takenMark, toByteOffset: countOffset, as: UInt16.self)
                }
                offset = start + count
            }
        }
    }

    /// In a frame's length, which is far below it.
    private static let takenMark: UInt16 = 0x8000

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }
}
