internal import Engine
internal import Synchronization
internal import Wire

/// Which shard each open room is homed on. Asked when somebody joins, changed when a room begins and ends; no frame comes here.
final class RoomDirectory: Sendable {
    private struct Entry {
        let home: Int
        /// Joins that are on their way from other shards: as long as there are any, the home stays where they go to.
        var expected = 0
        /// False once the room is over and only joins that are on their way keep the entry.
        var isOpen = true
        /// Whoever comes later is refused, unless it is one of these, whose place it takes. Nil while there is room.
        var identitiesWhenFull: Set<Identity>?
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The room's home; nil if no room of that name is open.
    func home(of room: String) -> Int? {
        entries.withLock { $0[room].flatMap { $0.isOpen ? $0.home : nil } }
    }

    /// The room's home, which is `shard` if it has none yet. If it is another's, that one is to be told of the join.
    func claim(_ room: String, for shard: Int) -> Int {
        entries.withLock { entries in
            guard let home = entries[room]?.home else {
                entries[room] = Entry(home: shard)
                return shard
            }
            if home == shard { entries[room]?.isOpen = true } else { entries[room]?.expected += 1 }
            return home
        }
    }

    /// A join that was on its way has come to the room's home, which opens the room if it was over.
    func arrived(in room: String) {
        entries.withLock { entries in
            entries[room]?.expected -= 1
            entries[room]?.isOpen = true
        }
    }

    /// The room is over. Only its home says so.
    func release(_ room: String) {
        entries.withLock { entries in
            guard let entry = entries[room] else { return }
            entries[room] = entry.expected > 0 ? Entry(home: entry.home, expected: entry.expected, isOpen: false) : nil
        }
    }

    /// Notes who fills a room, or with nil that it has places again. Only its home says so.
    func setFull(_ room: String, _ identities: Set<Identity>?) {
        entries.withLock { $0[room]?.identitiesWhenFull = identities }
    }

    /// Whether the room has no place for one more of that identity, as far as is known outside its home.
    func isFull(_ room: String, for identity: Identity) -> Bool {
        entries.withLock { entries in
            guard let filled = entries[room]?.identitiesWhenFull else { return false }
            return !filled.contains(identity)
        }
    }
}
