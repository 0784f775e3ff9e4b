import PatchbayClient
import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// An assistant in a room of a real gateway whose user holds the call.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HoldTests {
    private static let words = (1...60).map { "word\($0)" }

    /// What reaches a user.
    private final class Listener: Sendable {
        struct State {
            /// Of the assistant.
            var frames = 0
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
                            for await _ in room.frames(of: track.sid) { self.state.withLock { $0.frames += 1 } }
                        }
                    }
                    if case .gateway(.segment(let segment), _) = event { state.withLock { $0.segments.append(segment) } }
                }
            }
        }
    }

    /// Runs a conversation of Ann with an assistant that answers everything with words of 200 ms.
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
            try await eventually("a second of the answer") { listener.current.frames >= 50 }
            try await ann.hold(true)
            // Frames on their way still arrive.
            var arrived = -1
            try await eventually("silence") {
                defer { arrived = listener.current.frames }
                if arrived == listener.current.frames { return true }
                try await Task.sleep(for: .milliseconds(500))
                return false
            }
            #expect(listener.current.segments.last?.spoken != .completed)
            try await ann.hold(false)
            // What was not played before the hold is played after it, in a segment of its own.
            try await eventually("a part of the rest") {
                let parts = listener.current.segments.filter { $0.role == .assistant }
                return listener.current.frames >= arrived + 25 && parts.last?.id != parts.first?.id
            }
            let parts = listener.current.segments.filter { $0.role == .assistant }
            let heard = try #require(
                parts.first { $0.spoken == .interrupted }.flatMap { part in
                    part.spokenChars.map { part.text.prefix($0).split(separator: " ") }
                })
            let rest = try #require(parts.last?.text.split(separator: " "))
            #expect(rest.last == "word60." && abs(heard.count + rest.count - 60) <= 1, "\(heard), then \(rest)")
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
