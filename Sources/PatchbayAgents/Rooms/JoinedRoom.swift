internal import Logging
internal import PatchbayClient
internal import Synchronization
internal import Wire

/// A pipeline's room on a gateway.
final class JoinedRoom: AgentRoom {
    /// Messages that wait to be sent; more are dropped and logged.
    private static let messagesMax = 1_000
    private static let retryInterval = Duration.milliseconds(200)

    private enum Outgoing: Sendable {
        case segment(TranscriptSegment)
        case state(AgentState)
        case message(AssistantMessage)
        case leave(String)
    }

    private let room: RoomConnection
    private let voice: LocalTrack
    private let outgoing: AsyncStream<Outgoing>
    private let sink: AsyncStream<Outgoing>.Continuation
    private let logger = Logger(label: "patchbay.agent")

    /// Publishes the assistant's track.
    init(_ room: RoomConnection) async throws(RequestFailure) {
        self.room = room
        voice = try await room.publish(name: "voice", source: .assistant, mode: .ahead)
        (outgoing, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.messagesMax))
    }

    // MARK: Out

    func publish(_ segment: TranscriptSegment) { enqueue(.segment(segment)) }
    func setState(_ state: AgentState) { enqueue(.state(state)) }
    func send(_ message: AssistantMessage) { enqueue(.message(message)) }
    func leave(reason: String) { enqueue(.leave(reason)) }

    private func enqueue(_ message: Outgoing) {
        if case .dropped = sink.yield(message) { logger.warning("Message dropped: the gateway answers too slowly") }
    }

    private func sendMessages() async {
        for await message in outgoing {
            do throws(RequestFailure) {
                try await deliver(message)
            } catch {
                logger.debug("Message not delivered", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Sends a message; without a connection, on the next one.
    private func deliver(_ message: Outgoing) async throws(RequestFailure) {
        while true {
            do throws(RequestFailure) {
                switch message {
                case .segment(let segment): try await room.sendSegment(segment)
                case .state(let state): try await room.setAgentState(state)
                case .message(let message):
                    guard let payload = try? message.payload() else { return }
                    try await room.sendData(payload, topic: AssistantMessage.topic)
                case .leave(let reason): await room.leave(reason: reason)
                }
                return
            } catch {
                guard error == .notConnected, room.disconnection == nil, !Task.isCancelled else { throw error }
                try? await Task.sleep(for: Self.retryInterval)
            }
        }
    }

    // MARK: Voice

    var voiceTrack: TrackSID? { voice.sid }
    func voicePosition() async -> MediaTime? { await voice.position() }

    func speak(_ frame: SpokenFrame, at time: MediaTime) throws {
        guard room.disconnection == nil else { throw RequestFailure.ended }
        try voice.send(frame.packet, timing: .at(time), level: frame.level, flags: frame.flags)
    }

    func clearVoice(reason: String) async throws -> HeardPosition {
        try await voice.clear(reason: reason).heard
    }

    // MARK: In

    /// Passes on what happens in the room until it has ended.
    func follow(_ take: @escaping @Sendable (AgentRoomEvent) async -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.sendMessages() }
            var users = UsersPresent()
            var holds = UsersOnHold()
            var losses = VoiceLosses()
            // Each `hello` names tracks that are heard already.
            var heard: Set<TrackSID> = []
            for await event in room.events {
                for track in event.newTracks where isMicrophone(track) && heard.insert(track.sid).inserted {
                    await take(.microphone(track))
                    group.addTask { await self.listen(to: track.sid, take) }
                }
                if case .gateway(.playoutCleared(let cleared, let who), _) = event, cleared.track == voice.sid {
                    losses.note(cleared, by: who)
                }
                if case .reconnected = event {
                    let loss = losses.take(isResumed: room.hello.resumed == true, framesUnsent: room.statistics.framesUnsent)
                    if let loss { await take(loss) }
                }
                if case .gateway(let change, _) = event { for event in users.take(change) { await take(event) } }
                for event in translate(event) { await take(event) }
                if case .gateway(let change, _) = event, let isHeld = holds.take(change) { await take(.held(isHeld)) }
            }
            await take(.ended)
            sink.finish()
        }
    }

    private func listen(to track: TrackSID, _ take: @Sendable (AgentRoomEvent) async -> Void) async {
        for await frame in room.frames(of: track) { await take(.frame(track, frame)) }
        await take(.microphoneEnded(track))
    }

    private func isMicrophone(_ track: TrackInfo) -> Bool {
        track.source == .microphone && room.participants.first { $0.identity == track.participant }.map { $0.kind != .agent } ?? true
    }

    private func microphones(of who: Identity) -> [TrackSID] {
        let tracks = room.participants.first { $0.identity == who }?.tracks ?? []
        return tracks.filter { $0.source == .microphone }.map(\.sid)
    }

    private func translate(_ event: RoomEvent) -> [AgentRoomEvent] {
        switch event {
        case .gateway(let event, _): translate(event)
        case .trackRepublished(let track, _): track.id == voice.id ? [.rejoined] : []
        default: []
        }
    }

    private func translate(_ event: Event) -> [AgentRoomEvent] {
        switch event {
        case .trackMuted(let track, _): [.microphonePaused(track)]
        case .text(_, let who, let topic, let text): topic == TextMessage.chatTopic ? [.text(who, text)] : []
        case .digits(let who, let digits): [.digits(who, digits)]
        case .data(let who, let topic, .text(let text)): [.data(who, topic: topic, text: text)]
        case .callHeld(let who): microphones(of: who).map { .microphonePaused($0) }
        case .playoutStarted(let track, _, _, _): track == voice.sid ? [.playoutStarted] : []
        case .playoutFinished(let track, _, _, let heard):
            track == voice.sid ? [.playoutFinished(heard.playedTs.map { MediaTime(ticks: $0) })] : []
        case .segment(let segment): [.segment(segment)]
        default: []
        }
    }
}
