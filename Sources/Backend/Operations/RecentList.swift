/// The latest values of a kind, oldest first. A new value evicts the oldest one if the list has `limit` values.
///
/// A value with the same key as an earlier one replaces it, moves to the end and increments its count, so that repetitions do not
/// evict other values.
struct RecentList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    struct Entry: Sendable {
        fileprivate var key: Key
        var value: Value
        /// The number of values with this key since the entry was created.
        var count: Int
        /// The time of the latest value, in milliseconds since 1970.
        var at: Int64
    }

    private(set) var entries: [Entry] = []
    let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func append(_ value: Value, as key: Key, at time: Int64) {
        var count = 1
        if let index = entries.firstIndex(where: { $0.key == key }) {
            count += entries.remove(at: index).count
        } else if entries.count == limit {
            entries.removeFirst()
        }
        entries.append(Entry(key: key, value: value, count: count, at: time))
    }

    /// Changes the value of a key, if it is in the list.
    mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
        guard let index = entries.lastIndex(where: { $0.key == key }) else { return }
        body(&entries[index].value)
    }
}
