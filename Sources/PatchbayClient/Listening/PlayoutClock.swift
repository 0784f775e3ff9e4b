internal import Synchronization

/// How a track's playing goes: what was played, and what of it can have been heard.
///
/// Made by who plays and handed to `RoomConnection.pcm`. What has been asked for counts as heard, unless the output device says that it
/// still holds some of it: tell that here whenever it is known, or once if it is always the same. What is heard decides what an
/// assistant believes to have said when it is interrupted.
public final class PlayoutClock: Sendable {
    private struct State {
        var held = Duration.zero
        var position: PlayoutPosition?
        var statistics = PlayoutStatistics()
    }

    private let state = Mutex(State())

    public init() {}

    /// Sound that was given out and has not left the output device, zero or more.
    public var heldByDevice: Duration {
        get { state.withLock { $0.held } }
        set { state.withLock { $0.held = max(newValue, .zero) } }
    }

    /// How far an `ahead` track has been heard; nil before its first frame, and for a live one.
    public var position: PlayoutPosition? { state.withLock { $0.position } }

    /// As of the newest chunk.
    public var statistics: PlayoutStatistics { state.withLock { $0.statistics } }

    func update(_ position: PlayoutPosition?, _ statistics: PlayoutStatistics) {
        state.withLock { state in
            state.position = position
            state.statistics = statistics
        }
    }
}
