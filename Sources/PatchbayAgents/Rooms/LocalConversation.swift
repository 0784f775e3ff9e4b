public import Audio
public import PatchbayClient
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
