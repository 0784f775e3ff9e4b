internal import Wire

/// When a listener tells the gateway how far it has heard an `ahead` track: every 200 ms while it plays, when it ends, and at
/// once in a new epoch. A pure value.
struct PlayoutReports {
    private static let interval = Duration.milliseconds(ProtocolLimits.progressIntervalMilliseconds)

    private var lastAt: Instant?
    private var last: PlayoutPosition?

    /// What is to be told now, if anything.
    mutating func report(_ position: PlayoutPosition, of track: TrackSID, at now: Instant) -> PlayoutProgress? {
        guard isDue(position, at: now) else { return nil }
        last = position
        lastAt = now
        return PlayoutProgress(
            track: track, epoch: position.epoch, playedTs: position.playedTo?.ticks,
            bufferedMs: (position.bufferedMs * 10).rounded() / 10)
    }

    private func isDue(_ position: PlayoutPosition, at now: Instant) -> Bool {
        guard let last, let lastAt else { return position.isPlaying }
        if position.epoch != last.epoch { return true }
        if position.isPlaying { return !last.isPlaying || now - lastAt >= Self.interval }
        return last.isPlaying
    }
}
