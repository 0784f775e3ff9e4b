/// The latest values of a kind, oldest first, at most `limit`: the oldest makes room for a new one.
///
/// A value with the key of an earlier one takes its place at the end and is counted with it, so that one that repeats does not push out the
/// others.
struct RecentList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    struct Entry: Sendable {
        fileprivate var key: Key
        var value: Value
        /// How often a value with this key came since the first one that is kept.
        var count: Int
        /// Milliseconds since 1970, of the latest.
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
}
