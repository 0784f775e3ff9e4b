/// Values by key that keep the order in which they came.
///
/// What yields effects must not depend on hashing (it differs in every process), and what is looked up by name must
/// not scan a room of thousands. So: arrays to walk over, a dictionary only to find a place. Looking up and appending
/// are constant time; removing is linear, because those behind move up. An empty one holds no memory: a room lives on for
/// a while after everybody has left.
package struct Roster<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// In order of arrival, place by place beside `values`.
    package private(set) var keys: [Key] = []
    package private(set) var values: [Value] = []
    private var places: [Key: Int] = [:]

    package init() {}

    package var count: Int { keys.count }
    package var isEmpty: Bool { keys.isEmpty }

    package func contains(_ key: Key) -> Bool { places[key] != nil }

    package func place(of key: Key) -> Int? { places[key] }

    package subscript(_ key: Key) -> Value? { places[key].map { values[$0] } }

    /// The value at a place, to be changed where it is. A place is good until the next removal.
    package subscript(at place: Int) -> Value {
        _read { yield values[place] }
        _modify { yield &values[place] }
    }

    package mutating func append(_ value: Value, for key: Key) {
        precondition(places[key] == nil, "the key is taken; remove the old value first")
        places[key] = keys.count
        keys.append(key)
        values.append(value)
    }

    /// Gives a value another key; it keeps its place.
    package mutating func rename(_ old: Key, to new: Key) {
        precondition(places[new] == nil, "the key is taken; remove its value first")
        guard let place = places.removeValue(forKey: old) else { return }
        places[new] = place
        keys[place] = new
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if keys.count == 1 {
            defer { removeAll() }
            return values[0]
        }
        places[key] = nil
        keys.remove(at: place)
        let value = values.remove(at: place)
        for place in place..<keys.count { places[keys[place]] = place }
        return value
    }

    package mutating func removeAll() {
        self = Roster()
    }
}
