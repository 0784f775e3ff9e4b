internal import COpenSSL
internal import Wire

/// The work that a loop collects within a turn and does at its end.
struct Turn {
    /// The longest time between two checks of messages that wait for the timer. Those due before the next check are sent at this one.
    static let timerMilliseconds: UInt64 = 20
    /// Sockets that are not WebSockets take this time of a turn before the rest is left to the next turn, so that a flood of them delays
    /// frames by little more than this.
    static let otherNanosecondsMax: UInt64 = 2_000_000

    var isBatch = false
    var otherNanoseconds: UInt64 = 0
    /// Connections with messages or control frames that wait for the end of the turn.
    var queue: [Connection] = []
    /// Connections with messages that wait for the loop's timer.
    var timerQueue: [Connection] = []

    mutating func takeTimerQueue() -> [Connection] {
        defer { timerQueue = [] }
        return timerQueue
    }
}

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

/// Memory for messages without headroom, and masks for clients.
@safe struct Scratch: ~Copyable {
    private var room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
    private var masks: [UInt32] = []

    deinit { unsafe room.deallocate() }

    /// - Returns: a copy with `Connection.headroom` writable bytes before it, valid until the next call.
    mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer {
        let needed = bytes.count + Connection.headroom
        if unsafe room.count < needed {
            unsafe room.deallocate()
            unsafe room = .allocate(byteCount: needed * 2, alignment: 16)
        }
        let start = unsafe room.baseAddress! + Connection.headroom
        if let base = bytes.baseAddress { unsafe start.copyMemory(from: base, byteCount: bytes.count) }
        return unsafe start
    }

    mutating func nextMask() -> UInt32 {
        if masks.isEmpty {
            masks = [UInt32](repeating: 0, count: 1_024)
            _ = unsafe masks.withUnsafeMutableBytes { unsafe RAND_bytes($0.baseAddress, Int32($0.count)) }
        }
        return masks.removeLast()
    }
}
