import Foundation
import Testing
import Wire

@testable import PatchbayAgents

/// Timers and reminders, which the assistant announces by itself.
@Suite(.timeLimit(.minutes(5)))
struct ReminderStoryTests {
    private static let over = "Your timer for 10 seconds is over."

    private static func call(
        hearing texts: [String] = [], synthesizer: any SpeechSynthesizer = ToneSynthesizer(), responder: (any Responder)? = nil
    ) -> FakeCall {
        let rules = RulesResponder(name: "Robin", timeZone: .gmt, now: { RulesUser.now }, chance: { 0 })
        return FakeCall(
            AgentEngines(
                detector: LevelDetectors(), recognizer: ScriptedRecognizer(texts), responder: responder ?? rules, synthesizer: synthesizer))
    }

    private static func types(_ text: String, in call: FakeCall) async {
        await call.pipeline.take(.text(FakeRoom.user, text))
    }

    /// What the assistant has said to its end.
    private static func said(in call: FakeCall) -> [String] {
        call.room.current.segments.filter { $0.role == .assistant && $0.spoken == .completed }.map(\.text)
    }

    private static func cards(in call: FakeCall) -> [AssistantCard] {
        call.room.current.messages.compactMap { if case .card(let card) = $0 { card } else { nil } }
    }

    @Test func aTimerSpeaksByItselfAndShowsItsCard() async throws {
        let call = Self.call()
        try await call.run {
            let start = call.clock.now
            await Self.types("Set a timer for ten seconds.", in: call)
            try await call.until { Self.said(in: call).last == Self.over }
            #expect(call.clock.now - start >= .seconds(10) && call.clock.now - start < .seconds(14))
            await Self.types("Say that again.", in: call)
            try await call.until { Self.said(in: call).count == 3 }
        }
        #expect(Self.said(in: call) == ["Your timer for 10 seconds starts now.", Self.over, Self.over])
        let cards = Self.cards(in: call)
        #expect(cards.map(\.body) == ["Due in 10 seconds.", Self.over] && Set(cards.map(\.id)).count == 1)
        #expect(cards.map(\.title) == ["Timer for 10 seconds", "Timer for 10 seconds"] && cards[0].actions.map(\.id) == ["cancel"])
    }

    @Test func aReminderWaitsUntilNobodySpeaks() async throws {
        let call = Self.call(hearing: ["Tell me what day it is today."])
        try await call.run {
            await Self.types("Set a timer for ten seconds.", in: call)
            let next = try await call.says(for: .zero, thenSilence: .seconds(9), from: 0)
            _ = try await call.says(for: .seconds(4), thenSilence: .milliseconds(900), from: next)
            try await call.until { Self.said(in: call).last == Self.over }
        }
        #expect(Self.said(in: call) == ["Your timer for 10 seconds starts now.", "Today is Friday, November 27.", Self.over])
    }

    @Test func aReminderWaitsForTheEndOfAHold() async throws {
        let call = Self.call()
        try await call.run {
            await Self.types("Set a timer for ten seconds.", in: call)
            try await call.until { Self.said(in: call).count == 1 }
            await call.pipeline.take(.held(true))
            try await call.wait(.seconds(15))
            #expect(Self.said(in: call).count == 1)
            await call.pipeline.take(.held(false))
            try await call.until { Self.said(in: call).last == Self.over }
        }
    }

    @Test func aTimerIsCancelledOnItsCard() async throws {
        let call = Self.call()
        try await call.run {
            await Self.types("Set a timer for ten seconds.", in: call)
            try await call.until { Self.said(in: call).count == 1 }
            let card = try #require(Self.cards(in: call).first)
            let choice = try AssistantMessage.cardAction(CardAction(card: card.id, action: "cancel")).payload()
            await call.pipeline.take(.data(FakeRoom.user, topic: AssistantMessage.topic, text: choice))
            try await call.wait(.seconds(12))
        }
        #expect(Self.said(in: call).prefix(2) == ["Your timer for 10 seconds starts now.", "Cancelled: Timer for 10 seconds."])
        #expect(!Self.said(in: call).contains(Self.over))
        #expect(Self.cards(in: call).map(\.body) == ["Due in 10 seconds.", "Cancelled."])
    }

    @Test func aRequestThatGoesOnSetsOneTimerOnly() async throws {
        let call = Self.call()
        try await call.run {
            await Self.types("Set a timer for ten seconds.", in: call)
            await Self.types("Thank you.", in: call)
            try await call.until { Self.said(in: call).last == Self.over }
            try await call.wait(.seconds(5))
        }
        #expect(Self.said(in: call) == ["Your timer for 10 seconds starts now. You're welcome.", Self.over])
        #expect(Self.cards(in: call).count == 2)
    }

    @Test func theResponderLearnsWhatIsPending() async throws {
        let call = Self.call()
        try await call.run {
            await Self.types("Remind me to call Anna in five minutes.", in: call)
            try await call.until { Self.said(in: call).count == 1 }
            await Self.types("What reminders do I have?", in: call)
            try await call.until { Self.said(in: call).count == 2 }
        }
        #expect(Self.said(in: call)[1].hasPrefix("You have 1: reminder to call Anna, with 4 minutes and "))
    }

    @Test func noCallHasMoreThanSixteen() async throws {
        let timer = Reminder(title: "Timer", text: "Over.", after: .seconds(5))
        let call = Self.call(responder: ScriptedResponder { _ in Array(repeating: .schedule(timer), count: 17) + [.text("Done.")] })
        try await call.run {
            await Self.types("Set many timers.", in: call)
            try await call.until { Self.cards(in: call).count == 32 }
        }
        #expect(Set(Self.cards(in: call).map(\.id)).count == Schedule.countMax)
    }

    @Test func aReminderThatCannotBeSpokenIsGivenUp() async throws {
        /// Fails for announcements of timers.
        struct Fragile: SpeechSynthesizer {
            func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
                ToneSynthesizer(fails: text.contains("over")).synthesize(text, voice: voice)
            }
        }
        let call = Self.call(synthesizer: Fragile())
        try await call.run {
            await Self.types("Set a timer for ten seconds.", in: call)
            try await call.wait(.seconds(40))
        }
        #expect(Self.said(in: call).filter { $0 == AssistantPhrases().apology }.count == Schedule.attemptsMax)
    }
}
