package import Engine

/// The slots of a shard: which connection occupies which slot, which slots are free, and which generation each is in.
///
/// A slot is reserved, occupied, possibly vacated while messages to it are still on their way, and freed. Freeing increments its generation,
/// so that handles of the previous occupant no longer resolve.
///
/// `withOccupant(at:_:)` is for a frame's way: it lends an occupant without reference counting. A slot must not be vacated or freed while
/// it is lent; debug builds record the lent slots and trap.
package final class SlotTable<Occupant: AnyObject> {
    private let shard: Int
    // Read for each frame: dynamic exclusivity checks would cost a call each. Only the shard's thread uses the table.
    @exclusivity(unchecked) private var occupants: [Occupant?] = []
    private var generations: [UInt16] = []
    private var freeSlots: [Int] = []
    /// Slots that are lent now; maintained in debug builds only.
    @exclusivity(unchecked) private var lentSlots: [UInt32] = []

    package init(shard: Int) {
        self.shard = shard
    }

    /// Slots that have ever been used.
    package var count: Int { occupants.count }

    package subscript(slot: Int) -> Occupant? { occupants[slot] }

    /// The occupant that a handle names; nil if it has left or belongs to another shard.
    package func occupant(of handle: ParticipantHandle) -> Occupant? {
        let slot = Int(handle.slot)
        guard Int(handle.shard) == shard, slot < occupants.count, generations[slot] == handle.generation else { return nil }
        return occupants[slot]
    }

    /// Reserves a slot until `free(_:)`.
    package func reserve() -> ParticipantHandle {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = occupants.count
            occupants.append(nil)
            generations.append(0)
        }
        return ParticipantHandle(shard: UInt16(shard), slot: UInt32(slot), generation: generations[slot])
    }

    package func occupy(_ handle: ParticipantHandle, with occupant: Occupant) {
        occupants[Int(handle.slot)] = occupant
    }

    /// Removes the occupant. The slot stays reserved until `free(_:)`.
    package func vacate(_ handle: ParticipantHandle) {
        assert(
            !lentSlots.contains(handle.slot), "slot \(handle.slot) is vacated while its occupant is lent; defer it to the end of the turn")
        occupants[Int(handle.slot)] = nil
    }

    /// Makes a slot available to the next `reserve()`.
    package func free(_ handle: ParticipantHandle) {
        vacate(handle)
        generations[Int(handle.slot)] &+= 1
        freeSlots.append(Int(handle.slot))
    }

    // MARK: Without reference counting

    /// Lends the occupant of a slot, if there is one.
    @inline(__always)
    package func withOccupant(at slot: UInt32, _ body: (Occupant) -> Void) {
        guard Int(slot) < occupants.count, let occupant = UnsafeRawPointer(bitPattern: address(ofOccupantAt: slot)) else { return }
        assert(noteLent(slot))
        // The table holds a reference for as long as the slot is occupied, so that the borrow needs none of its own.
        Unmanaged<Occupant>.fromOpaque(occupant)._withUnsafeGuaranteedRef(body)
        assert(noteReturned())
    }

    /// The memory address of a slot's occupant, for prefetching; 0 if there is none.
    @inline(__always)
    package func address(ofOccupantAt slot: UInt32) -> UInt {
        // Loading the reference itself would count it.
        occupants.withUnsafeBytes { $0.load(fromByteOffset: Int(slot) * MemoryLayout<Occupant?>.stride, as: UInt.self) }
    }

    private func noteLent(_ slot: UInt32) -> Bool {
        lentSlots.append(slot)
        return true
    }

    private func noteReturned() -> Bool {
        lentSlots.removeLast()
        return true
    }
}
