internal import Wire

/// When each frame that is sent ahead may leave: at once, until so much has left that the rest can wait. A pure value.
///
/// The gateway refuses what is more than 60 s ahead; half of that leaves room for its clock to start later than ours, and is more than
/// anybody listens to without interrupting.
struct AheadPacer {
    static let aheadMax = Duration.seconds(30)

    /// When all that has been sent will have been played, at the earliest.
    private var playedBy: Instant?

    /// - Parameter ticks: how long the frame lasts, with the silence before it.
    mutating func deadline(ticks: Int, at now: Instant) -> Instant {
        let begins = max(playedBy ?? now, now)
        playedBy = begins + .ticks(ticks)
        return begins - now > Self.aheadMax ? begins + (.zero - Self.aheadMax) : now
    }
}
