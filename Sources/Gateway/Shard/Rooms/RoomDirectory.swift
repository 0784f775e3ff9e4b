internal import Engine
internal import Synchronization
internal import Wire

/// Which shard each open room is homed on. Used when participants join and rooms open or close; never for a frame.
final class RoomDirectory: Sendable {
    private struct Entry {
        let home: Int
        /// Joins on their way from other shards: the home stays the same while there are any.
        var pendingJoins = 0
        /// False once the room is closed and only pending joins keep the entry.
        var isOpen = true
        /// The participants that fill the room, each of which may still be replaced by its own identity; nil while there is capacity.
        var occupantsOfFullRoom: Set<Identity>?
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The room's home; nil if no room of that name is open.
    func home(of room: String) -> Int? {
        entries.withLock { $0[room].flatMap { $0.isOpen ? $0.home : nil } }
    }

    /// The room's home, which becomes `shard` if it has none. If the home is another shard, a join must be posted to it.
    func claim(_ room: String, for shard: Int) -> Int {
        entries.withLock { entries in
            guard let home = entries[room]?.home else {
                entries[room] = Entry(home: shard)
                return shard
            }
            if home == shard { entries[room]?.isOpen = true } else { entries[room]?.pendingJoins += 1 }
            return home
        }
    }

    /// The room's home, which becomes `shard` if it has none. Unlike with `claim`, no join follows if the home is another shard.
    func claimVacant(_ room: String, for shard: Int) -> Int {
        entries.withLock { entries in
            let home = entries[room]?.home ?? shard
            if home == shard { entries[room, default: Entry(home: shard)].isOpen = true }
            return home
        }
    }

    /// A pending join has arrived at the room's home, which opens the room again if it was closed.
    func arrived(in room: String) {
        entries.withLock { entries in
            entries[room]?.pendingJoins -= 1
            entries[room]?.isOpen = true
        }
    }

    /// A pending join was not posted after all.
    func withdraw(from room: String) {
        entries.withLock { entries in
            entries[room]?.pendingJoins -= 1
            if let entry = entries[room], !entry.isOpen, entry.pendingJoins == 0 { entries[room] = nil }
        }
    }

    /// The room is closed. Called by its home only.
    func release(_ room: String) {
        entries.withLock { entries in
            guard let entry = entries[room] else { return }
            entries[room] = entry.pendingJoins > 0 ? Entry(home: entry.home, pendingJoins: entry.pendingJoins, isOpen: false) : nil
        }
    }

    /// Publishes who fills a room, or with nil that it has capacity. Called by its home only.
    func setOccupants(_ identities: Set<Identity>?, filling room: String) {
        entries.withLock { $0[room]?.occupantsOfFullRoom = identities }
    }

    /// Whether the room has no capacity for this identity, as far as is known outside its home.
    func isFull(_ room: String, for identity: Identity) -> Bool {
        entries.withLock { entries in
            guard let occupants = entries[room]?.occupantsOfFullRoom else { return false }
            return !occupants.contains(identity)
        }
    }
}
