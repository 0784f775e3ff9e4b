import Testing
import Wire

@testable import PatchbayAgents

struct TurnMachineTests {
    @Test func aSentenceIsAnsweredAfterItsPause() throws {
        var world = TurnWorld()
        world.says("What time is it?", at: .seconds(2), for: .milliseconds(1_200))
        world.run(until: .seconds(8))
        #expect(world.finals == ["What time is it?"])
        let response = try #require(world.responses.first)
        #expect(world.responses.count == 1 && response.messages == ["What time is it?"])
        let pause = response.at - .milliseconds(3_200)
        #expect(pause >= .milliseconds(220) && pause <= .milliseconds(320), "answered after \(pause)")
        #expect(world.states == [.listening, .thinking, .speaking, .listening])
    }

    @Test func anUnfinishedSentenceIsGivenMoreTime() throws {
        var world = TurnWorld()
        world.says("I would like to", at: .seconds(2), for: .seconds(1))
        world.run(until: .seconds(8))
        let pause = try #require(world.responses.first).at - .seconds(3)
        #expect(pause >= .milliseconds(680) && pause <= .milliseconds(780), "answered after \(pause)")
    }

    @Test func aPauseWithinASentenceDoesNotEndTheTurn() {
        var world = TurnWorld()
        world.says("I would like to", at: .seconds(2), for: .seconds(1))
        world.says("book a table.", at: .milliseconds(3_450), for: .seconds(1))
        world.run(until: .seconds(9))
        #expect(world.finals == ["I would like to book a table."])
        #expect(world.responses.map(\.messages) == [["I would like to book a table."]])
    }

    @Test func whoSpeaksAtLengthIsGivenLongerPauses() {
        var world = TurnWorld()
        world.says("It was a long story about many people.", at: .seconds(2), for: .seconds(7))
        world.says("And this is how it ended.", at: .milliseconds(9_500), for: .seconds(2))
        world.run(until: .seconds(16))
        #expect(world.responses.map(\.messages) == [["It was a long story about many people. And this is how it ended."]])
    }

    @Test func aUserWhoContinuesAfterAnAnswerHasBegunIsGivenLongerPauses() {
        var world = TurnWorld()
        world.says("I have three things to say.", at: .seconds(2), for: .seconds(3))
        // Too late for the first pause, so the assistant begins to answer, and later than a continuation of the sentence.
        world.says("The first one is short.", at: .milliseconds(6_000), for: .seconds(3))
        world.says("The second one is shorter.", at: .milliseconds(9_400), for: .seconds(2))
        world.run(until: .seconds(16))
        #expect(world.responses.count == 2)
        #expect(world.responses.last?.messages == ["The first one is short. The second one is shorter."])
    }

    @Test func nothingIsLostWhenTheRecognizerIsSlow() {
        var world = TurnWorld()
        world.recognitionTakes = .seconds(2)
        world.says("Book a table for two.", at: .seconds(2), for: .seconds(1))
        world.says("At the window, please.", at: .milliseconds(4_200), for: .seconds(1))
        world.run(until: .seconds(14))
        #expect(world.finals.joined(separator: " ") == "Book a table for two. At the window, please.")
        #expect(world.responses.count == 1)
    }

    @Test func aMicrophoneMutedAfterTheLastWordLosesNoWord() throws {
        var world = TurnWorld()
        world.recognitionTakes = .milliseconds(400)
        world.says("What time is it?", at: .seconds(2), for: .seconds(1))
        world.schedule(.microphoneEnded(TurnWorld.user), at: .milliseconds(3_010))
        world.run(until: .seconds(8))
        #expect(world.finals == ["What time is it?"])
        let response = try #require(world.responses.first)
        #expect(response.at - .seconds(3) <= .milliseconds(450), "muting ends the turn")
    }

    @Test func aMicrophoneThatEndsWhileTheRecognizerHangsEndsTheTurnWithAnApology() {
        var world = TurnWorld()
        world.recognitionTakes = .seconds(60)
        world.says("What time is it?", at: .seconds(2), for: .milliseconds(500))
        world.schedule(.microphoneEnded(TurnWorld.user), at: .milliseconds(2_600))
        world.run(until: .seconds(12))
        #expect(world.phrases == [.notUnderstood])
        #expect(!world.machine.isUserSpeaking)
    }

