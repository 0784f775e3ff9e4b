internal import Wire

/// The connections of a loop: those that are open, and those that have ended in this turn.
///
/// A connection is reported and released at the end of the turn in which it ends, so that its delegate is not called from within a call to
/// it, and so that nothing on a frame's way needs a reference count.
struct EdgeTable {
    private(set) var open: [EdgeConnection] = []
    private var ended: [EdgeConnection.Phase] = []
    private var closed: [EdgeConnection] = []
    /// Connections with a deadline, unordered: scanned every `UVLoop.scanMilliseconds` while there are any, so that setting and removing one
    /// take constant time also when thousands of connections arrive or end at once.
    private var timed: [EdgeConnection] = []

    var hasEnded: Bool { !ended.isEmpty }
    var hasDeadlines: Bool { !timed.isEmpty }

    mutating func add(_ edge: EdgeConnection) {
        edge.listing.index = open.count
        open.append(edge)
    }

    mutating func remove(_ edge: EdgeConnection) {
        // First, because `open` may have the last reference.
        closed.append(edge)
        let index = edge.listing.index
        open.swapAt(index, open.count - 1)
        open[index].listing.index = index
        open.removeLast()
    }

    mutating func noteEnded(_ phase: EdgeConnection.Phase) { ended.append(phase) }

    mutating func takeEnded() -> [EdgeConnection.Phase] {
        defer { ended = [] }
        return ended
    }

    mutating func releaseClosed() { closed.removeAll(keepingCapacity: true) }

    // MARK: Deadlines

    mutating func set(_ deadline: Instant?, of edge: EdgeConnection) {
        let hadOne = edge.listing.deadline != nil
        edge.listing.deadline = deadline
        guard hadOne != (deadline != nil) else { return }
        if hadOne {
            let index = edge.listing.deadlineIndex
            timed.swapAt(index, timed.count - 1)
            timed[index].listing.deadlineIndex = index
            timed.removeLast()
        } else {
            edge.listing.deadlineIndex = timed.count
            timed.append(edge)
        }
    }

    /// The connections whose deadline has passed, which they no longer have.
    mutating func takeExpired(at now: Instant) -> [EdgeConnection] {
        let expired = timed.filter { $0.listing.deadline.map { $0 <= now } ?? false }
        for edge in expired { set(nil, of: edge) }
        return expired
    }
}
