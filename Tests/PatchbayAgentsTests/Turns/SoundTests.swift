import Testing
import Wire

@testable import PatchbayAgents

/// Sounds that are no turn, while the assistant listens and while it speaks.
struct SoundTests {
    /// The assistant tells a story of 6 s from the third second on.
    private static func story() -> TurnWorld {
        var world = TurnWorld.judged { _ in 0.9 }
        world.speechLasts = .seconds(6)
        world.schedule(.text(TurnWorld.user, "Tell me a story."), at: .seconds(2))
        return world
    }

    // MARK: Sounds while the assistant listens

    @Test(
        "A listener's sound while the assistant is silent is not answered",
        arguments: ["mm-hm", "Okay.", "Hum.", "And I'm", "L..", "No.", "If I,", "Come,", "Mom.", "Great.", ""])
    func backchannel(_ text: String) {
        var world = TurnWorld.judged { _ in 0.9 }
        world.says(text, at: .seconds(2), for: .milliseconds(320))
        world.run(until: .seconds(6))
        #expect(world.responses.isEmpty && world.phrases.isEmpty)
    }

    @Test("Short answers and commands are heard", arguments: ["Stop.", "Hello.", "Yes.", "Four.", "Goodbye.", "4"])
    func shortSpeech(_ text: String) {
        var world = TurnWorld.judged { _ in 0.9 }
        world.says(text, at: .seconds(2), for: .milliseconds(320))
        world.run(until: .seconds(6))
        #expect(world.responses.map(\.messages) == [[text]])
    }

    @Test func okayAnswersAQuestion() {
        var world = TurnWorld.judged { _ in 0.9 }
        world.speechLasts = .seconds(1)
        world.says("Call me a taxi.", at: .seconds(2), for: .seconds(1))
        world.schedule(.speaking(TurnID(1), text: "Shall I send it now?"), at: .milliseconds(3_600))
        world.says("Okay.", at: .seconds(6), for: .milliseconds(320))
        world.run(until: .seconds(10))
        #expect(world.responses.last?.messages == ["Okay."])
    }

    @Test func theBabbleOfOthersIsNoTurn() {
        var world = TurnWorld.judged { _ in 0.9 }
        world.says("Something that many people said.", at: .seconds(2), for: .seconds(3), spread: 4)
        world.run(until: .seconds(8))
        #expect(world.responses.isEmpty)
        #expect(world.finals.allSatisfy { $0.isEmpty })
    }

    @Test func whatTheDetectorDoubtsIsNoTurn() {
        var world = TurnWorld.judged { _ in 0.9 }
        world.says("If I.", at: .seconds(2), for: .milliseconds(500), probability: 0.7)
        world.run(until: .seconds(6))
        #expect(world.responses.isEmpty)
        #expect(world.finals.allSatisfy { $0.isEmpty })
    }

    @Test("In a noisy room, whose noise levels the speech of one voice, a user is heard", arguments: [(-31.0, 1), (-70.0, 0)])
    func noise(background: Double, answers: Int) {
        var world = TurnWorld.judged { _ in 0.98 }
        world.background = background
        world.says("Where is the nearest bus stop?", at: .seconds(3), for: .seconds(2), spread: 5)
        world.run(until: .seconds(9))
        #expect(world.responses.count == answers)
    }

    // MARK: Sounds while the assistant speaks

    @Test func whatTheDetectorDoubtsDoesNotStopTheAssistant() {
        var world = Self.story()
        world.says("Something that many people said.", at: .seconds(4), for: .seconds(2), probability: 0.7, spread: 4)
        world.run(until: .seconds(12))
        #expect(world.count(\.isInterrupt) == 0 && world.count(\.isAbandon) == 0 && world.responses.count == 1)
        #expect(world.finals.allSatisfy { $0.isEmpty })
    }

    @Test func aVoiceThatRisesFromBabbleStopsIt() throws {
        var world = Self.story()
        world.says("Many people.", at: .seconds(3), for: .milliseconds(400), probability: 0.6)
        world.says("Please stop now.", at: .milliseconds(3_400), for: .seconds(1))
        world.run(until: .seconds(12))
        #expect(try #require(world.time(of: \.isInterrupt)) - .milliseconds(3_400) <= .milliseconds(320))
        #expect(world.count(\.isAbandon) == 1)
    }

    @Test("After a backchannel the assistant goes on within 300 ms", arguments: ["mm-hm", "Okay.", "uh-huh", "If I,"])
    func resumption(_ text: String) throws {
        var world = TurnWorld.judged { _ in 0.02 }
        world.speechLasts = .seconds(6)
        world.schedule(.text(TurnWorld.user, "Tell me a story."), at: .seconds(2))
        world.says(text, at: .seconds(4), for: .milliseconds(420))
        world.run(until: .seconds(12))
        let resumed = try #require(world.time(of: \.isResume)) - .milliseconds(4_420)
        #expect(resumed <= .milliseconds(300), "resumed after \(resumed)")
        #expect(world.count(\.isAbandon) == 0 && world.responses.count == 1)
    }

    @Test func aPauseAfterTheFirstWordIsNoEndOfAnInterruption() {
        var world = Self.story()
        world.says("Four.", at: .seconds(4), for: .milliseconds(320))
        world.says("Queen of clubs.", at: .milliseconds(4_500), for: .seconds(1))
        world.run(until: .seconds(12))
        #expect(world.count(\.isResume) == 0 && world.count(\.isAbandon) == 1)
        #expect(world.responses.last?.messages == ["Four. Queen of clubs."])
    }
}
