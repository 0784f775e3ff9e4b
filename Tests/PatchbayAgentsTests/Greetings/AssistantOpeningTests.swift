import Testing
import Wire

@testable import PatchbayAgents

struct AssistantOpeningTests {
    @Test(
        arguments: [
            ("Hello {name}, this is Robin. How can I help?", "Ann", ["Hello Ann, this is Robin.", "How can I help?"]),
            ("Hello {name}, this is Robin. How can I help?", "", ["Hello, this is Robin.", "How can I help?"]),
            ("Welcome, {name}.", "", ["Welcome."]),
            // The name does not change where a sentence ends.
            ("Welcome, {name}. I'm listening.", "J. R. Smith. Jr", ["Welcome, J. R. Smith. Jr.", "I'm listening."]),
            ("{name}!", "", []),
        ] as [(String, String, [String])])
    func aGreetingIsSpokenSentenceBySentence(template: String, name: String, sentences: [String]) {
        #expect(AssistantGreeting.sentences(of: template, userName: name) == sentences)
    }

    @Test func theGreetingIsTakenOnce() {
        var opening = AssistantOpening(greeting: "Hello {name}.", onboarding: [])
        #expect(opening.takeGreeting(for: "Ann") == ["Hello Ann."])
        #expect(opening.takeGreeting(for: "Bob").isEmpty)
        var continued = AssistantOpening(greeting: "Hello.", onboarding: [])
        continued.omitGreeting()
        #expect(continued.takeGreeting(for: "Ann").isEmpty)
    }

    @Test(arguments: [true, false])
    func theOnboardingIsSpokenOnceAndItsEndIsReported(completed: Bool) {
        var opening = AssistantOpening(greeting: nil, onboarding: ["This is a shop. Ask for a book.", "Say goodbye to leave."])
        #expect(opening.onboardingSentences == ["This is a shop.", "Ask for a book.", "Say goodbye to leave."])
        #expect(!opening.needsOnboardingTurn)
        for _ in 1...2 { #expect(opening.requestOnboarding() == nil) }
        #expect(opening.needsOnboardingTurn)
        opening.beginOnboarding(TurnID(2))
        #expect(opening.requestOnboarding() == nil)
        #expect(!opening.needsOnboardingTurn)
        #expect(opening.ended(TurnID(1), completed: true) == nil)
        #expect(opening.ended(TurnID(2), completed: completed) == .onboardingFinished(completed: completed))
        #expect(opening.ended(TurnID(2), completed: true) == nil)
        // A client that asks again gets the same answer, and no second onboarding.
        #expect(opening.requestOnboarding() == .onboardingFinished(completed: completed))
        #expect(!opening.needsOnboardingTurn)
    }

    @Test func anAssistantWithoutOnboardingSaysSo() {
        var opening = AssistantOpening(greeting: nil, onboarding: [])
        #expect(opening.requestOnboarding() == .onboardingFinished(completed: false))
        #expect(!opening.needsOnboardingTurn)
    }
}
