internal import Audio
internal import Wire

/// A track's playing, in the way that its mode asks for: exactly one of the two is there, or none if libopus has no memory.
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

    /// The next 20 ms; nil before the first frame's turn has come.
    mutating func next(at now: Instant) -> PCMChunk? {
        live?.next(at: now) ?? ahead?.next(at: now)
    }

    /// Whether all that came has been given out.
    var isDry: Bool { mutating get { (live?.isDry ?? true) && (ahead?.isDry ?? true) } }

    var statistics: PlayoutStatistics { mutating get { live?.playout ?? ahead?.playout ?? PlayoutStatistics() } }

    mutating func position(held: Duration) -> PlayoutPosition? {
        ahead?.position(heldTicks: held.inTicks) ?? nil
    }

    /// What the gateway is to be told now.
    mutating func report(_ position: PlayoutPosition?, at now: Instant) -> PlayoutProgress? {
        position.flatMap { reports.report($0, of: track, at: now) }
    }
}
