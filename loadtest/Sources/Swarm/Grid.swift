/// A periodic schedule: position p of round k is due at `start` + (k + p / positions) × `interval`, in nanoseconds.
///
/// Each publisher has a position in every 20 ms and each connection one in every 5 s, so load is evenly spread and the next event is
/// known without a timer queue.
struct Grid: Sendable {
    let start: UInt64
    let interval: UInt64
    let positions: Int
    private(set) var round: UInt64 = 0
    private(set) var position = 0
    /// When the current position is due.
    private(set) var due: UInt64

    init(start: UInt64, interval: UInt64, positions: Int) {
        precondition(positions > 0 && interval > 0)
        self.start = start
        self.interval = interval
        self.positions = positions
        due = start
    }

    /// Advances to the next position.
    mutating func advance() {
        position += 1
        if position == positions {
            position = 0
            round += 1
        }
        due = start &+ round &* interval &+ UInt64(position) &* interval / UInt64(positions)
    }

    /// Continues with the first round that begins after `now`.
    ///
    /// - Returns: the number of positions skipped.
    mutating func skip(to now: UInt64) -> Int {
        let before = round &* UInt64(positions) &+ UInt64(position)
        round = (now &- start) / interval + 1
        position = 0
        due = start &+ round &* interval
        return Int(round &* UInt64(positions) &- before)
    }
}
