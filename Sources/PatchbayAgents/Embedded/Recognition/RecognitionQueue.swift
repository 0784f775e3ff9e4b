internal import Wire

/// The segments that wait for a recognizer. Pure.
///
/// Final segments come first, then partial ones, each in the order of their arrival. A partial segment is skipped when a longer segment of the
/// same utterance arrives. When the queue is full, the oldest partial segment makes way; without one, the new segment is refused.
struct RecognitionQueue {
    struct Entry: Hashable {
        let id: Int
        /// When the utterance began; identifies it.
        let start: Instant
        let isPartial: Bool
    }

    enum Admission: Hashable {
        /// - Parameter skipped: entries that need no result any more.
        case queued(skipped: [Int])
        case full
    }

    private let limit: Int
    private var entries: [Entry] = []

    init(limit: Int) {
        precondition(limit > 0, "a queue holds at least one entry")
        self.limit = limit
    }

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ entry: Entry) -> Admission {
        var skipped = entries.filter { $0.isPartial && $0.start == entry.start }.map(\.id)
        entries.removeAll { $0.isPartial && $0.start == entry.start }
        if entries.count >= limit {
            guard let oldest = entries.firstIndex(where: \.isPartial) else { return .full }
            skipped.append(entries.remove(at: oldest).id)
        }
        entries.append(entry)
        return .queued(skipped: skipped)
    }

    /// - Returns: whether the entry was still waiting.
    mutating func remove(_ id: Int) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        entries.remove(at: index)
        return true
    }

    /// Removes the entry that is next.
    mutating func next() -> Int? {
        if entries.isEmpty { return nil }
        return entries.remove(at: entries.firstIndex { !$0.isPartial } ?? 0).id
    }
}
