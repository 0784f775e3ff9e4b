import Testing
import Wire

@testable import PatchbayAgents

/// Texts without word times.
struct SpokenUtteranceTests {
    private static let second = 48_000

    @Test func textThatRunsAheadOfItsAudioIsNotHeardYet() {
        var utterance = SpokenUtterance()
        utterance.beginSentence("", at: 0)
        let words = (10..<40).map { "word\($0) " }
        for word in words { utterance.extendText(by: word) }
        utterance.extendSentence(to: Self.second, words: nil)
        // 210 characters take 14 s.
        #expect(utterance.text(to: Self.second) == "word10 word11")
        #expect(utterance.text() == words.joined().trimmingSpaces())
        utterance.extendSentence(to: 30 * Self.second, words: nil)
        utterance.completeSentence()
        #expect(utterance.text(to: 10 * Self.second) == words.prefix(10).joined().trimmingSpaces())
        #expect(utterance.text(to: 30 * Self.second) == utterance.text())
    }

    @Test func theAssumedEndOfATextChangesSeldom() {
        var utterance = SpokenUtterance()
        utterance.beginSentence("", at: Self.second)
        let ends = (0..<150).map { _ in
            utterance.extendText(by: "x")
            return utterance.sentences.first?.textEnd ?? 0
        }
        #expect(Set(ends).count == 20 && ends == ends.sorted() && ends.last == 11 * Self.second)
    }

    @Test func anEmptySentenceAddsNoSpace() {
        var utterance = SpokenUtterance()
        utterance.beginSentence("One.", at: 0)
        utterance.extendSentence(to: Self.second, words: nil)
        utterance.beginSentence("", at: Self.second)
        #expect(utterance.text() == "One.")
        utterance.extendText(by: "Two. ")
        #expect(utterance.text() == "One. Two.")
    }
}
