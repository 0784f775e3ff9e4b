internal import Audio
internal import Synchronization
internal import Wire

/// Reads one track as sound, at the pace of the clock and as far as its reader asks.
final class PCMReader: Sendable {
    private struct State: ~Copyable {
        var playout: PCMPlayout?
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

    init(channels: Int, jitter: JitterLimits) {
        precondition(1...2 ~= channels, "sound has 1 or 2 channels here")
        state = Mutex(State(playout: try? PCMPlayout(channels: channels, jitter: jitter)))
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
        let (frames, isFinished) = inbox.takeAll()
        return state.withLock { state in
            for frame in frames { state.playout?.insert(frame) }
            state.isFinished = state.isFinished || isFinished
            if state.isFinished, state.playout?.isDry ?? true { return .end }
            return (state.playout?.next(at: now)).map(Step.chunk) ?? .wait
        }
    }
}
