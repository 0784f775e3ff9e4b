internal import Synchronization

/// Frames on their way from the loop's thread to one reader that looks whenever its own clock says so.
///
/// Bounded: the oldest frame goes, and is counted by who puts, if the reader stays away.
final class FrameInbox: Sendable {
    private struct State {
        var frames: [ReceivedFrame] = []
        var isFinished = false
        var isAbandoned = false
    }

    private let state = Mutex(State())

    func put(_ frame: ReceivedFrame) -> FrameSink.Outcome {
        state.withLock { state in
            if state.isAbandoned { return .gone }
            state.frames.append(frame)
            guard state.frames.count > StreamLimits.framesMax else { return .taken }
            state.frames.removeFirst()
            return .overflowed
        }
    }

    /// Nothing more will come.
    func finish() {
        state.withLock { $0.isFinished = true }
    }

    /// The reader has gone.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.frames.removeAll()
        }
    }

    /// Takes all that has come, and whether nothing more will.
    func takeAll() -> (frames: [ReceivedFrame], isFinished: Bool) {
        state.withLock { state in
            defer { state.frames.removeAll(keepingCapacity: true) }
            return (state.frames, state.isFinished)
        }
    }
}
