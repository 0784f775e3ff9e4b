import CallCounter

/// Counters while frames were relayed.
struct FrameCost: Encodable {
    var frames: UInt64
    /// In the intervals that hold the quieter half of the frames. The others include control messages (pings every 5 s), which allocate; an
    /// allocation per frame would appear in all intervals.
    var allocations: UInt
    var receives: UInt
    var sends: UInt
    var waits: UInt
    var others: UInt

    struct Sample {
        let frames: UInt64
        let allocations = call_counter_allocations()
        let receives = call_counter_receives()
        let sends = call_counter_sends()
        let waits = call_counter_waits()
        let others = call_counter_others()
    }

    /// - Parameter samples: at least two, a few milliseconds apart.
    init(_ samples: [Sample]) {
        // The gateway updates its counters once a second: measure from one update to another.
        let updates = zip(samples, samples.dropFirst()).compactMap { $1.frames != $0.frames ? $1 : nil }
        let (before, after) = (updates.first ?? samples[0], updates.last ?? samples[samples.count - 1])
        frames = after.frames - before.frames
        allocations = Self.allocationsInQuieterHalf(samples)
        receives = after.receives - before.receives
        sends = after.sends - before.sends
        waits = after.waits - before.waits
        others = after.others - before.others
    }

    private static func allocationsInQuieterHalf(_ samples: [Sample]) -> UInt {
        let intervals = zip(samples, samples.dropFirst()).map { (allocations: $1.allocations - $0.allocations, sends: $1.sends - $0.sends) }
        let half = intervals.reduce(0) { $0 + $1.sends } / 2
        var (allocations, sends): (UInt, UInt) = (0, 0)
        for interval in intervals.sorted(by: { $0.allocations < $1.allocations }) where sends < half {
            allocations += interval.allocations
            sends += interval.sends
        }
        return allocations
    }

    func perFrame(_ count: UInt) -> Double { frames == 0 ? 0 : Double(count) / Double(frames) }
}
