internal import Synchronization

/// Frames on their way from the loop's thread to one reader that looks whenever its own clock says so.
///
/// Bounded: the oldest frame goes, and is counted by who puts, if the reader stays away.
final class FrameInbox: Sendable {
    private struct State {
        var frames: [ReceivedFrame] = []
        var isFinished = false
        var isAbandoned = false
        var cleared: UInt8?
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

    /// The track was cleared: what is older than this epoch is not to be heard.
    func clear(epoch: UInt8) {
        state.withLock { $0.cleared = epoch }
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

    /// Takes all that has come, whether nothing more will, and the epoch in which the track goes on if it was cleared meanwhile.
    func takeAll() -> (frames: [ReceivedFrame], isFinished: Bool, cleared: UInt8?) {
        state.withLock { state in
            defer {
                state.frames.removeAll(keepingCapacity: true)
                state.cleared = nil
            }
            return (state.frames, state.isFinished, state.cleared)
        }
    }
}
