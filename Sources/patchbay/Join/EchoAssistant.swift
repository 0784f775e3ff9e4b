import Audio
import PatchbayClient
import Synchronization
import Wire

/// An echo test as a participant: returns each utterance of a user after it ends, packet for packet.
///
/// Subscribes to one track at a time: the first of a participant that is not an agent, and the next when that one ends. Utterances received
/// while it speaks are queued.
final class EchoAssistant: Sendable {
    /// Maximum number of queued utterances; more are dropped.
    private static let utterancesMax = 8

    /// Progress reports, for measurements.
    enum Moment: Sendable {
        case heard(ReceivedFrame)
        case said(SpokenFrame, at: Instant)
    }

    private let room: RoomConnection
    private let witness: @Sendable (Moment) -> Void
    private let voice: LocalTrack
    private let collector = Mutex(UtteranceCollector())
    private let listenedTo = Mutex<TrackSID?>(nil)
    private let users: (stream: AsyncStream<TrackInfo>, continuation: AsyncStream<TrackInfo>.Continuation)
    private let utterances: (stream: AsyncStream<[ReceivedFrame]>, continuation: AsyncStream<[ReceivedFrame]>.Continuation)

    /// Publishes the assistant's track.
    ///
    /// - Throws: `RequestFailure` if publishing is refused.
    init(in room: RoomConnection, witness: @escaping @Sendable (Moment) -> Void = { _ in }) async throws {
        self.room = room
        self.witness = witness
        voice = try await room.publish(name: "echo", source: .assistant)
        users = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        utterances = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.utterancesMax))
        if room.localParticipant.kind == .agent { try await room.setAgentState(.listening) }
    }

    /// Handles a room event.
    func handle(_ event: RoomEvent) {
        for track in event.newTracks { consider(track) }
        guard case .gateway(.talkStopped(_, let track, _, let reason), _) = event, listenedTo.withLock({ $0 }) == track else { return }
        enqueue(collector.withLock { $0.talkStopped(reason) })
    }

    /// Stops listening; queued utterances are still returned while a user is present.
    func end() {
        users.continuation.finish()
        utterances.continuation.finish()
    }

    /// Runs until `end()` is called and the queue is empty.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await track in self.users.stream { await self.listen(to: track) } }
            group.addTask { await self.watchForPauses() }
            for await utterance in utterances.stream { try await speak(utterance) }
            group.cancelAll()
        }
    }

    private func consider(_ track: TrackInfo) {
        let kind = room.participants.first { $0.identity == track.participant }?.kind
        if track.source == .microphone, kind != .agent { users.continuation.yield(track) }
    }

    private func listen(to track: TrackInfo) async {
        listenedTo.withLock { $0 = track.sid }
        for await frame in room.frames(of: track.sid) {
            witness(.heard(frame))
            enqueue(collector.withLock { $0.collect(frame) })
        }
        collector.withLock { $0 = UtteranceCollector() }
    }

    /// A timer, because missing frames do not resume the reader.
    private func watchForPauses() async {
        while (try? await Task.sleep(for: .milliseconds(50))) != nil {
            enqueue(collector.withLock { $0.tick(at: MediaClock.now) })
        }
    }

    private func enqueue(_ utterance: [ReceivedFrame]?) {
        if let utterance { utterances.continuation.yield(utterance) }
    }

    private func speak(_ utterance: [ReceivedFrame]) async throws {
        var frames = SpokenFrame.repeating(utterance)[...]
        await setState(.speaking)
        do {
            try await voice.speak(frames: { frames.popFirst() }, sent: { witness(.said($0, at: $1)) })
        } catch RequestFailure.ended {
            return
        }
        await setState(.listening)
    }

    /// Failures are ignored: the state is informational.
    private func setState(_ state: AgentState) async {
        if room.localParticipant.kind == .agent { try? await room.setAgentState(state) }
    }
}
