import Audio
import Logging
import PatchbayClient
import Synchronization
import Wire

@testable import PatchbayAgents

/// A room without a gateway: plays the assistant's frames at their times.
final class FakeRoom: AgentRoom {
    struct State {
        var segments: [TranscriptSegment] = []
        var states: [AgentState] = []
        var messages: [AssistantMessage] = []
        var left: String?
        /// Frames of the current epoch: times on the track, and when each is played.
        var playing: [(time: MediaTime, from: Instant, to: Instant)] = []
        /// Ticks of audio played in earlier epochs.
        var played: [(from: MediaTime, ticks: Int)] = []
        var end = MediaTime(ticks: 1_000)
        var hasStarted = false
        var clears = 0
    }

    static let user = Identity(text: "alice")
    static let microphone = TrackInfo(
        sid: TrackSID(text: "TR_mic"), alias: TrackAlias(1), participant: user, description: PublishTrack(name: "mic"))

    private let state = Mutex(State())
    private let clock: TestClock
    let voiceTrack: TrackSID? = TrackSID(text: "TR_voice")

    init(_ clock: TestClock) {
        self.clock = clock
    }

    var current: State { state.withLock { $0 } }

    func publish(_ segment: TranscriptSegment) { state.withLock { $0.segments.append(segment) } }
    func setState(_ new: AgentState) { state.withLock { $0.states.append(new) } }
    func send(_ message: AssistantMessage) { state.withLock { $0.messages.append(message) } }
    func leave(reason: String) { state.withLock { $0.left = reason } }

    func voicePosition() async -> MediaTime? { state.withLock { $0.end } }

    func speak(_ frame: SpokenFrame, at time: MediaTime) throws {
        state.withLock { state in
            let from = max(state.playing.last?.to ?? clock.now, clock.now)
            state.playing.append((time, from, from + .milliseconds(20)))
            state.end = time.advanced(by: frame.ticks)
        }
    }

    func clearVoice(reason: String) async throws -> HeardPosition {
        state.withLock { $0.clears += 1 }
        return discard()
    }

    /// Discards the audio that was not played.
    func discard() -> HeardPosition {
        state.withLock { state in
            let now = clock.now
            let heard = state.playing.filter { $0.from < now }
            let last = heard.last.map { $0.time.advanced(by: 960).ticks }
            if let first = heard.first { state.played.append((first.time, heard.count * 960)) }
            state.playing = []
            return HeardPosition(playedTs: last, playedMs: heard.count * 20, isEstimated: false)
        }
    }

    /// Whether the assistant is audible.
    var isPlaying: Bool { state.withLock { ($0.playing.last?.to).map { $0 > clock.now } ?? false } }

    /// Reports the end of playout, as the gateway does.
    func reportPlayout(to pipeline: VoicePipeline) async {
        while !Task.isCancelled {
            try? await clock.sleep(.milliseconds(10))
            let event = state.withLock { state -> AgentRoomEvent? in
                guard let last = state.playing.last else {
                    state.hasStarted = false
                    return nil
                }
                if !state.hasStarted {
                    state.hasStarted = true
                    return .playoutStarted
                }
                guard clock.now - last.to >= .milliseconds(60) else { return nil }
                if let first = state.playing.first { state.played.append((first.time, state.playing.count * 960)) }
                state.playing = []
                return .playoutFinished(last.time.advanced(by: 960))
            }
            if let event { await pipeline.take(event) }
        }
    }
}
