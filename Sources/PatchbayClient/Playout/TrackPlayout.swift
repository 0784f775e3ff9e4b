internal import Audio
internal import Wire

/// Plays a track in its mode. Exactly one of `live` and `ahead` is set, or none if libopus is out of memory.
struct TrackPlayout: ~Copyable {
    private var live: PCMPlayout?
    private var ahead: AheadPlayout?
    private var reports = PlayoutReports()
    private let track: TrackSID

    init(_ track: TrackSID, mode: TrackMode, channels: Int, jitter: JitterLimits, expectedStall: Duration) {
        self.track = track
        switch mode {
        case .live: live = try? PCMPlayout(channels: channels, jitter: jitter, expectedStall: expectedStall)
        case .ahead: ahead = try? AheadPlayout(channels: channels)
        }
    }

    mutating func insert(_ frame: ReceivedFrame) {
        live?.insert(frame)
        ahead?.insert(frame)
    }

    mutating func clear(epoch: UInt8) {
        ahead?.clear(epoch: epoch)
    }

    /// The next 20 ms; nil before the first frame is due.
    mutating func next(at now: Instant) -> PCMChunk? {
        live?.next(at: now) ?? ahead?.next(at: now)
    }

    /// Whether all received audio was returned.
    var isDry: Bool { mutating get { (live?.isDry ?? true) && (ahead?.isDry ?? true) } }

    var statistics: PlayoutStatistics { mutating get { live?.playout ?? ahead?.playout ?? PlayoutStatistics() } }

    mutating func position(held: Duration) -> PlayoutPosition? {
        ahead?.position(heldTicks: held.inTicks) ?? nil
    }

    /// The report to send to the gateway now, if any.
    mutating func report(_ position: PlayoutPosition?, at now: Instant) -> PlayoutProgress? {
        position.flatMap { reports.report($0, of: track, at: now) }
    }
}

/// Decides when to report the playout of an `ahead` track: every 200 ms while it plays, when it stops, and at once in a new epoch. A pure
/// value; time is an argument.
struct PlayoutReports {
    private static let interval = Duration.milliseconds(ProtocolLimits.progressIntervalMilliseconds)

    private var lastAt: Instant?
    private var last: PlayoutPosition?

    /// The report that is due now, if any.
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
