internal import Wire

/// Where a shard keeps frames that wait: each stored once, however many subscribers wait for it, with room in front for the
/// WebSocket header. Everywhere else a frame is a `FrameRef`.
///
/// Memory comes in chunks and stays; a frame takes no allocation. Not for frames that leave at once: those go from the
/// bytes they came in, by way of `staging`.
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
        var holders: UInt16 = 0
    }

    /// Frames that are held now.
    package var heldCount: Int { slots.count - free.count }

    /// - Parameters:
    ///   - headroom: writable bytes that the sender of a frame needs before it.
    ///   - framesMax: frames held at once; beyond it `store` refuses.
    package init(headroom: Int, framesMax: Int = Limits.storedFramesMax) {
        self.headroom = headroom
        self.stride = (headroom + ProtocolLimits.frameBytesMax + 63) & ~63
        self.slotsMax = framesMax
    }

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// Copies a frame in and holds it once. Nil if the store is full: the caller counts the drop.
    package mutating func store(_ frame: UnsafeRawBufferPointer) -> FrameRef? {
        precondition(frame.count <= ProtocolLimits.frameBytesMax, "a frame is checked before it is stored")
        guard let index = free.popLast() ?? grow(), let bytes = frame.baseAddress else { return nil }
        pointer(to: index).copyMemory(from: bytes, byteCount: frame.count)
        slots[Int(index)].count = UInt16(frame.count)
        slots[Int(index)].holders = 1
        return FrameRef(slot: index, generation: slots[Int(index)].generation)
    }

    package mutating func retain(_ frame: FrameRef) {
        check(frame)
        slots[Int(frame.slot)].holders += 1
    }

    package mutating func release(_ frame: FrameRef) {
        check(frame)
        slots[Int(frame.slot)].holders -= 1
        guard slots[Int(frame.slot)].holders == 0 else { return }
        slots[Int(frame.slot)].generation &+= 1
        free.append(frame.slot)
    }

    /// The frame, with `headroom` writable bytes before it. Valid until the next change of the store.
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

/// A frame in a store: 8 copied bytes. The generation traps a use after release.
package struct FrameRef: Hashable, Sendable {
    package let slot: UInt32
    package let generation: UInt32
}
