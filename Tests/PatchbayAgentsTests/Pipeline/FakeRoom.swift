import Audio
import PatchbayClient
import Synchronization
import Wire

@testable import PatchbayAgents

/// A room without a gateway: plays the assistant's frames in real time, and lets a user speak.
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
    let voiceTrack: TrackSID? = TrackSID(text: "TR_voice")

    var current: State { state.withLock { $0 } }

    func publish(_ segment: TranscriptSegment) { state.withLock { $0.segments.append(segment) } }
    func setState(_ new: AgentState) { state.withLock { $0.states.append(new) } }
    func send(_ message: AssistantMessage) { state.withLock { $0.messages.append(message) } }
    func leave(reason: String) { state.withLock { $0.left = reason } }

    func voicePosition() async -> MediaTime? { state.withLock { $0.end } }

    func speak(_ frame: SpokenFrame, at time: MediaTime) throws {
        state.withLock { state in
            let from = max(state.playing.last?.to ?? MediaClock.now, MediaClock.now)
            state.playing.append((time, from, from + .milliseconds(20)))
            state.end = time.advanced(by: frame.ticks)
        }
    }

    func clearVoice(reason: String) async throws -> HeardPosition {
        state.withLock { state in
            let now = MediaClock.now
            let heard = state.playing.filter { $0.from < now }
            let last = heard.last.map { $0.time.advanced(by: 960).ticks }
            if let first = heard.first { state.played.append((first.time, heard.count * 960)) }
            state.playing = []
            state.clears += 1
            return HeardPosition(playedTs: last, playedMs: heard.count * 20, isEstimated: false)
        }
    }

    /// Whether the assistant is audible.
    var isPlaying: Bool { state.withLock { ($0.playing.last?.to).map { $0 > MediaClock.now } ?? false } }

    /// Reports the end of playout, as the gateway does.
    func reportPlayout(to pipeline: VoicePipeline) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(10))
            let event = state.withLock { state -> AgentRoomEvent? in
                guard let last = state.playing.last else {
                    state.hasStarted = false
                    return nil
                }
                if !state.hasStarted {
                    state.hasStarted = true
                    return .playoutStarted
                }
                guard MediaClock.now - last.to >= .milliseconds(60) else { return nil }
                if let first = state.playing.first { state.played.append((first.time, state.playing.count * 960)) }
                state.playing = []
                return .playoutFinished(last.time.advanced(by: 960))
            }
            if let event { await pipeline.take(event) }
        }
    }
}

/// A call with a pipeline in a fake room.
struct FakeCall {
    let room = FakeRoom()
    let pipeline: VoicePipeline

    init(_ engines: AgentEngines, definition: AssistantDefinition = AssistantDefinition(id: "test")) {
        pipeline = VoicePipeline(definition, engines: engines)
    }

    /// Runs the pipeline while `body` plays the user.
    func run(_ body: @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            await pipeline.attach(to: room)
            group.addTask { await pipeline.run() }
            group.addTask { await room.reportPlayout(to: pipeline) }
            await pipeline.take(.userJoined(FakeRoom.user, name: "Alice"))
            await pipeline.take(.microphone(FakeRoom.microphone))
            try await body()
            await pipeline.end()
            group.cancelAll()
        }
    }

    /// The user's microphone: a tone for speech, then silence, in real time.
    func says(
        for speech: Duration, thenSilence silence: Duration, from start: UInt32, by track: TrackInfo = FakeRoom.microphone
    ) async throws -> UInt32 {
        let samples = Int(speech.inMilliseconds) * 48
        let tone = (0..<samples).map { Int16($0 / 60 % 2 == 0 ? 6_000 : -6_000) }
        return try await plays(tone + [Int16](repeating: 0, count: Int(silence.inMilliseconds) * 48), from: start, by: track)
    }

    /// The user's microphone: 48 kHz PCM in real time.
    ///
    /// - Returns: the timestamp after it.
    func plays(_ pcm: [Int16], from start: UInt32, by track: TrackInfo = FakeRoom.microphone) async throws -> UInt32 {
        var encoder = try SpeechEncoder()
        let frames = try encoder.encode(pcm) + encoder.finish()
        var timestamp = start
        let began = MediaClock.now
        for (index, frame) in frames.enumerated() {
            try await MediaClock.sleep(until: began + .milliseconds(20 * index))
            let header = FrameHeader(
                flags: frame.flags, alias: track.alias, sequence: SequenceNumber(UInt16(truncatingIfNeeded: index)), level: frame.level,
                timestamp: MediaTime(ticks: timestamp))
            let received = ReceivedFrame(header: header, packet: frame.packet, arrivedAt: MediaClock.now)
            await pipeline.take(.frame(track.sid, received))
            timestamp &+= 960
        }
        return timestamp
    }

    /// Waits for a condition.
    func until(_ limit: Duration = .seconds(20), _ condition: () -> Bool) async throws {
        let end = MediaClock.now + limit
        while !condition() {
            guard MediaClock.now < end else { throw TimedOut() }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    struct TimedOut: Error {}
}
