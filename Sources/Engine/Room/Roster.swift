/// Values by key that keep the order in which they came.
///
/// What yields effects must not depend on hashing (it differs in every process), and what is looked up by name must
/// not scan a room of thousands. So: arrays to walk over, and where there are more than a few keys a dictionary to find a index; a few are
/// looked through sooner than hashed. Looking up and appending are constant time; removing is linear, because those behind move up. An
/// empty one holds no memory: a room lives on for a while after everybody has left.
package struct Roster<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// In order of arrival, index by index beside `values`.
    package private(set) var keys: [Key] = []
    package private(set) var values: [Value] = []
    /// Empty while `keys` are few.
    private var indices: [Key: Int] = [:]

    package init() {}

    private static var fewMax: Int { 8 }

    package var count: Int { keys.count }
    package var isEmpty: Bool { keys.isEmpty }

    package func contains(_ key: Key) -> Bool { index(of: key) != nil }

    package func index(of key: Key) -> Int? { keys.count > Self.fewMax ? indices[key] : keys.firstIndex(of: key) }

    package subscript(_ key: Key) -> Value? { index(of: key).map { values[$0] } }

    /// The value at a index, to be changed where it is. A index is good until the next removal.
    package subscript(at index: Int) -> Value {
        // An array copies what it yields, a span lends it.
        @inline(__always) _read { yield values.span[index] }
        _modify { yield &values[index] }
    }

    package mutating func append(_ value: Value, for key: Key) {
        precondition(!contains(key), "the key is taken; remove the old value first")
        keys.append(key)
        values.append(value)
        notePlaces(from: keys.count - 1)
    }

    /// Gives a value another key; it keeps its index.
    package mutating func rename(_ old: Key, to new: Key) {
        precondition(!contains(new), "the key is taken; remove its value first")
        guard let index = index(of: old) else { return }
        indices[old] = nil
        keys[index] = new
        notePlaces(from: index)
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let index = index(of: key) else { return nil }
        if keys.count == 1 {
            defer { removeAll() }
            return values[0]
        }
        indices[key] = nil
        keys.remove(at: index)
        let value = values.remove(at: index)
        notePlaces(from: index)
        return value
    }

    package mutating func removeAll() {
        self = Roster()
    }

    /// Keys from that index on are new there.
    private mutating func notePlaces(from first: Int) {
        guard keys.count > Self.fewMax else {
            if !indices.isEmpty { indices = [:] }
            return
        }
        for index in indices.isEmpty ? 0..<keys.count : first..<keys.count { indices[keys[index]] = index }
    }
}
