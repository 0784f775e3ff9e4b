import CallCounter

/// What was counted while frames were relayed.
struct FrameCost: Encodable {
    var frames: UInt64
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

    init(from before: Sample, to after: Sample) {
        frames = after.frames - before.frames
        allocations = after.allocations - before.allocations
        receives = after.receives - before.receives
        sends = after.sends - before.sends
        waits = after.waits - before.waits
        others = after.others - before.others
    }

    func perFrame(_ count: UInt) -> Double { frames == 0 ? 0 : Double(count) / Double(frames) }
}
