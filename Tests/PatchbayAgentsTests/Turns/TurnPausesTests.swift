import Testing
import Wire

@testable import PatchbayAgents

/// The silence that ends a turn.
struct TurnPausesTests {
    private let pauses = TurnPauses()

    private func milliseconds(_ text: String, _ probability: Float?, speech: Duration = .seconds(2)) -> Int {
        Int(pauses.silence(after: text, soundsFinished: probability, speech: speech).inMilliseconds)
    }

    @Test(
        "A finished sentence is answered soon, and one that sounds unfinished is given time",
        arguments: [
            ("Please hold while I try that extension.", 0.97 as Float, 310...310),
            ("Please enter the conference pin number.", 0.7, 500...650),
            ("You have been kicked.", 0.4, 800...950), ("Weasels have it.", 0.01, 1_100...1_150), ("ten of clubs", 0.96, 310...310),
        ])
    func bySound(_ text: String, _ probability: Float, _ expected: ClosedRange<Int>) {
        #expect(expected.contains(milliseconds(text, probability)))
    }

    @Test(
        "Words that rarely end a sentence are waited for, however finished they sound",
        arguments: [
            "Nobody is available to.", "Four queen of", "I would like a", "Well, um", "And then...",
        ])
    func openWords(_ text: String) {
        #expect(milliseconds(text, 0.98) == 1_150)
    }

    @Test func aQuestionMarkCountsMoreThanAnOpenLastWord() {
        #expect(milliseconds("Which folder should it go to?", 0.95) == 310)
        #expect(milliseconds("Which folder should it go to?", 0.05) == 700)
        #expect(milliseconds("Which folder should it go to?", nil) == 250)
    }

    @Test("Short utterances that are complete in themselves need not sound finished", arguments: ["Hello.", "Goodbye.", "Yes.", "Stop!"])
    func shortUtterances(_ text: String) {
        #expect(milliseconds(text, 0.01) == 400)
    }

    @Test func oneOrTwoWordsMayBeginASentenceUnlessTheyAnswerAQuestion() {
        #expect(milliseconds("Go forward.", 0.98) == 800)
        let answer = pauses.silence(after: "Red wine.", soundsFinished: 0.98, isAnswer: true, speech: .seconds(1))
        #expect(answer == .milliseconds(310))
    }

    @Test func withoutAJudgementTheTextDecidesAndLongSpeechIsGivenLongerPauses() {
        #expect(milliseconds("It was a long story.", nil) == 250)
        #expect(milliseconds("It was a long story about the", nil) == 700)
        #expect(milliseconds("It was a long story", nil) == 350)
        #expect(milliseconds("It was a long story.", nil, speech: .seconds(7)) == 650)
        #expect(milliseconds("It was a long story.", 0.97, speech: .seconds(7)) == 310)
    }

    @Test func noPauseExceeds1200Milliseconds() {
        for step in 0...100 {
            for text in ["", "Yes.", "I", "I would like to", "What is", "What is?", "A sentence.", "a sentence", "And then…"] {
                #expect((200...1_200).contains(milliseconds(text, Float(step) / 100)))
            }
        }
    }
}
