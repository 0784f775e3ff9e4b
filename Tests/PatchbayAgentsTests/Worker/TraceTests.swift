import Logging
import PatchbayClient
import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// The trace of the request that asked for an assistant, in what the assistant logs and requests.
@Suite(.timeLimit(.minutes(5)))
struct TraceTests {
    private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let traceparent = "00-\(traceID)-00f067aa0ba902b7-01"

    /// The trace of each request.
    private final class TracedResponder: Responder {
        private let noted = Mutex<[String?]>([])
        var traceparents: [String?] { noted.withLock { $0 } }

        func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
            noted.withLock { $0.append(ConversationTrace.traceparent) }
            return AsyncThrowingStream { stream in
                stream.yield(.text("Yes."))
                stream.finish()
            }
        }
    }

    @Test func eachRequestOfAConversationHasASpanOfItsOwn() async throws {
        let responder = TracedResponder()
        let call = FakeCall(
            AgentEngines(
                detector: LevelDetectors(), recognizer: ScriptedRecognizer(["Hello there."]), responder: responder,
                synthesizer: ToneSynthesizer()))
        try await ConversationTrace.$current.withValue(TraceContext(traceparent: Self.traceparent)) {
            try await call.run {
                _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
                try await call.until { call.room.current.segments.last?.spoken == .completed }
                await call.pipeline.take(.text(FakeRoom.user, "And again."))
                try await call.until { responder.traceparents.count == 2 }
            }
        }
        let traces = responder.traceparents.map { TraceContext(traceparent: $0) }
        #expect(traces.map { $0?.traceID } == [Self.traceID, Self.traceID])
        #expect(Set(traces.map { $0?.spanID } + ["00f067aa0ba902b7"]).count == 3)
    }

    @Test func aProviderReceivesTheTrace() async throws {
        let server = try SilentServer()
        let settings = ProviderSettings(baseUrl: "http://127.0.0.1:\(server.port)/v1", model: "m", timeoutMs: 60_000)
        let responder = try OpenAIResponder(settings, secrets: [:])
        let reader = ConversationTrace.$current.withValue(TraceContext(traceparent: Self.traceparent)) {
            Task { try await responder.respond(to: Conversation(messages: [.user("x")])).reduce(0) { count, _ in count + 1 } }
        }
        try await eventually("the request's head") { server.received.contains("\r\n\r\n") }
        reader.cancel()
        _ = await reader.result
        let field = server.received.split(separator: "\r\n").first { $0.lowercased().hasPrefix("traceparent:") }
        let trace = TraceContext(traceparent: field.map { String($0.dropFirst("traceparent:".count).drop { $0 == " " }) })
        #expect(trace?.traceID == Self.traceID && trace?.spanID != "00f067aa0ba902b7", "\(field ?? "no traceparent")")
    }

    @Test(
        arguments: [
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", nil, "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        ] as [String?])
    func turnsLogTheTraceOfTheDispatch(_ sent: String?) async throws {
        let log = TurnLog()
        let engines = EmbeddedEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), synthesizer: ToneSynthesizer())
        try await WorkerGateway.run { node in
            let agent = VoiceAgent(
                engines: engines, tokens: { try WorkerGateway.assistantToken("helper") }, logger: Logger(label: "test") { _ in log.handler }
            )
            let worker = try await TestWorker(node, handler: { try await agent.converse($0) }).registered()
            let ann = try await node.join("ann")
            var administrator = try node.administrator()
            administrator.traceparent = sent
            try await administrator.dispatch("helper", to: "room")
            #expect(try await ann.agent() == ["agent.joined"])
            try await ann.sendText("What time is it?", topic: TextMessage.chatTopic)
            try await eventually("a turn") { !log.traces.isEmpty }
            await ann.leave()
            try await worker.stop()
        }
        #expect(log.traces == [sent == Self.traceparent ? Self.traceID : nil])
    }

    /// The traces of lines about turns.
    private final class TurnLog: Sendable {
        private let noted = Mutex<[String?]>([])
        var traces: [String?] { noted.withLock { $0 } }
        var handler: any LogHandler { Handler(log: self) }

        private struct Handler: LogHandler {
            let log: TurnLog
            var logLevel = Logger.Level.info
            var metadata: Logger.Metadata = [:]

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                if event.message == "turn" { log.noted.withLock { $0.append(metadata["trace"].map { "\($0)" }) } }
            }
        }
    }
}
