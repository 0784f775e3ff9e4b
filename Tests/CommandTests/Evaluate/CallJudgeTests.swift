import Testing
import Wire

@testable import patchbay

/// How calls are judged: timelines of both sides and transcripts in, figures out.
struct CallJudgeTests {
    private static func line(_ text: String = "What time is it?", after: Int? = nil, _ expectation: CallExpectation = CallExpectation())
        -> CallerLine
    {
        CallerLine(source: .synthesized(voice: "onyx"), text: text, interruptAfterMs: after, expectation: expectation)
    }

    /// - Parameter lines: each with the time in which the caller speaks.
    private static func record(_ lines: [(CallerLine, Span)], assistant: [Span]) -> CallRecord {
        var record = CallRecord()
        record.lines = lines.enumerated().map { CallRecord.SpokenLine(number: $0 + 1, line: $1.0, voiced: [$1.1]) }
        record.assistant = assistant
        record.lengthMs = 20_000
        return record
    }

    private static func span(_ start: Int, _ end: Int) -> Span { Span(start: start, end: end) }

    private static func transcript(_ id: String, caller: Bool, _ text: String, at: Int) -> CallRecord.Transcript {
        CallRecord.Transcript(id: id, isCaller: caller, text: text, firstAt: at)
    }

    // MARK: Answers

    @Test func responseTimeIsFromTheCallersLastSoundToTheAssistantsFirst() {
        let record = Self.record([(Self.line(), Self.span(1_000, 2_000))], assistant: [Self.span(0, 600), Self.span(2_640, 4_000)])
        let result = CallJudge(record).results()[0]
        #expect(result.answered && result.responseMs == 640 && result.cutInAtMs == nil && result.talkOverMs == 0)
        #expect(result.failures.isEmpty)
    }

    @Test func anAnswerToTheNextLineIsNotOneToThisLine() {
        let record = Self.record(
            [(Self.line(), Self.span(1_000, 2_000)), (Self.line(), Self.span(6_000, 7_000))], assistant: [Self.span(7_500, 8_000)])
        let results = CallJudge(record).results()
        #expect(results.map(\.answered) == [false, true] && results[1].responseMs == 500)
        #expect(results[0].failures == ["it was not answered"])
    }

    @Test func anAnswerThatBeginsBeforeTheCallerHasFinishedCutsIn() {
        let record = Self.record([(Self.line(), Self.span(1_000, 4_000))], assistant: [Self.span(2_500, 2_900), Self.span(4_600, 6_000)])
        let result = CallJudge(record).results()[0]
        #expect(result.cutInAtMs == 2_500 && result.talkOverMs == 400 && result.responseMs == 600)
    }

    @Test func aCoughThatIsAnsweredFails() {
        let line = Self.line("Ahem.", CallExpectation(answered: false))
        let answered = Self.record([(line, Self.span(1_000, 1_200))], assistant: [Self.span(2_000, 3_000)])
        #expect(CallJudge(answered).results()[0].failures == ["it was answered, but should not be"])
        let quiet = Self.record([(line, Self.span(1_000, 1_200))], assistant: [])
        #expect(CallJudge(quiet).results()[0].failures.isEmpty)
    }

    @Test func wordsAreComparedInLowerCaseWithNumbersSpelledOut() {
        var record = Self.record(
            [(Self.line("go forward ten meters", CallExpectation(contains: ["ten meters"])), Self.span(1_000, 2_000))],
            assistant: [Self.span(2_500, 4_000)])
        record.transcripts = [
            Self.transcript("1", caller: true, "Go forward 10 meters.", at: 1_500),
            Self.transcript("2", caller: false, "You said: Go forward 10 meters.", at: 2_400),
        ]
        let result = CallJudge(record).results()[0]
        #expect(result.words == 4 && result.wordErrors == 0 && result.failures.isEmpty)
        record.transcripts[1].text = "Pardon?"
        #expect(CallJudge(record).results()[0].failures == ["the answer does not contain \"ten meters\": \"Pardon?\""])
        record.transcripts = []
        #expect(CallJudge(record).results()[0].wordErrors == nil, "the assistant publishes no transcripts")
    }

