import Engine
import Gateway
import Testing

/// Slots are reused only under a new generation, and never while their occupant is lent.
struct SlotTableTests {
    private final class Occupant {}

    @Test func handleOfAPreviousOccupantDoesNotResolve() {
        let table = SlotTable<Occupant>(shard: 3)
        let first = table.reserve()
        table.occupy(first, with: Occupant())
        #expect(table.occupant(of: first) != nil)
        table.free(first)
        let second = table.reserve()
        let occupant = Occupant()
        table.occupy(second, with: occupant)
        #expect(second.slot == first.slot)
        #expect(table.occupant(of: first) == nil)
        #expect(table.occupant(of: second) === occupant)
    }

    @Test func vacatedSlotIsNotReusedBeforeItIsFreed() {
        let table = SlotTable<Occupant>(shard: 0)
        let handle = table.reserve()
        table.occupy(handle, with: Occupant())
        table.vacate(handle)
        #expect(table.reserve().slot != handle.slot)
        table.free(handle)
        #expect(table.reserve().slot == handle.slot)
    }

    @Test func lendingFindsTheOccupantOfASlot() {
        let table = SlotTable<Occupant>(shard: 0)
        let handle = table.reserve()
        var found: Occupant?
        table.withOccupant(at: handle.slot) { found = $0 }
        #expect(found == nil)
        let occupant = Occupant()
        table.occupy(handle, with: occupant)
        table.withOccupant(at: handle.slot) { found = $0 }
        #expect(found === occupant)
        table.withOccupant(at: 7) { _ in Issue.record("no such slot") }
    }

    #if DEBUG
        @Test func freeingALentSlotTraps() async {
            await #expect(processExitsWith: .failure) {
                let table = SlotTable<LentOccupant>(shard: 0)
                let handle = table.reserve()
                table.occupy(handle, with: LentOccupant())
                table.withOccupant(at: handle.slot) { _ in table.free(handle) }
            }
        }

        @Test func freeingAnotherSlotWhileOneIsLentIsAllowed() {
            let table = SlotTable<Occupant>(shard: 0)
            let (one, other) = (table.reserve(), table.reserve())
            for handle in [one, other] { table.occupy(handle, with: Occupant()) }
            table.withOccupant(at: one.slot) { _ in table.free(other) }
            table.free(one)
            #expect(table.occupant(of: one) == nil)
        }
    #endif
}

/// An occupant that an exit test's closure can name.
private final class LentOccupant {}
