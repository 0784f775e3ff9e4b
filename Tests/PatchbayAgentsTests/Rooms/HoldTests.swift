import PatchbayClient
import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// An assistant in a room of a real gateway whose user holds the call.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct HoldTests {
    private static let words = (1...20).map { "word\($0)" }

    /// What reaches a user.
    private final class Listener: Sendable {
        struct State {
            /// Arrival times of the assistant's frames.
            var frames: [Instant] = []
            var segments: [TranscriptSegment] = []
        }

        private let state = Mutex(State())
        var current: State { state.withLock { $0 } }

        /// Reads events until the room has ended.
        func follow(_ room: RoomConnection) async {
            await withDiscardingTaskGroup { group in
                for await event in room.events {
                    for track in event.newTracks where track.source == .assistant {
                        group.addTask {
                            for await frame in room.frames(of: track.sid) { self.state.withLock { $0.frames.append(frame.arrivedAt) } }
                        }
                    }
                    if case .gateway(.segment(let segment), _) = event { state.withLock { $0.segments.append(segment) } }
                }
            }
        }
    }

    /// Runs a conversation of Ann with an assistant that answers everything with twenty words of 200 ms.
    private func converse(
        _ responder: ScriptedResponder, _ body: @Sendable (RoomConnection, Listener) async throws -> Void
    ) async throws {
        let engines = AgentEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), responder: responder, synthesizer: ToneSynthesizer())
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node) { job in
                let room = try await job.connect()
                try await VoicePipeline(AssistantDefinition(id: "helper"), engines: engines).run(in: room)
                await room.leave()
            }.registered()
            let ann = try await node.join("ann")
            let listener = Listener()
            let following = Task { await listener.follow(ann) }
            try await node.administrator().dispatch("helper", to: "room")
            try await node.job(.running)
            try await body(ann, listener)
            await ann.leave()
            await following.value
            try await worker.stop()
        }
    }

    @Test func onHoldTheAnswerStopsAndContinuesAfterwards() async throws {
        let responder = ScriptedResponder { _ in [.text(Self.words.joined(separator: " ") + ".")] }
        try await converse(responder) { ann, listener in
            try await ann.sendText("Say many words.")
            try await eventually("a second of the answer") { listener.current.frames.count >= 50 }
            try await ann.hold(true)
            let held = MediaClock.now
            // The pause is longer than the rest of the answer.
            try await Task.sleep(for: .seconds(4))
            #expect(listener.current.segments.last?.spoken != .completed)
            let resumed = MediaClock.now
            try await ann.hold(false)
            try await eventually("the rest") { listener.current.segments.last?.spoken == .completed }
            let frames = listener.current.frames
            let during = frames.count { $0 > held + .milliseconds(200) && $0 < resumed }
            #expect(during == 0, "\(during) frames while on hold")
            // What was not played before the hold is played after it.
            let after = frames.count { $0 >= resumed }
            let parts = listener.current.segments.filter { $0.role == .assistant && $0.final }
            let rest = try #require(parts.last?.text.split(separator: " "))
            #expect(rest.last == "word20." && (5..<20) ~= rest.count, "\(rest)")
            #expect(abs(after - rest.count * 10) <= 15, "\(after) frames of \(rest.count) words")
        }
        #expect(responder.conversations.count == 1)
    }

    @Test func whatIsTypedOnHoldIsAnsweredAfterwards() async throws {
        let responder = ScriptedResponder { _ in [.text("Yes.")] }
        try await converse(responder) { ann, listener in
            try await ann.hold(true)
            try await ann.sendText("Are you there?")
            try await Task.sleep(for: .seconds(1))
            #expect(responder.conversations.isEmpty)
            try await ann.hold(false)
            try await eventually("the answer") { listener.current.segments.last?.spoken == .completed }
            #expect(listener.current.segments.last?.text == "Yes.")
        }
        #expect(responder.conversations.map(\.messages) == [[.user("Are you there?")]])
    }
}
