internal import PatchbayClient
internal import Synchronization
internal import Wire

/// A room without a gateway: plays the assistant's frames in real time, to nobody.
final class LocalRoom: AgentRoom {
    private struct State {
        /// Frames of the current epoch: times on the track, and when each begins and ends to play.
        var playing: [(frame: SpokenFrame, time: MediaTime, from: Instant, to: Instant)] = []
        var played: [SpokenFrame] = []
        var end = MediaTime(ticks: 0)
        var hasStarted = false
    }

    private static let frameSpan = Duration.milliseconds(20)
    /// Silence after which playout has finished, as on a gateway.
    private static let finishedAfter = Duration.milliseconds(100)

    private let state = Mutex(State())
    private let show: @Sendable (LocalConversation.Event) -> Void

    init(show: @escaping @Sendable (LocalConversation.Event) -> Void) {
        self.show = show
    }

    /// Frames that were played, in order.
    var played: [SpokenFrame] { state.withLock { $0.played + $0.playing.filter { $0.from <= MediaClock.now }.map(\.frame) } }

    func publish(_ segment: TranscriptSegment) { show(.transcript(segment)) }
    func setState(_ state: AgentState) { show(.state(state)) }
    func send(_ message: AssistantMessage) { show(.message(message)) }
    func leave(reason: String) {}

    var voiceTrack: TrackSID? { nil }
    func voicePosition() async -> MediaTime? { state.withLock { $0.end } }

    func speak(_ frame: SpokenFrame, at time: MediaTime) throws {
        state.withLock { state in
            let from = max(state.playing.last?.to ?? MediaClock.now, MediaClock.now)
            state.playing.append((frame, time, from, from + Self.frameSpan))
            state.end = time.advanced(by: frame.ticks)
        }
    }

    func clearVoice(reason: String) async throws -> HeardPosition {
        state.withLock { state in
            let heard = state.playing.filter { $0.from < MediaClock.now }
            state.played += heard.map(\.frame)
            state.playing = []
            let last = heard.last.map { $0.time.advanced(by: $0.frame.ticks).ticks }
            return HeardPosition(playedTs: last, playedMs: heard.count * 20, isEstimated: false)
        }
    }

    /// Reports the beginning and end of playout until the task is cancelled.
    func reportPlayout(to pipeline: VoicePipeline) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.frameSpan)
            if let event = nextEvent() { await pipeline.take(event) }
        }
    }

    private func nextEvent() -> AgentRoomEvent? {
        state.withLock { state in
            guard let last = state.playing.last else {
                state.hasStarted = false
                return nil
            }
            if !state.hasStarted {
                state.hasStarted = true
                return .playoutStarted
            }
            guard MediaClock.now - last.to >= Self.finishedAfter else { return nil }
            state.played += state.playing.map(\.frame)
            state.playing = []
            return .playoutFinished(last.time.advanced(by: last.frame.ticks))
        }
    }
}
