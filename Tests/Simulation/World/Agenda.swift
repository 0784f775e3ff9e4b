package import Wire

/// What will happen, by time; what is due at the same time happens in the order in which it was put in.
package struct Agenda<Happening> {
    private struct Entry {
        let due: UInt64
        let number: UInt64
        let happening: Happening

        func isBefore(_ other: Entry) -> Bool {
            due != other.due ? due < other.due : number < other.number
        }
    }

    /// A binary heap: each entry is before its two children.
    private var entries: [Entry] = []
    private var count: UInt64 = 0

    package init() {}

    package mutating func add(_ happening: Happening, at due: Instant) {
        count += 1
        entries.append(Entry(due: due.nanoseconds, number: count, happening: happening))
        var place = entries.count - 1
        while place > 0, entries[place].isBefore(entries[(place - 1) / 2]) {
            entries.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    package mutating func next() -> (due: Instant, happening: Happening)? {
        guard let first = entries.first, let last = entries.popLast() else { return nil }
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return (Instant(nanoseconds: first.due), first.happening)
    }

    private mutating func sink() {
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < entries.count && entries[child].isBefore(entries[least]) {
                least = child
            }
            if least == place { return }
            entries.swapAt(place, least)
            place = least
        }
    }
}
