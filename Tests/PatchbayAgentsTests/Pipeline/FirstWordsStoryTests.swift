import Testing
import Wire

@testable import PatchbayAgents

/// What a user has said before the assistant comes.
@Suite(.timeLimit(.minutes(5)))
struct FirstWordsStoryTests {
    private static let greeting = AssistantDefinition(id: "test", greetings: ["Welcome to the shop."])

    private static func call(
        hearing texts: [String], _ responder: ScriptedResponder
    ) -> FakeCall {
        let engines = AgentEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer(texts), responder: responder, synthesizer: ToneSynthesizer())
        return FakeCall(engines, definition: greeting)
    }

    private static func answering(_ text: String) -> ScriptedResponder { ScriptedResponder { _ in [.text(text)] } }

    private static func spoken(in call: FakeCall) -> [String] {
        call.room.current.segments.filter { $0.spoken == .completed }.map(\.text)
    }

    private static func understood(in call: FakeCall) -> [String] {
        call.room.current.segments.filter { $0.role == .user && $0.final }.map(\.text)
    }

    @Test func aQuestionBeforeTheArrivalIsAnsweredInsteadOfTheGreeting() async throws {
        let responder = Self.answering("It is on its way.")
        let call = Self.call(hearing: ["Where is my order?"], responder)
        try await call.run(before: .init(speech: .milliseconds(900), silence: .milliseconds(800))) {
            try await call.until { Self.spoken(in: call) == ["It is on its way."] }
            try await call.wait(.seconds(2))
        }
        #expect(Self.understood(in: call) == ["Where is my order?"] && Self.spoken(in: call) == ["It is on its way."])
        #expect(responder.conversations.map(\.messages) == [[.user("Where is my order?")]])
        #expect(call.room.current.clears == 0, "no greeting was begun and cut off")
    }

    @Test func aQuestionInTwoPartsIsAnsweredOnce() async throws {
        let responder = Self.answering("Here it is.")
        let call = Self.call(hearing: ["Hello? Where is my order?"], responder)
        try await call.run(before: .init(speech: .milliseconds(900))) {
            _ = try await call.says(for: .milliseconds(700), thenSilence: .milliseconds(800), from: 900 * 48)
            try await call.until { !Self.spoken(in: call).isEmpty }
            try await call.wait(.seconds(1))
        }
        #expect(Self.understood(in: call) == ["Hello? Where is my order?"] && Self.spoken(in: call) == ["Here it is."])
        #expect(responder.conversations.count == 1)
    }

    @Test func silenceBeforeTheArrivalIsGreeted() async throws {
        let responder = Self.answering("Yes.")
        let call = Self.call(hearing: [], responder)
        try await call.run(before: .init(speech: .zero, silence: .seconds(2))) {
            try await call.until(.seconds(5)) { Self.spoken(in: call) == ["Welcome to the shop."] }
        }
        #expect(responder.conversations.isEmpty)
    }

    @Test func noiseBeforeTheArrivalIsGreeted() async throws {
        let responder = Self.answering("Yes.")
        let call = Self.call(hearing: [""], responder)
        try await call.run(before: .init(speech: .milliseconds(400), silence: .milliseconds(800))) {
            try await call.until(.seconds(5)) { Self.spoken(in: call) == ["Welcome to the shop."] }
        }
        #expect(responder.conversations.isEmpty && Self.understood(in: call).allSatisfy(\.isEmpty))
    }

    @Test func userWithAMicrophoneAndNothingSaidIsGreeted() async throws {
        let call = Self.call(hearing: [], Self.answering("Yes."))
        try await call.run(before: .init(speech: .zero)) {
            try await call.until { Self.spoken(in: call) == ["Welcome to the shop."] }
        }
    }

    @Test func decisionWaitsForEarlierSpeechAndThenForItsWords() {
        let start = Instant(nanoseconds: 1_000_000_000)
        var first = FirstWords(name: "Ann", at: start)
        #expect(!first.isOver(isTalking: false, at: start) && first.isOver(isTalking: false, at: start + FirstWords.arrivalMax))
        first.heard(at: start + .milliseconds(50))
        #expect(!first.isOver(isTalking: false, at: start + .milliseconds(240)))
        #expect(!first.isOver(isTalking: true, at: start + .seconds(9)))
        #expect(first.isOver(isTalking: false, at: start + .milliseconds(250)))
    }
}
