internal import Audio
internal import Synchronization
internal import Wire

/// 20 ms of a track's audio.
public struct PCMChunk: Sendable, Hashable {
    /// The kind of most samples.
    public enum Content: Sendable, Hashable {
        /// Decoded from received frames.
        case sound
        /// Synthesized by the decoder in place of missing frames.
        case concealment
        case silence
    }

    /// 48,000 Hz.
    public static let sampleRate = 48_000
    /// 20 ms.
    public static let samplesPerChannel = 960

    /// 960 per channel, interleaved.
    public let samples: [Int16]
    /// 1 or 2.
    public let channels: Int
    public let content: Content
}

/// Reads one track as PCM at the pace of the clock, on demand.
final class PCMReader: Sendable {
    private struct State: ~Copyable {
        var playout: TrackPlayout
        var isFinished = false
        /// When the last chunk was due.
        var deadline: Instant?
    }

    private enum Step {
        case chunk(PCMChunk)
        case wait
        case end
    }

    private static let interval = Duration.milliseconds(20)
    /// How far a reader may fall behind before the missed audio is skipped.
    private static let lagMax = Duration.seconds(1)

    let inbox = FrameInbox()
    private let state: Mutex<State>
    private let clock: PlayoutClock
    private let report: @Sendable (PlayoutProgress) -> Void

    /// - Parameters:
    ///   - expectedStall: how long the path is expected to stall on a lost packet.
    ///   - report: sends the playout reports of an `ahead` track.
    init(
        of track: TrackSID, mode: TrackMode, channels: Int, jitter: JitterLimits, expectedStall: Duration, clock: PlayoutClock,
        report: @escaping @Sendable (PlayoutProgress) -> Void
    ) {
        precondition(1...2 ~= channels, "PCM has 1 or 2 channels")
        self.clock = clock
        self.report = report
        state = Mutex(State(playout: TrackPlayout(track, mode: mode, channels: channels, jitter: jitter, expectedStall: expectedStall)))
    }

    deinit {
        inbox.abandon()
    }

    /// Nil at the end.
    func next() async -> PCMChunk? {
        while true {
            let deadline = nextDeadline()
            guard (try? await MediaClock.sleep(until: deadline)) != nil else {
                inbox.abandon()
                return nil
            }
            switch step(at: MediaClock.now) {
            case .chunk(let chunk): return chunk
            case .wait: continue
            case .end: return nil
            }
        }
    }

    private func nextDeadline() -> Instant {
        let now = MediaClock.now
        return state.withLock { state in
            var deadline = (state.deadline ?? now) + Self.interval
            if now - deadline > Self.lagMax { deadline = now }
            state.deadline = deadline
            return deadline
        }
    }

    private func step(at now: Instant) -> Step {
        let (frames, isFinished, clearedEpoch) = inbox.takeAll()
        let held = clock.heldByDevice
        let (step, progress) = state.withLock { state in
            if let clearedEpoch { state.playout.clear(epoch: clearedEpoch) }
            for frame in frames { state.playout.insert(frame) }
            state.isFinished = state.isFinished || isFinished
            let step: Step =
                if state.isFinished, state.playout.isDry { .end } else { state.playout.next(at: now).map(Step.chunk) ?? .wait }
            let position = state.playout.position(held: held)
            clock.update(position, state.playout.statistics)
            return (step, state.playout.report(position, at: now))
        }
        if let progress { report(progress) }
        return step
    }
}

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
