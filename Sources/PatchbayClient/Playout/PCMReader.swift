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
