internal import Audio
internal import Synchronization
internal import Wire

/// Reads one track as sound, at the pace of the clock and as far as its reader asks.
final class PCMReader: Sendable {
    private struct State: ~Copyable {
        var playout: TrackPlayout
        var isFinished = false
        /// When the next chunk is due.
        var deadline: Instant?
    }

    private enum Step {
        case chunk(PCMChunk)
        case wait
        case end
    }

    private static let pace = Duration.milliseconds(20)
    /// How far a reader may fall behind before what it missed is given up.
    private static let lagMax = Duration.seconds(1)

    let inbox = FrameInbox()
    private let state: Mutex<State>
    private let clock: PlayoutClock
    private let tell: @Sendable (PlayoutProgress) -> Void

    /// - Parameters:
    ///   - expectedStall: of the path, as far as is known.
    ///   - tell: told how far an `ahead` track has been heard, whenever the gateway wants to know.
    init(
        of track: TrackSID, mode: TrackMode, channels: Int, jitter: JitterLimits, expectedStall: Duration, clock: PlayoutClock,
        tell: @escaping @Sendable (PlayoutProgress) -> Void
    ) {
        precondition(1...2 ~= channels, "sound has 1 or 2 channels here")
        self.clock = clock
        self.tell = tell
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
            var deadline = (state.deadline ?? now) + Self.pace
            if now - deadline > Self.lagMax { deadline = now }
            state.deadline = deadline
            return deadline
        }
    }

    private func step(at now: Instant) -> Step {
        let (frames, isFinished, cleared) = inbox.takeAll()
        let held = clock.heldByDevice
        let (step, progress) = state.withLock { state in
            if let cleared { state.playout.clear(epoch: cleared) }
            for frame in frames { state.playout.insert(frame) }
            state.isFinished = state.isFinished || isFinished
            let step: Step =
                if state.isFinished, state.playout.isDry { .end } else { state.playout.next(at: now).map(Step.chunk) ?? .wait }
            let position = state.playout.position(held: held)
            clock.update(position, state.playout.statistics)
            return (step, state.playout.report(position, at: now))
        }
        if let progress { tell(progress) }
        return step
    }
}
