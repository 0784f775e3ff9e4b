/// An insertion-ordered dictionary.
///
/// Iteration must not depend on hashing, which differs between processes. Lookup and append take constant time: up to eight keys
/// are scanned, more are found through a dictionary. Removal is linear. An empty roster holds no memory.
struct Roster<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// In insertion order, parallel to `values`.
    private(set) var keys: [Key] = []
    private(set) var values: [Value] = []
    /// Empty while the keys are few.
    private var indices: [Key: Int] = [:]

    private static var fewMax: Int { 8 }

    var count: Int { keys.count }
    var isEmpty: Bool { keys.isEmpty }

    func contains(_ key: Key) -> Bool { index(of: key) != nil }

    func index(of key: Key) -> Int? { keys.count > Self.fewMax ? indices[key] : keys.firstIndex(of: key) }

    subscript(_ key: Key) -> Value? { index(of: key).map { values[$0] } }

    /// The value at an index, modified in place. Indices are valid until the next removal.
    subscript(at index: Int) -> Value {
        // An array copies the value it yields, a span borrows it.
        @inline(__always) _read { yield values.span[index] }
        _modify { yield &values[index] }
    }

    mutating func append(_ value: Value, for key: Key) {
        precondition(!contains(key), "the key is taken; remove the old value first")
        keys.append(key)
        values.append(value)
        updateIndices(from: keys.count - 1)
    }

    /// Replaces the key of a value, which keeps its index.
    mutating func rename(_ old: Key, to new: Key) {
        precondition(!contains(new), "the key is taken; remove its value first")
        guard let index = index(of: old) else { return }
        indices[old] = nil
        keys[index] = new
        updateIndices(from: index)
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let index = index(of: key) else { return nil }
        if keys.count == 1 {
            defer { removeAll() }
            return values[0]
        }
        indices[key] = nil
        keys.remove(at: index)
        let value = values.remove(at: index)
        updateIndices(from: index)
        return value
    }

    mutating func removeAll() {
        self = Roster()
    }

    /// Updates the indices of the keys from `first` on.
    private mutating func updateIndices(from first: Int) {
        guard keys.count > Self.fewMax else {
            if !indices.isEmpty { indices = [:] }
            return
        }
        for index in indices.isEmpty ? 0..<keys.count : first..<keys.count { indices[keys[index]] = index }
    }
}
