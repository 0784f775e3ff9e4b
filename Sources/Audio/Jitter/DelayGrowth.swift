internal import Wire

/// How much longer the delay has to become, because frames came too late.
struct DelayGrowth {
    private var owedTicks = 0
    /// The last growth: frames that belonged before it have been made up for in part.
    private var last: (before: MediaTime, ticks: Int)?

    /// `lateness` is how far playout was past the frame's place when it came.
    mutating func note(lateness: Int, of timestamp: MediaTime) {
        var ticks = lateness
        if let last, timestamp.distance(from: last.before) < 0 { ticks -= last.ticks }
        owedTicks = max(owedTicks, ticks / 120 * 120)
    }

    /// Waiting for frames has made the delay longer already.
    mutating func forgive(_ ticks: Int) {
        owedTicks = max(owedTicks - ticks, 0) / 120 * 120
    }

    /// A piece of what is owed, or nil.
    mutating func take(atMost limit: Int, at position: MediaTime) -> Int? {
        let ticks = min(owedTicks, limit) / 120 * 120
        guard ticks > 0 else { return nil }
        owedTicks -= ticks
        if let before = last, before.before == position {
            last = (position, before.ticks + ticks)
        } else {
            last = (position, ticks)
        }
        return ticks
    }
}