    @Test(arguments: [("0", "zero"), ("42", "forty two"), ("120", "one hundred twenty"), ("2026", "2026"), ("Don't, STOP!", "don't stop")])
    func wordsOfATextAreThoseThatAreSpoken(text: String, words: String) {
        #expect(SpokenWords.of(text).joined(separator: " ") == words)
    }

    // MARK: Interruptions

    private static let stop = line("Stop.", after: 1_200, CallExpectation(stops: true, stopsWithinMs: 400))

    private static func interruption(_ line: CallerLine, assistant: [Span], clearedAt: Int?) -> CallRecord {
        var record = record([(Self.line(), span(0, 500)), (line, span(3_000, 3_400))], assistant: assistant)
        record.reportsPlayout = true
        if let clearedAt { record.clears = [CallRecord.Clear(at: clearedAt, heardTo: MediaTime(ticks: 48_000))] }
        return record
    }

    @Test func stopTimeIsFromTheInterruptionsFirstSoundToTheAssistantsLast() {
        let record = Self.interruption(Self.stop, assistant: [Self.span(1_000, 3_250)], clearedAt: 3_200)
        let result = CallJudge(record).results()[1]
        #expect(result.stopMs == 250 && result.talkOverMs == 250 && result.answerExpected == nil && result.failures.isEmpty)
    }

    @Test func anAssistantThatStopsTooLateFails() {
        let record = Self.interruption(Self.stop, assistant: [Self.span(1_000, 3_900)], clearedAt: 3_880)
        #expect(CallJudge(record).results()[1].failures == ["the assistant stopped after 900 ms, not within 400 ms"])
    }

    @Test func aShortPauseAfterTheInterruptionIsNoStop() {
        let record = Self.interruption(Self.stop, assistant: [Self.span(1_000, 3_200), Self.span(3_450, 9_000)], clearedAt: nil)
        #expect(CallJudge(record).results()[1].stopMs == 6_000)
    }

