import Testing
import Wire

@testable import PatchbayAgents

/// Pauses within sentences: with a turn detector that is right, wrong, slow or absent.
struct FalseEndTests {
    private static func world(_ soundsFinished: (@Sendable (String) -> Float)?) -> TurnWorld {
        var settings = TurnSettings()
        settings.pauses.usesTurnDetector = true
        var world = TurnWorld(settings: settings)
        world.soundsFinished = soundsFinished
        return world
    }

    @Test("A sentence that sounds unfinished is not cut at its pauses", arguments: [300, 500, 700, 900])
    func pause(milliseconds: Int) {
        var world = Self.world { $0.hasSuffix("clubs.") ? 0.98 : 0.02 }
        world.says("I have four.", at: .seconds(2), for: .seconds(1))
        world.says("Queen of clubs.", at: .seconds(3) + .milliseconds(milliseconds), for: .seconds(1))
        world.run(until: .seconds(9))
        #expect(world.responses.map(\.messages) == [["I have four. Queen of clubs."]])
        #expect(world.overlap == .zero)
    }

    @Test func aSentenceThatSoundsFinishedIsAnsweredSoon() throws {
        var world = Self.world { _ in 0.98 }
        world.says("What time is it?", at: .seconds(2), for: .seconds(1))
        world.run(until: .seconds(8))
        let pause = try #require(world.responses.first).at - .seconds(3)
        #expect(pause >= .milliseconds(300) && pause <= .milliseconds(380), "answered after \(pause)")
    }

    @Test func aMissingJudgementDelaysATurnButDoesNotHoldItUp() throws {
        var world = Self.world(nil)
        world.says("What time is it?", at: .seconds(2), for: .seconds(1))
        world.run(until: .seconds(8))
        let pause = try #require(world.responses.first).at - .seconds(3)
        #expect(pause >= .milliseconds(590) && pause <= .milliseconds(680), "answered after \(pause)")
    }

    @Test func whatWasBegunTooEarlyIsDiscardedAndBothHalvesAreRecognizedTogether() throws {
        var world = Self.world { _ in 0.98 }
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
        var world = Self.world { _ in 0.98 }
        world.speechLasts = .seconds(6)
        world.says("Ask not what your country can do.", at: .seconds(2), for: .seconds(2))
        // Audible from about 4.4 s on.
        world.says("For you.", at: .milliseconds(4_600), for: .seconds(1))
        world.run(until: .seconds(16))
        #expect(world.responses.map(\.messages) == [["Ask not what your country can do."], ["Ask not what your country can do. For you."]])
        #expect(world.count { if case .retractLastMessage = $0 { true } else { false } } == 1)
    }

    @Test func speechOverTheAnswerIsANewUtterance() {
        var world = Self.world { _ in 0.98 }
        world.speechLasts = .seconds(6)
        world.says("Tell me a story.", at: .seconds(2), for: .seconds(1))
        world.says("No, another one.", at: .milliseconds(4_400), for: .seconds(1))
        world.run(until: .seconds(16))
        #expect(world.responses.map(\.messages) == [["Tell me a story."], ["No, another one."]])
        #expect(world.count { if case .continueUtterance = $0 { true } else { false } } == 0)
    }

    @Test("A sound while the response is being written changes nothing", arguments: [100, 170, 300])
    func sound(milliseconds: Int) {
        var world = Self.world { _ in 0.98 }
        world.responseTakes = .seconds(2)
        world.says("Book a table.", at: .seconds(2), for: .seconds(1))
        world.says("", at: .milliseconds(3_900), for: .milliseconds(milliseconds))
        world.run(until: .seconds(12))
        #expect(world.responses.last?.messages == ["Book a table."])
        #expect(world.finals.last == "Book a table.")
        #expect(world.audible.count == 1)
    }

    // MARK: Sounds that are no turns

    @Test(
        "A listener's sound while the assistant is silent is not answered",
        arguments: ["mm-hm", "Okay.", "Hum.", "And I'm", "L..", "No.", "If I,", "Come,", "Mom.", "Great.", ""])
    func backchannel(_ text: String) {
        var world = Self.world { _ in 0.9 }
        world.says(text, at: .seconds(2), for: .milliseconds(320))
        world.run(until: .seconds(6))
        #expect(world.responses.isEmpty && world.phrases.isEmpty)
    }

    @Test("Short answers and commands are heard", arguments: ["Stop.", "Hello.", "Yes.", "Four.", "Goodbye.", "4"])
    func shortSpeech(_ text: String) {
        var world = Self.world { _ in 0.9 }
        world.says(text, at: .seconds(2), for: .milliseconds(320))
        world.run(until: .seconds(6))
        #expect(world.responses.map(\.messages) == [[text]])
    }

    @Test func okayAnswersAQuestion() {
        var world = Self.world { _ in 0.9 }
        world.speechLasts = .seconds(1)
        world.says("Call me a taxi.", at: .seconds(2), for: .seconds(1))
        world.schedule(.speaking(TurnID(1), text: "Shall I send it now?"), at: .milliseconds(3_600))
        world.says("Okay.", at: .seconds(6), for: .milliseconds(320))
        world.run(until: .seconds(10))
        #expect(world.responses.last?.messages == ["Okay."])
    }
}
