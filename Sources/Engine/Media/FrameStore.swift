internal import Wire

/// Storage of one shard for queued frames: each is stored once, however many subscribers queue it, with headroom for the WebSocket
/// header. Elsewhere a frame is a `FrameRef`.
///
/// Memory is allocated in chunks and kept; storing a frame allocates nothing. Frames that are sent at once are not stored.
package struct FrameStore: ~Copyable {
    private static let chunkSlots = 256
    private let headroom: Int
    private let stride: Int
    private var chunks: [UnsafeMutableRawPointer] = []
    private var slots: [Slot] = []
    private var free: [UInt32] = []
    private let slotsMax: Int

    private struct Slot {
        var generation: UInt32 = 0
        var count: UInt16 = 0
        var references: UInt16 = 0
    }

    /// Frames stored now.
    package var heldCount: Int { slots.count - free.count }

    /// - Parameters:
    ///   - headroom: writable bytes required in front of a frame.
    ///   - framesMax: capacity; `store` returns nil beyond it.
    package init(headroom: Int, framesMax: Int = Limits.storedFramesMax) {
        self.headroom = headroom
        self.stride = (headroom + ProtocolLimits.frameBytesMax + 63) & ~63
        self.slotsMax = framesMax
    }

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// Stores a frame with one reference. Nil if the store is full; the caller counts the drop.
    package mutating func store(_ frame: UnsafeRawBufferPointer) -> FrameRef? {
        precondition(frame.count <= ProtocolLimits.frameBytesMax, "a frame is checked before it is stored")
        guard let index = free.popLast() ?? grow(), let bytes = frame.baseAddress else { return nil }
        pointer(to: index).copyMemory(from: bytes, byteCount: frame.count)
        slots[Int(index)].count = UInt16(frame.count)
        slots[Int(index)].references = 1
        return FrameRef(slot: index, generation: slots[Int(index)].generation)
    }

    package mutating func retain(_ frame: FrameRef) {
        check(frame)
        slots[Int(frame.slot)].references += 1
    }

    package mutating func release(_ frame: FrameRef) {
        check(frame)
        slots[Int(frame.slot)].references -= 1
        guard slots[Int(frame.slot)].references == 0 else { return }
        slots[Int(frame.slot)].generation &+= 1
        free.append(frame.slot)
    }

    /// The frame, with `headroom` writable bytes in front. Valid until the store changes.
    package func bytes(of frame: FrameRef) -> UnsafeMutableRawBufferPointer {
        check(frame)
        return UnsafeMutableRawBufferPointer(start: pointer(to: frame.slot), count: Int(slots[Int(frame.slot)].count))
    }

    private func check(_ frame: FrameRef) {
        precondition(slots[Int(frame.slot)].generation == frame.generation, "a frame is used after its last holder released it")
    }

    private func pointer(to slot: UInt32) -> UnsafeMutableRawPointer {
        chunks[Int(slot) / Self.chunkSlots] + (Int(slot) % Self.chunkSlots) * stride + headroom
    }

    private mutating func grow() -> UInt32? {
        guard slots.count < slotsMax else { return nil }
        chunks.append(.allocate(byteCount: stride * Self.chunkSlots, alignment: 64))
        let first = slots.count
        slots.append(contentsOf: repeatElement(Slot(), count: Self.chunkSlots))
        free.append(contentsOf: (first..<slots.count).lazy.map(UInt32.init).reversed())
        return free.popLast()
    }
}

/// A reference to a stored frame, 8 bytes. The generation traps use after release.
package struct FrameRef: Hashable, Sendable {
    package let slot: UInt32
    package let generation: UInt32
}
