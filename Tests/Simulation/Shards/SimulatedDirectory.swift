internal import Wire

/// The home shard of each open room, as the gateway's `RoomDirectory`.
struct SimulatedDirectory {
    private struct Entry {
        let home: Int
        var expected = 0
        var isOpen = true
        var identitiesWhenFull: Set<Identity>?
    }

    private var entries: [String: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    func home(of room: String) -> Int? {
        entries[room].flatMap { $0.isOpen ? $0.home : nil }
    }

    mutating func claim(_ room: String, for shard: Int) -> Int {
        guard let home = entries[room]?.home else {
            entries[room] = Entry(home: shard)
            return shard
        }
        if home == shard { entries[room]?.isOpen = true } else { entries[room]?.expected += 1 }
        return home
    }

    mutating func arrived(in room: String) {
        entries[room]?.expected -= 1
        entries[room]?.isOpen = true
    }

    mutating func release(_ room: String) {
        guard let entry = entries[room] else { return }
        entries[room] = entry.expected > 0 ? Entry(home: entry.home, expected: entry.expected, isOpen: false) : nil
    }

    mutating func setFull(_ room: String, _ identities: Set<Identity>?) {
        entries[room]?.identitiesWhenFull = identities
    }

    func isFull(_ room: String, for identity: Identity) -> Bool {
        guard let filled = entries[room]?.identitiesWhenFull else { return false }
        return !filled.contains(identity)
    }
}
