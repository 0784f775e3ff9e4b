package import Engine
internal import Synchronization
internal import Wire

/// The frame path from one shard to another: one thread appends, the other takes everything at once.
///
/// Two buffers are swapped between the sides, so that a frame costs a copy, and no allocation once both have grown. Frames beyond
/// `bytesMax` are refused and counted by the sender: a shard that is that far behind cannot catch up.
final class Trunk: Sendable {
    static let bytesMax = 4 << 20

    private let waiting = Mutex(TrunkBatch())

    /// - Parameter evenIfFull: for frames without which the other side would wait forever, such as the mark that ends a replay.
    /// - Returns: whether the frame was taken, and whether the other shard has to be woken.
    func append(
        _ frame: UnsafeRawBufferPointer, from publisher: ParticipantHandle, evenIfFull: Bool = false
    ) -> (isTaken: Bool, needsWake: Bool) {
        waiting.withLock { batch in
            let needsWake = batch.isEmpty
            guard batch.append(frame, from: publisher, limit: evenIfFull ? .max : Self.bytesMax) else { return (false, false) }
            return (true, needsWake)
        }
    }

    /// Moves waiting frames to the end of a batch. The memory of an empty batch is reused.
    func take(into batch: inout TrunkBatch) {
        waiting.withLock { waiting in
            if batch.isEmpty { return swap(&batch, &waiting) }
            batch.append(contentsOf: waiting)
            waiting.removeAll()
        }
    }
}

/// Frames in one buffer, each preceded by its publisher's handle and its length.
package struct TrunkBatch: Sendable {
    private var bytes: [UInt8] = []

    private static let headBytes = MemoryLayout<ParticipantHandle>.size + MemoryLayout<UInt16>.size

    package init() {}

    package var isEmpty: Bool { bytes.isEmpty }

    package mutating func append(_ frame: UnsafeRawBufferPointer, from publisher: ParticipantHandle, limit: Int) -> Bool {
        guard bytes.count + Self.headBytes + frame.count <= limit else { return false }
        withUnsafeBytes(of: publisher) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt16(frame.count)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: frame)
        return true
    }

    package mutating func append(contentsOf later: TrunkBatch) {
        bytes.append(contentsOf: later.bytes)
    }

    /// Calls `body` with each frame that has not been taken, in order. A frame is taken when `body` returns true, and is not shown again.
    /// The bytes are valid during the call only.
    package mutating func take(_ body: (_ frame: UnsafeRawBufferPointer, _ publisher: ParticipantHandle) -> Bool) {
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

    /// A bit of a frame's length, which is far below it.
    private static let takenMark: UInt16 = 0x8000

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }
}

/// Frames taken from the trunks, by source shard.
struct TrunkArrivals {
    var batches: [TrunkBatch]
    /// Frames were taken from a trunk after the mailbox was read: messages that precede them may be unread.
    var hasLateArrivals = false

    init(shardCount: Int) {
        batches = Array(repeating: TrunkBatch(), count: shardCount)
    }
}

extension MediaRelay {
    func takeTrunks() {
        for peer in trunks.batches.indices { takeTrunk(from: peer) }
    }

    private func takeTrunk(from peer: Int) {
        guard peer != context.index else { return }
        context.gateway.trunk(from: peer, to: context.index).take(into: &trunks.batches[peer])
    }

    /// Forwards all frames that were taken.
    func forwardArrivals() {
        for peer in trunks.batches.indices where !trunks.batches[peer].isEmpty {
            forwardArrivals(from: peer) { _, _ in true }
            trunks.batches[peer].removeAll()
        }
        if aheads.hasFresh { releaseFresh() }
    }

    /// Forwards the frames of one shard that match, once each.
    private func forwardArrivals(
        from peer: Int, where matches: (_ frame: UnsafeRawBufferPointer, _ publisher: ParticipantHandle) -> Bool
    ) {
        // Taken out meanwhile: forwarding a frame may look for arrivals itself.
        var batch = TrunkBatch()
        swap(&batch, &trunks.batches[peer])
        batch.take { frame, publisher in
            guard matches(frame, publisher) else { return false }
            forward(frame, fromTrunkOf: publisher)
            return true
        }
        swap(&batch, &trunks.batches[peer])
    }

    /// Forwards the frames that a remote track's publisher sent before the track ended or was closed.
    ///
    /// This may take more frames from the trunk than the turn began with. Those wait until the mailbox was read again.
    func forwardRemaining(of alias: TrackAlias, by publisher: ParticipantHandle) {
        guard remoteTracks.hasSubscribers(to: alias, of: publisher) else { return }
        let peer = Int(publisher.shard)
        takeTrunk(from: peer)
        trunks.hasLateArrivals = true
        forwardArrivals(from: peer) { frame, sender in
            guard sender == publisher, frame.baseAddress.map({ FrameHeader(unchecked: $0).alias }) == alias else { return false }
            // The subscription of its agent may still be in the mailbox.
            return EarlierRecord(frame).map { remoteTracks.isAwaiting($0, of: publisher) } ?? true
        }
    }
}
