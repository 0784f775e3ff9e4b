import Testing
import Wire

@testable import PatchbayAgents

/// Pauses within sentences: with a turn detector that is right, wrong, slow or absent.
struct FalseEndTests {
    @Test("A sentence that sounds unfinished is not cut at its pauses", arguments: [300, 500, 700, 900])
    func pause(milliseconds: Int) {
        var world = TurnWorld.judged { $0.hasSuffix("clubs.") ? 0.98 : 0.02 }
        world.says("I have four.", at: .seconds(2), for: .seconds(1))
        world.says("Queen of clubs.", at: .seconds(3) + .milliseconds(milliseconds), for: .seconds(1))
        world.run(until: .seconds(9))
        #expect(world.responses.map(\.messages) == [["I have four. Queen of clubs."]])
        #expect(world.overlap == .zero)
    }

    @Test func aSentenceThatSoundsFinishedIsAnsweredSoon() throws {
        var world = TurnWorld.judged { _ in 0.98 }
        world.says("What time is it?", at: .seconds(2), for: .seconds(1))
        world.run(until: .seconds(8))
        let pause = try #require(world.responses.first).at - .seconds(3)
        #expect(pause >= .milliseconds(300) && pause <= .milliseconds(380), "answered after \(pause)")
    }

    @Test func aMissingJudgementDelaysATurnButDoesNotHoldItUp() throws {
        var world = TurnWorld.judged(nil)
        world.says("What time is it?", at: .seconds(2), for: .seconds(1))
        world.run(until: .seconds(8))
        let pause = try #require(world.responses.first).at - .seconds(3)
        #expect(pause >= .milliseconds(590) && pause <= .milliseconds(680), "answered after \(pause)")
    }

    @Test func whatWasBegunTooEarlyIsDiscardedAndBothHalvesAreRecognizedTogether() throws {
        var world = TurnWorld.judged { _ in 0.98 }
        world.responseTakes = .seconds(1)
        world.says("Ask not what your country can do.", at: .seconds(2), for: .seconds(2))
        world.says("For you.", at: .milliseconds(4_700), for: .seconds(1))
        world.run(until: .seconds(12))
        #expect(world.count(\.isCancelledResponse) == 1)
        #expect(world.count { if case .continueUtterance = $0 { true } else { false } } == 1)
        #expect(world.responses.last?.messages == ["Ask not what your country can do. For you."])
        #expect(world.audible.count == 1)
        // Revisions of one transcript.
        let transcripts = world.effects.compactMap { if case .transcript(let transcript) = $0.effect { transcript } else { nil } }
        #expect(Set(transcripts.map(\.utterance)).count == 1)
        #expect(transcripts.map(\.revision) == Array(transcripts.indices))
        #expect(transcripts.last?.text == "Ask not what your country can do. For you." && transcripts.last?.isFinal == true)
    }

    @Test func speechAsTheAnswerBeginsContinuesTheSentence() {
        var world = TurnWorld.judged { _ in 0.98 }
        world.speechLasts = .seconds(6)
        world.says("Ask not what your country can do.", at: .seconds(2), for: .seconds(2))
        // Audible from about 4.4 s on.
        world.says("For you.", at: .milliseconds(4_600), for: .seconds(1))
        world.run(until: .seconds(16))
        #expect(world.responses.map(\.messages) == [["Ask not what your country can do."], ["Ask not what your country can do. For you."]])
        #expect(world.count { if case .retractLastMessage = $0 { true } else { false } } == 1)
    }

    @Test func speechOverTheAnswerIsANewUtterance() {
        var world = TurnWorld.judged { _ in 0.98 }
        world.speechLasts = .seconds(6)
        world.says("Tell me a story.", at: .seconds(2), for: .seconds(1))
        world.says("No, another one.", at: .milliseconds(4_400), for: .seconds(1))
        world.run(until: .seconds(16))
        #expect(world.responses.map(\.messages) == [["Tell me a story."], ["No, another one."]])
        #expect(world.count { if case .continueUtterance = $0 { true } else { false } } == 0)
    }

    @Test("A sound while the response is being written changes nothing", arguments: [100, 170, 300])
    func sound(milliseconds: Int) {
        var world = TurnWorld.judged { _ in 0.98 }
        world.responseTakes = .seconds(2)
        world.says("Book a table.", at: .seconds(2), for: .seconds(1))
        world.says("", at: .milliseconds(3_900), for: .milliseconds(milliseconds))
        world.run(until: .seconds(12))
        #expect(world.responses.last?.messages == ["Book a table."])
        #expect(world.finals.last == "Book a table.")
        #expect(world.audible.count == 1)
    }
}
