package import Wire

/// A priority queue of scheduled events; first in, first out among events due at the same time.
package struct EventQueue<ScheduledEvent> {
    private struct Entry {
        let due: UInt64
        let number: UInt64
        let event: ScheduledEvent

        func isBefore(_ other: Entry) -> Bool {
            due != other.due ? due < other.due : number < other.number
        }
    }

    /// A binary heap: each entry is before its two children.
    private var entries: [Entry] = []
    private var count: UInt64 = 0

    package init() {}

    package mutating func add(_ event: ScheduledEvent, at due: Instant) {
        count += 1
        entries.append(Entry(due: due.nanoseconds, number: count, event: event))
        var index = entries.count - 1
        while index > 0, entries[index].isBefore(entries[(index - 1) / 2]) {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    package mutating func next() -> (due: Instant, event: ScheduledEvent)? {
        guard let first = entries.first, let last = entries.popLast() else { return nil }
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return (Instant(nanoseconds: first.due), first.event)
    }

    private mutating func sink() {
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < entries.count && entries[child].isBefore(entries[least]) {
                least = child
            }
            if least == index { return }
            entries.swapAt(index, least)
            index = least
        }
    }
}