    @Test func anInterruptionOfSilenceFails() {
        var record = Self.interruption(Self.stop, assistant: [Self.span(1_000, 2_800)], clearedAt: nil)
        #expect(CallJudge(record).results()[1].failures == ["there was nothing to interrupt: the assistant had just finished"])
        record.lines[1].voiced = []
        #expect(
            CallJudge(record).results()[1].failures == ["there was nothing to interrupt: the assistant did not speak long enough"])
    }

    private static func backchannel(_ limit: Int?) -> CallerLine {
        line("mm-hm", after: 1_200, CallExpectation(stops: false, resumesWithinMs: limit))
    }

    @Test func aBackchannelThatTheAssistantSpeaksOverIsNoTalkOver() {
        let record = Self.interruption(Self.backchannel(nil), assistant: [Self.span(1_000, 9_000)], clearedAt: nil)
        let result = CallJudge(record).results()[1]
        #expect(!result.isFalseStop && result.stopMs == nil && result.talkOverMs == 0 && result.failures.isEmpty)
    }

    @Test func aStopAtABackchannelIsFalseUnlessTheAssistantGoesOnInTime() {
        let assistant = [Self.span(1_000, 3_300), Self.span(4_300, 9_000)]
        func result(_ limit: Int?) -> LineResult {
            CallJudge(Self.interruption(Self.backchannel(limit), assistant: assistant, clearedAt: 3_290)).results()[1]
        }
        #expect(result(1_500).resumeMs == 1_000 && !result(1_500).isFalseStop && result(1_500).failures.isEmpty)
        #expect(result(800).isFalseStop && result(800).failures == ["the assistant stopped after 300 ms and went on after 1000 ms"])
        #expect(result(nil).isFalseStop)
    }

    @Test func anAnswerToABackchannelIsNoResumption() {
        var record = Self.interruption(
            Self.backchannel(1_500), assistant: [Self.span(1_000, 3_300), Self.span(4_300, 9_000)], clearedAt: 3_290)
        record.transcripts = [
            Self.transcript("1", caller: false, "I can tell you the time and the date.", at: 900),
            Self.transcript("2", caller: false, "you the time", at: 4_200),
        ]
        #expect(CallJudge(record).results()[1].resumeMs == 1_000)
        record.transcripts[1].text = "You said: mm-hm."
        #expect(
            CallJudge(record).results()[1].failures == ["the assistant stopped after 300 ms and did not go on"])
    }

    @Test func anAnswerThatEndsAfterABackchannelHasNotBeenStopped() {
        let record = Self.interruption(Self.backchannel(nil), assistant: [Self.span(1_000, 3_600)], clearedAt: nil)
        #expect(!CallJudge(record).results()[1].isFalseStop)
    }

    @Test func withoutPlayoutReportsALongSilenceIsAStop() {
        var record = Self.interruption(
            Self.backchannel(nil), assistant: [Self.span(1_000, 3_600), Self.span(4_800, 6_000)], clearedAt: nil)
        record.reportsPlayout = false
        #expect(CallJudge(record).results()[1].isFalseStop)
        record.assistant = [Self.span(1_000, 3_600), Self.span(4_200, 6_000)]
        #expect(!CallJudge(record).results()[1].isFalseStop, "a pause between sentences")
    }

    @Test func keptWordsAfterTheEndOfPlayoutAreUnheard() {
        var record = Self.interruption(Self.stop, assistant: [Self.span(1_000, 3_250)], clearedAt: 3_200)
        let words = ["one", "two", "three", "four"].enumerated().map { index, text in
            TranscriptWord(text: text, startTs: UInt32(index) * 19_200, endTs: UInt32(index + 1) * 19_200)
        }
        record.transcripts = [Self.transcript("1", caller: false, "one two three four", at: 900)]
        record.transcripts[0].words = words
        // Played up to 48,000: half of the third word.
        for (kept, unheard) in [("one two", 0), ("one two three", 0), ("one two three four", 1)] {
            record.transcripts[0].heardChars = kept.count
            let results = CallJudge(record).results()
            #expect(results[1].unheardWords == unheard && results[0].answer == kept + "…", "\(kept)")
        }
        record.transcripts[0].words = []
        #expect(CallJudge(record).results()[1].unheardWords == nil, "without word times")
    }

    // MARK: Sums

    private static func call(_ scenario: String, _ lines: [LineResult]) -> CallResult {
        var call = CallResult(of: Scenario(name: scenario, steps: []), run: 1, CallRecord())
        call.lines = lines
        return call
    }

    private static func answer(after ms: Int, errors: Int = 0) -> LineResult {
        var line = LineResult(step: 1, line: "a", startMs: 0, endMs: 100)
        (line.answerExpected, line.answered, line.responseMs, line.words, line.wordErrors) = (true, true, ms, 10, errors)
        return line
    }

    @Test func thresholdsOfAllScenariosHoldForTheirSum() {
        let scenarios = [
            Scenario(name: "a", steps: []), Scenario(name: "b", steps: [], thresholds: EvaluationThresholds(responseMsMedian: 800)),
        ]
        let calls = [
            Self.call("a", [Self.answer(after: 600), Self.answer(after: 700)]), Self.call("b", [Self.answer(after: 900, errors: 3)]),
        ]
        let report = EvaluationReport(
            scenarios, calls, thresholds: EvaluationThresholds(responseMsMedian: 800, responseMsP95: 850, wordErrors: 0.05))
        #expect(report.figures.responseMs == Spread([900, 600, 700]) && report.figures.responseMs?.median == 700)
        #expect(
            report.failures == [
                "b: the median response time is 900 ms, above 800 ms",
                "all scenarios: the 95th percentile of response times is 900 ms, above 850 ms",
                "all scenarios: the word error rate is 10.0 %, above 5.0 %",
            ])
        #expect(!report.passed && report.rows.map(\.last) == ["ok", "failed", "failed"])
        #expect(report.rows.allSatisfy { $0.count == EvaluationReport.heads.count })
        #expect(EvaluationReport(scenarios, [calls[0]], thresholds: EvaluationThresholds()).passed)
    }

    @Test func aLineThatWasNotSaidFails() {
        let scenario = Scenario(name: "a", steps: [.speak(Self.line())])
        let call = CallResult(of: scenario, run: 1, CallRecord())
        #expect(call.failures == ["step 1, “What time is it?”: it was not said, because the call had ended"])
    }
}
