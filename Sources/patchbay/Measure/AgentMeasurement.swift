import Audio
import Foundation
import PatchbayAgents
import PatchbayClient
import Synchronization
import Wire

/// Measures an assistant in rooms of a gateway, with recorded users.
struct AgentMeasurement: Sendable {
    let gateway: DemoGateway
    let engines: EmbeddedEngines
    let progress: @Sendable (String) -> Void

    /// Collects the final transcripts and metrics that a user receives.
    final class Notes: Sendable {
        struct State {
            var finals: [String] = []
            var metrics: [TurnMetrics] = []
            /// What was heard of the assistant's last answer that was cut off, according to its transcript.
            var interrupted = ""
        }

        let state = Mutex(State())

        func take(_ event: RoomEvent) {
            switch event {
            case .gateway(.segment(let segment), _):
                state.withLock { state in
                    if segment.role == .user, segment.final, !segment.text.isEmpty { state.finals.append(segment.text) }
                    if segment.role == .assistant, segment.spoken == .interrupted, let count = segment.spokenChars {
                        state.interrupted = String(String.UnicodeScalarView(segment.text.unicodeScalars.prefix(count)))
                    }
                }
            case .gateway(.data(_, AssistantMessage.topic, .text(let text)), _):
                guard case .turnMetrics(let metrics)? = try? AssistantMessage(parsing: Array(text.utf8)) else { return }
                state.withLock { $0.metrics.append(metrics) }
            default: break
            }
        }
    }

    /// Says one thing whatever it is told.
    private struct FixedResponder: Responder {
        let text: String
        let isWorthPreparing = false

        func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
            AsyncThrowingStream { stream in
                stream.yield(.text(text))
                stream.finish()
            }
        }
    }

    /// Runs a call between a recorded user and an assistant that always gives the same answer.
    func call<Result: Sendable>(
        answering text: String, greetings: [String] = [], room: String = "demo",
        _ body: @Sendable (RecordedUser, Notes) async throws -> Result
    ) async throws -> Result {
        var definition = AssistantDefinition(id: "measured")
        definition.greetings = greetings
        var engines = try engines.engines(for: definition)
        engines.responder = FixedResponder(text: text)
        let assistant = try await gateway.join("assistant", kind: .agent, room: room)
        let pipeline = VoicePipeline(definition, engines: engines)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pipeline.run(in: assistant) }
            try await Task.sleep(for: .seconds(1))
            let user = try await RecordedUser(room: gateway.join("alice", name: "Alice", room: room))
            let notes = Notes()
            group.addTask { try await user.run() }
            group.addTask {
                for await event in user.room.events {
                    user.handle(event)
                    notes.take(event)
                }
            }
            let result = try await body(user, notes)
            await user.leave()
            await assistant.leave()
            try await group.waitForAll()
            return result
        }
    }
}
