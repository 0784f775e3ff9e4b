import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// The responder is asked when the user pauses, before the turn is taken.
@Suite(.timeLimit(.minutes(5)))
struct ResponsePreparationTests {
    /// Answers each request with a sentence that names its last message, and notes the requests.
    private final class EarlyResponder: Responder {
        struct Request: Sendable {
            var text: String
            var states: [AgentState]
            var isCancelled = false
        }

        let requests = Mutex<[Request]>([])
        let room = Mutex<FakeRoom?>(nil)
        private let calls: [ToolCall]
        /// Whether answers stay incomplete.
        private let isSlow: Bool

        init(calls: [ToolCall] = [], isSlow: Bool = false) {
            self.calls = calls
            self.isSlow = isSlow
        }

        func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
            let states = room.withLock { $0?.current.states ?? [] }
            let (stream, parts) = AsyncThrowingStream<ResponsePart, any Error>.makeStream()
            guard case .user(let text)? = conversation.messages.last else {
                parts.yield(.text("Done."))
                parts.finish()
                return stream
            }
            let index = requests.withLock { requests in
                requests.append(Request(text: text, states: states))
                return requests.count - 1
            }
            parts.onTermination = { end in
                guard case .cancelled = end else { return }
                self.requests.withLock { $0[index].isCancelled = true }
            }
            parts.yield(.text("You asked: \(text)"))
            for call in calls { parts.yield(.toolCall(call)) }
            if !isSlow { parts.finish() }
            return stream
        }
    }

    /// Recognizes more of an utterance each time it pauses.
    private struct GrowingRecognizer: SpeechRecognizer {
        func recognize(_ segment: SpeechSegment) -> AsyncThrowingStream<Recognition, any Error> {
            AsyncThrowingStream { stream in
                stream.yield(Recognition(text: segment.duration < .milliseconds(1_700) ? "Tell me the" : "Tell me the time."))
                stream.finish()
            }
        }
    }

    private static func call(
        _ responder: EarlyResponder, _ recognizer: any SpeechRecognizer, tools: any ToolRunner = NoTools(),
        definition: AssistantDefinition = AssistantDefinition(id: "test")
    ) -> FakeCall {
        let call = FakeCall(
            AgentEngines(
                detector: LevelDetectors(), recognizer: recognizer, responder: responder, synthesizer: ToneSynthesizer(), tools: tools),
            definition: definition)
        responder.room.withLock { $0 = call.room }
        return call
    }

    @Test func theResponderIsAskedBeforeTheTurnIsTakenAndItsAnswerIsUsed() async throws {
        let responder = EarlyResponder()
        let call = Self.call(responder, ScriptedRecognizer(["What time is it?"]))
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        let requests = responder.requests.withLock { $0 }
        #expect(requests.map(\.text) == ["What time is it?"])
        #expect(requests.first?.states.contains(.thinking) == false, "the turn was not taken yet")
        #expect(call.room.current.segments.last?.text == "You asked: What time is it?")
    }

    @Test func anAnswerToHalfASentenceIsDiscarded() async throws {
        let responder = EarlyResponder(isSlow: true)
        let call = Self.call(responder, GrowingRecognizer())
        try await call.run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(400), from: 0)
            _ = try await call.says(for: .milliseconds(600), thenSilence: .milliseconds(800), from: next)
            try await call.until { call.room.current.states.last == .speaking || responder.requests.withLock { $0.count == 2 } }
        }
        let requests = responder.requests.withLock { $0 }
        #expect(requests.map(\.text) == ["Tell me the", "Tell me the time."])
        #expect(requests[0].isCancelled, "the user continued")
        #expect(requests.allSatisfy { !$0.states.contains(.thinking) })
        #expect(call.room.current.segments.allSatisfy { $0.role == .user })
    }

    @Test func toolsAreRunOnlyAfterTheTurnIsTaken() async throws {
        final class Switch: ToolRunner {
            let states = Mutex<[AgentState]>([])
            let room = Mutex<FakeRoom?>(nil)

            func run(_ call: ToolCall, of tool: AssistantTool) async -> ToolOutcome {
                states.withLock { $0 = room.withLock { $0?.current.states ?? [] } }
                return .result("on")
            }
        }
        let light = Switch()
        let responder = EarlyResponder(calls: [ToolCall(id: "c1", name: "light", arguments: "{}")])
        let definition = AssistantDefinition(id: "test", tools: [AssistantTool(name: "light", url: "https://tools.example/light")])
        let call = Self.call(responder, ScriptedRecognizer(["Light on, please."]), tools: light, definition: definition)
        light.room.withLock { $0 = call.room }
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(responder.requests.withLock { $0.map(\.text) } == ["Light on, please."])
        #expect(light.states.withLock { $0 }.contains(.thinking))
        #expect(call.room.current.segments.last?.text == "You asked: Light on, please. Done.")
    }

    @Test func aResponseIsTakenOnlyForItsConversation() throws {
        let alice = UserMessage(speaker: FakeRoom.user, text: "Hello.", kind: .speech)
        let responder = EarlyResponder(isSlow: true)
        let conversation = Conversation(messages: [.user("Hello.")])
        var preparation = ResponsePreparation()
        preparation.begin([alice], conversation, with: responder)
        #expect(preparation.isCurrent(for: [alice]) && !preparation.isCurrent(for: nil))
        preparation.claim(for: [alice])
        #expect(preparation.isCurrent(for: nil), "the next one may begin")
        #expect(preparation.take(for: Conversation(messages: [.user("Hi."), .user("Hello.")])) == nil)
        #expect(responder.requests.withLock { $0[0].isCancelled })
        preparation.begin([alice], conversation, with: responder)
        preparation.claim(for: [])
        #expect(preparation.discarded == 1 && preparation.take(for: conversation) == nil)
    }

    @Test func theSettingsDecideWhetherAModelIsAskedEarly() throws {
        var settings = ProviderSettings(baseUrl: "https://llm.example/v1", model: "small")
        #expect(try OpenAIResponder(settings).isWorthPreparing)
        settings.askEarly = false
        #expect(try !OpenAIResponder(settings).isWorthPreparing)
        #expect(!RulesResponder().isWorthPreparing)
    }
}
