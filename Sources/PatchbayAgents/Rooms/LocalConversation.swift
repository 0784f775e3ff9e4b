public import Audio
public import PatchbayClient
internal import Synchronization
public import Wire

/// A conversation with an assistant without a gateway: the user types, or speaks from recordings.
///
///     let conversation = LocalConversation(definition, engines: engines) { print($0) }
///     let running = Task { await conversation.run() }
///     try await conversation.play(sound)
///     await conversation.type("What time is it?")
///     await conversation.end()
public struct LocalConversation: Sendable {
    public enum Event: Sendable {
        case transcript(TranscriptSegment)
        case state(AgentState)
        case message(AssistantMessage)
    }

    private static let user = Identity(text: "user")
    private static let microphone = TrackInfo(
        sid: TrackSID(text: "TR_console"), alias: TrackAlias(1), participant: user, description: PublishTrack(name: "console"))

    private let pipeline: VoicePipeline
    private let room: LocalRoom

    /// - Parameter show: receives what happens, in order.
    public init(_ definition: AssistantDefinition, engines: AgentEngines, show: @escaping @Sendable (Event) -> Void) {
        pipeline = VoicePipeline(definition, engines: engines)
        room = LocalRoom(show: show)
    }

    /// Runs until `end()`, or until the assistant ends the call.
    public func run() async {
        await pipeline.attach(to: room)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await room.reportPlayout(to: pipeline) }
            await pipeline.take(.userJoined(Self.user, name: ""))
            await pipeline.take(.microphone(Self.microphone))
            await pipeline.run()
            group.cancelAll()
        }
    }

    /// Sends a line of text, as if the user had typed it.
    public func type(_ text: String) async {
        await pipeline.take(.text(Self.user, text))
    }

    /// Plays a recording into the user's microphone, in real time.
    ///
    /// - Throws: `CancellationError`, `OpusError`, `ResamplerError`.
    public func play(_ sound: PCMBuffer) async throws {
        let frames = try PCMSpeech(sound).frames()
        let began = MediaClock.now
        for (index, frame) in frames.enumerated() {
            try await MediaClock.sleep(until: began + .milliseconds(20 * index))
            let header = FrameHeader(
                flags: frame.flags, alias: TrackAlias(1), sequence: SequenceNumber(UInt16(truncatingIfNeeded: index)), level: frame.level,
                timestamp: MediaTime(ticks: UInt32(truncatingIfNeeded: index * 960)))
            await pipeline.take(.frame(Self.microphone.sid, ReceivedFrame(header: header, packet: frame.packet, arrivedAt: MediaClock.now)))
        }
    }

    public func end() async {
        await pipeline.end()
    }

    /// What the assistant has said, as Opus packets.
    public var spoken: [SpokenFrame] { room.played }
}

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
