internal import Wire

/// How long the frames of the last seconds have waited in the buffer, at the least. What all of them waited beyond the target is excess.
struct ResidenceWindow {
    /// Frames in half a window: 2.5 s of 20 ms frames.
    private static let framesInHalf = 125
    /// Shrinking leaves this, even for a target of zero.
    private static let reserve = 10 * MediaTime.ticksPerMillisecond

    private var leastBefore: Int?
    private var least = Int.max
    private var frames = 0

    mutating func note(_ waitedTicks: Int) {
        least = min(least, waitedTicks)
        frames += 1
        if frames == Self.framesInHalf {
            leastBefore = least
            least = Int.max
            frames = 0
        }
    }

    /// 0 until half a window is full.
    func excess(over targetTicks: Int) -> Int {
        guard let leastBefore else { return 0 }
        return max(min(leastBefore, least) - max(targetTicks, Self.reserve), 0)
    }

    mutating func shrink(by ticks: Int) {
        if ticks == 0 { return }
        if let before = leastBefore { leastBefore = before - ticks }
        if least < Int.max { least -= ticks }
    }
}