    @Test func partialResultsAppearWhileTheUserSpeaks() {
        var world = TurnWorld()
        world.says("one two three four five six seven eight nine ten", at: .seconds(2), for: .seconds(5))
        world.run(until: .seconds(9))
        #expect(world.partials.count >= 4)
        #expect(world.partials.allSatisfy { "one two three four five six seven eight nine ten".hasPrefix($0) })
    }

    @Test func speechOf200MillisecondsInterruptsTheAssistant() throws {
        var world = TurnWorld()
        world.speechLasts = .seconds(20)
        world.says("Count to one hundred.", at: .seconds(2), for: .seconds(1))
        world.says("Stop that now.", at: .seconds(6), for: .seconds(1))
        world.run(until: .seconds(10))
        let interruption = try #require(world.time(of: \.isInterrupt)) - .seconds(6)
        #expect(interruption <= .milliseconds(260), "interrupted after \(interruption)")
        #expect(world.count(\.isAbandon) == 1 && world.count(\.isResume) == 0)
        #expect(world.responses.map(\.messages) == [["Count to one hundred."], ["Stop that now."]])
    }

    @Test("After a backchannel or noise the assistant continues where it stopped", arguments: ["mm-hm", "Okay.", ""])
    func falseStart(_ text: String) {
        var world = TurnWorld()
        world.speechLasts = .seconds(6)
        world.says("Tell me a story.", at: .seconds(2), for: .seconds(1))
        world.says(text, at: .seconds(5), for: .milliseconds(420))
        world.run(until: .seconds(14))
        #expect(world.count(\.isInterrupt) == 1 && world.count(\.isResume) == 1 && world.count(\.isAbandon) == 0)
        #expect(world.responses.count == 1)
        let spoken = world.audible.reduce(Duration.zero) { $0 + ($1.to - $1.from) }
        #expect(abs((spoken - .seconds(6)).inMilliseconds) < 100, "spoke for \(spoken)")
    }

    @Test func aWordThatTheRecognizerInventsForASighIsWithdrawn() {
        var world = TurnWorld()
        world.speechLasts = .seconds(6)
        world.says("Tell me a story.", at: .seconds(2), for: .seconds(1))
        world.says("Hell.", at: .seconds(5), for: .milliseconds(380))
        world.run(until: .seconds(14))
        #expect(world.count(\.isResume) == 1 && world.count(\.isAbandon) == 0)
        #expect(world.finals == ["Tell me a story.", ""])
    }

    @Test("A word that sounds like a vowel takes the turn unless it is very short", arguments: [(380, 0), (700, 1)])
    func vowel(milliseconds: Int, interruptions: Int) {
        var world = TurnWorld()
        world.speechLasts = .seconds(6)
        world.says("Tell me a story.", at: .seconds(2), for: .seconds(1))
        world.says("No.", at: .seconds(5), for: .milliseconds(milliseconds))
        world.run(until: .seconds(14))
        #expect(world.count(\.isAbandon) == interruptions && world.count(\.isResume) == 1 - interruptions)
        #expect(world.finals == ["Tell me a story.", "No."])
    }

    @Test func aShortCommandInterrupts() {
        var world = TurnWorld()
        world.speechLasts = .seconds(6)
        world.says("Tell me a story.", at: .seconds(2), for: .seconds(1))
        world.says("Stop!", at: .seconds(5), for: .milliseconds(380))
        world.run(until: .seconds(14))
        #expect(world.count(\.isAbandon) == 1)
        #expect(world.responses.map(\.messages) == [["Tell me a story."], ["Stop!"]])
    }

    @Test func aClickIsNoSpeech() {
        var world = TurnWorld()
        world.speechLasts = .seconds(6)
        world.says("Tell me a story.", at: .seconds(2), for: .seconds(1))
        world.says("", at: .seconds(5), for: .milliseconds(90))
        world.run(until: .seconds(12))
        #expect(world.count(\.isInterrupt) == 0)
        #expect(world.finals == ["Tell me a story."])
    }

    @Test func speechBeforeTheResponseIsAudibleBelongsToTheSameTurn() {
        var world = TurnWorld()
        world.responseTakes = .seconds(2)
        world.says("Book a table.", at: .seconds(2), for: .seconds(1))
        world.says("For two people.", at: .seconds(4), for: .seconds(1))
        world.run(until: .seconds(12))
        #expect(world.count(\.isCancelledResponse) == 1)
        #expect(world.responses.last?.messages == ["Book a table. For two people."])
        #expect(world.audible.count == 1)
    }

