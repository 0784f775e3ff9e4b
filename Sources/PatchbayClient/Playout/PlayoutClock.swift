internal import Synchronization
public import Wire

/// The playout of a track: how much was played, and how much of it can have been heard.
///
/// Create one for each call of `RoomConnection.pcm`. Audio that was read from the stream counts as heard unless the output device still
/// buffers it; set `heldByDevice` for that. The result decides which words count as spoken when an assistant is interrupted.
public final class PlayoutClock: Sendable {
    private struct State {
        var held = Duration.zero
        var position: PlayoutPosition?
        var statistics = PlayoutStatistics()
    }

    private let state = Mutex(State())

    public init() {}

    /// Audio in the output device's buffer, not yet audible. Zero or more.
    public var heldByDevice: Duration {
        get { state.withLock { $0.held } }
        set { state.withLock { $0.held = max(newValue, .zero) } }
    }

    /// The playout position of an `ahead` track; nil before its first frame, and for live tracks.
    public var position: PlayoutPosition? { state.withLock { $0.position } }

    /// As of the last chunk.
    public var statistics: PlayoutStatistics { state.withLock { $0.statistics } }

    func update(_ position: PlayoutPosition?, _ statistics: PlayoutStatistics) {
        state.withLock { state in
            state.position = position
            state.statistics = statistics
        }
    }
}

/// The playout position of an `ahead` track at this client.
public struct PlayoutPosition: Sendable, Hashable {
    public var epoch: UInt8
    /// The end of what was heard, on the track's clock; nil if nothing of this epoch was heard.
    public var playedTo: MediaTime?
    /// Audio that is buffered here or in the output device.
    public var bufferedMs: Double
    public var isPlaying: Bool
}

/// Playout statistics of a track. Milliseconds of audio; sums never decrease.
public struct PlayoutStatistics: Sendable, Hashable, Codable {
    /// Audio decoded from received frames.
    public internal(set) var playedMs = 0.0
    /// Audio synthesized in place of lost, late or missing frames.
    public internal(set) var concealedMs = 0.0
    /// Silence: pauses of the speaker, and the time before the first and after the last frame.
    public internal(set) var silenceMs = 0.0
    /// Audio and silence left out to reduce the delay.
    public internal(set) var skippedMs = 0.0
    /// Added by time stretching because the next frame was late.
    public internal(set) var stretchedMs = 0.0
    /// Times that the buffer ran empty during speech.
    public internal(set) var underruns = 0
    /// Frames that arrived after their playout time.
    public internal(set) var framesLate = 0
    /// The current and the target delay of a live track behind the fastest frames of its path. 0 for an `ahead` track, whose buffer is its
    /// lead.
    public internal(set) var delayMs = 0.0
    public internal(set) var targetMs = 0.0
    /// Audio buffered here.
    public internal(set) var bufferedMs = 0.0

    public init() {}

    /// The share of synthesized audio in speech, 0 to 1.
    public var concealedShare: Double {
        playedMs + concealedMs > 0 ? concealedMs / (playedMs + concealedMs) : 0
    }
}
