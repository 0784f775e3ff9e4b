import Testing
import Wire

@testable import PatchbayAgents

struct KeptSpeechTests {
    private static let alice = Identity(text: "alice")
    private static let bob = Identity(text: "bob")

    private static func message(_ text: String, of who: Identity = alice) -> UserMessage {
        UserMessage(speaker: who, text: text, kind: .speech)
    }

    @Test func anUtteranceIsTheSumOfItsPieces() {
        var kept = KeptSpeech()
        kept.begin(Self.alice)
        kept.settle([1, 2], of: Self.alice)
        kept.begin(Self.bob)
        kept.settle([3], of: Self.alice)
        kept.transcribed("Hello.", of: Self.alice)
        kept.end([4], of: Self.alice)
        kept.transcribed("Hi.", of: Self.bob)
        kept.end([9], of: Self.bob)
        #expect(kept.take(Self.message("Hi.", of: Self.bob)) == [9])
        #expect(kept.take(Self.message("Hello.")) == [1, 2, 3, 4])
        #expect(kept.take(Self.message("Hello.")) == nil)
        kept.rewind()
        #expect(kept.take(Self.message("Hello.")) == [1, 2, 3, 4])
    }

    @Test func aTranscriptThatIsSplitHasTheAudioUpToTheSplit() {
        var kept = KeptSpeech()
        kept.begin(Self.alice)
        kept.settle([1], of: Self.alice)
        kept.transcribed("First.", of: Self.alice)
        kept.settle([2], of: Self.alice)
        kept.transcribed("Second.", of: Self.alice)
        kept.end([3], of: Self.alice)
        #expect(kept.take(Self.message("First.")) == [1])
        #expect(kept.take(Self.message("Second.")) == [2, 3])
    }

    @Test func anUtteranceWhoseMicrophoneIsGoneHasNoAudio() {
        var kept = KeptSpeech()
        kept.begin(Self.alice)
        kept.settle([1], of: Self.alice)
        kept.transcribed("Hello.", of: Self.alice)
        kept.end(nil, of: Self.alice)
        #expect(kept.take(Self.message("Hello.")) == nil)
    }

    @Test func theOldestAudioIsDroppedAtTheLimit() {
        var kept = KeptSpeech()
        let half = [Float](repeating: 0, count: KeptSpeech.samplesMax / 2)
        for text in ["One.", "Two.", "Three."] {
            kept.begin(Self.alice)
            kept.transcribed(text, of: Self.alice)
            kept.end(half, of: Self.alice)
        }
        #expect(kept.take(Self.message("One.")) == nil)
        #expect(kept.take(Self.message("Two.")) == half && kept.take(Self.message("Three.")) == half)
    }
}
