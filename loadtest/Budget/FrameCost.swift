import CallCounter

/// What was counted while frames were relayed.
struct FrameCost: Encodable {
    var frames: UInt64
    /// In those moments that hold the quieter half of what was sent. In the others control messages came too (signs of life, every
    /// five seconds from everybody), which do allocate; what each frame took would be in all moments.
    var allocations: UInt
    var receives: UInt
    var sends: UInt
    var waits: UInt
    var others: UInt
    var handed: UInt

    struct Sample {
        let frames: UInt64
        let allocations = call_counter_allocations()
        let receives = call_counter_receives()
        let sends = call_counter_sends()
        let waits = call_counter_waits()
        let others = call_counter_others()
        let handed = call_counter_handed()
    }

    /// - Parameter samples: at least two, a few milliseconds apart.
    init(_ samples: [Sample]) {
        // The gateway tells its counts once a second: from one telling to another.
        let tellings = zip(samples, samples.dropFirst()).compactMap { $1.frames != $0.frames ? $1 : nil }
        let (before, after) = (tellings.first ?? samples[0], tellings.last ?? samples[samples.count - 1])
        frames = after.frames - before.frames
        allocations = Self.allocationsOfTheQuieterHalf(samples)
        receives = after.receives - before.receives
        sends = after.sends - before.sends
        waits = after.waits - before.waits
        others = after.others - before.others
        handed = after.handed - before.handed
    }

    private static func allocationsOfTheQuieterHalf(_ samples: [Sample]) -> UInt {
        let moments = zip(samples, samples.dropFirst()).map { (allocations: $1.allocations - $0.allocations, sends: $1.sends - $0.sends) }
        let half = moments.reduce(0) { $0 + $1.sends } / 2
        var (allocations, sends): (UInt, UInt) = (0, 0)
        for moment in moments.sorted(by: { $0.allocations < $1.allocations }) where sends < half {
            allocations += moment.allocations
            sends += moment.sends
        }
        return allocations
    }

    func perFrame(_ count: UInt) -> Double { frames == 0 ? 0 : Double(count) / Double(frames) }
}