    @Test func aNoiseDuringThinkingDoesNotLoseTheQuestion() {
        var world = TurnWorld()
        world.responseTakes = .seconds(2)
        world.says("Book a table.", at: .seconds(2), for: .seconds(1))
        world.says("", at: .seconds(4), for: .milliseconds(400))
        world.run(until: .seconds(12))
        #expect(world.responses.last?.messages == ["Book a table."])
        #expect(world.audible.count == 1)
    }

    @Test func threeMinutesWithoutAPauseAreRecognizedInPieces() {
        var world = TurnWorld()
        let words = (1...600).map { "word\($0)" }
        world.says(words.joined(separator: " "), at: .seconds(2), for: .seconds(180))
        world.run(until: .seconds(190))
        let spoken = world.finals.joined(separator: " ").split(separator: " ").map(String.init)
        #expect(spoken == words)
        #expect(world.finals.count >= 3 && world.finals.count <= 5)
        #expect(world.responses.count == 1, "the assistant waits for a pause")
        #expect(world.responses.first?.messages.count == world.finals.count)
    }

    @Test func aFailedRecognitionIsApologizedForOnce() {
        var world = TurnWorld()
        world.recognitionFails = true
        world.says("Hello there.", at: .seconds(2), for: .seconds(1))
        world.run(until: .seconds(8))
        #expect(world.phrases == [.notUnderstood])
        #expect(world.states.contains(.error))
        #expect(world.machine.state == .listening)
    }

    @Test func aFailedResponseEndsInAnApology() {
        var world = TurnWorld()
        world.responseFails = true
        world.says("Hello there.", at: .seconds(2), for: .seconds(1))
        world.run(until: .seconds(8))
        #expect(world.phrases == [.apology])
        #expect(world.states == [.listening, .thinking, .error, .speaking, .listening])
    }

    @Test func tenSecondsOfSilenceLeadToOneQuestionAndThenToIdle() throws {
        var world = TurnWorld()
        world.says("Hello there.", at: .seconds(2), for: .seconds(1))
        world.run(until: .seconds(60))
        #expect(world.phrases == [.question])
        #expect(world.states.last == .idle)
        let asked = try #require(world.time(of: \.isPhrase))
        #expect(asked >= .seconds(15) && asked <= .seconds(17), "asked at \(asked)")
    }

    @Test func whoWaitsForAReminderIsNotAskedForTheirPresence() {
        var world = TurnWorld()
        world.says("Set a timer for a minute.", at: .seconds(2), for: .seconds(1))
        world.setReminder()
        world.run(until: .seconds(60))
        #expect(world.phrases.isEmpty)
        #expect(world.machine.state == .listening)
    }

    @Test func aNoisyRoomIsNotSilent() {
        var world = TurnWorld()
        world.background = -40
        world.says("Hello there.", at: .seconds(2), for: .seconds(1))
        world.run(until: .seconds(60))
        #expect(world.phrases.isEmpty)
    }

    @Test func typedTextIsAnsweredLikeSpeech() {
        var world = TurnWorld()
        world.speechLasts = .seconds(10)
        world.says("Tell me a story.", at: .seconds(2), for: .seconds(1))
        world.schedule(.text(TurnWorld.user, "What time is it?"), at: .seconds(6))
        world.run(until: .seconds(20))
        #expect(world.responses.map(\.messages) == [["Tell me a story."], ["What time is it?"]])
        #expect(world.count(\.isAbandon) == 1)
    }

    @Test func digitsAreCollectedUntilAPause() {
        var world = TurnWorld()
        for (index, digit) in ["4", "2", "#"].enumerated() {
            world.schedule(.digits(TurnWorld.user, digit), at: .seconds(2) + .milliseconds(300 * index))
        }
        world.run(until: .seconds(6))
        #expect(world.responses.map(\.messages) == [["42#"]])
    }

    @Test func holdPausesTheAssistant() {
        var world = TurnWorld()
        world.speechLasts = .seconds(4)
        world.says("Tell me a story.", at: .seconds(2), for: .seconds(1))
        world.schedule(.held(true), at: .seconds(5))
        world.says("This is said to somebody else.", at: .seconds(6), for: .seconds(2))
        world.schedule(.held(false), at: .seconds(30))
        world.run(until: .seconds(36))
        #expect(world.responses.count == 1 && world.finals.count == 1)
        #expect(world.phrases.isEmpty)
        #expect(world.audible.allSatisfy { $0.to <= .milliseconds(5_100) || $0.from >= .seconds(30) })
        #expect(world.count(\.isResume) == 1)
    }
}
