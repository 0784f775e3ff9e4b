import ArgumentParser
import Foundation
import Testing
import YAMLSettings

@testable import patchbay

/// Scenario files: what is read of them, and the sentence for each mistake.
struct ScenarioFileTests {
    private static let demo = Program.package.appending(path: "demo")

    private func file(_ yaml: String) throws -> ScenarioFile {
        try ScenarioFile(yaml: yaml, name: "file", folder: Self.demo)
    }

    @Test func everyKeyOfAStepIsRead() throws {
        let file = try file(
            """
            thresholds: {response_ms_median: 800, response_ms_p95: 1500, word_errors: 0.1, cut_in: 0, talk_over_ms: 400}
            scenarios:
              - name: two questions
                thresholds: {cut_in: 1}
                steps:
                  - play: ps-goforward.wav
                    text: go forward
                    pauses: [{at_ms: 900, ms: 500}]
                    speed: 1.2
                    noise_db: -40
                    expect: {answered: true, contains: ["ten meters"]}
                  - wait: 800
                  - wait: finished
                  - say: "Stop."
                    voice: nova
                    interrupt_after_ms: 1200
                    expect: {stops_within_ms: 400}
            """)
        #expect(
            file.thresholds
                == EvaluationThresholds(responseMsMedian: 800, responseMsP95: 1_500, wordErrors: 0.1, cutIn: 0, talkOverMs: 400))
        let scenario = try #require(file.scenarios.first)
        #expect(scenario.thresholds == EvaluationThresholds(cutIn: 1))
        #expect(scenario.steps[1...2] == [.wait(milliseconds: 800), .waitUntilFinished])
        let recording = CallerLine(
            source: .recording(path: Self.demo.path + "/ps-goforward.wav"), text: "go forward",
            pauses: [CallerLine.Pause(atMs: 900, ms: 500)], speed: 1.2, noiseDecibels: -40,
            expectation: CallExpectation(answered: true, contains: ["ten meters"]))
        let stop = CallerLine(
            source: .synthesized(voice: "nova"), text: "Stop.", interruptAfterMs: 1_200,
            expectation: CallExpectation(stops: true, stopsWithinMs: 400))
        #expect(scenario.lines.map(\.line) == [recording, stop] && scenario.lines.map(\.number) == [1, 4])
    }

    @Test func transcriptOfARecordingIsTheTextBesideIt() throws {
        let file = try file("scenarios: [{name: a, steps: [{play: ps-goforward.wav}]}]")
        #expect(file.scenarios[0].lines[0].line.text == "go forward ten meters")
    }

    @Test func anAnswerIsExpectedOfQuestionsOnly() {
        #expect(CallExpectation().expectsAnswer(interrupting: false))
        #expect(!CallExpectation().expectsAnswer(interrupting: true))
        #expect(!CallExpectation(stops: false).expectsAnswer(interrupting: true))
        #expect(CallExpectation(answered: true).expectsAnswer(interrupting: true))
    }

    private static let faults = [
        ("", "file: the file is empty; write a list of scenarios, such as"),
        ("scenarios", "file: line 1: the file must be a map with `thresholds`, `scenarios`"),
        ("thresholds: {}", "file: line 1: `scenarios` is missing; write a list"),
        ("scenarios: []", "file: line 1: `scenarios` must be a list of 1 to 200 entries, not an empty list"),
        ("scenario: []", "file: line 1: the file has no `scenario`; did you mean `scenarios`?"),
        ("scenarios:\n- steps: [{say: a}]", "file: line 2: the scenario needs a `name`"),
        ("scenarios:\n- name: a", "file: line 2: the scenario needs `steps`"),
        ("scenarios:\n- name: a\n  steps:\n  - wait: 5", "file: line 2: the caller says nothing in \"a\"; add a step"),
        (
            "scenarios:\n- {name: a, steps: [{say: b}]}\n- {name: a, steps: [{say: b}]}",
            "file: line 3: the name \"a\" is used twice; rename one"
        ),
        ("thresholds:\n  cut_in: many\nscenarios: []", "file: line 2: `cut_in` must be a whole number from 0 to 1000, not many"),
        ("thresholds:\n  word_errors: 20\nscenarios: []", "file: line 2: `word_errors` must be a number from 0 to 1, not 20"),
        ("thresholds:\n  response_ms: 20\nscenarios: []", "file: line 2: `thresholds` has no `response_ms`; use response_ms_median"),
    ]

    @Test(arguments: faults) func mistakesOfAFileAreOneSentenceWithTheLine(yaml: String, says: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try file(yaml) }
        #expect(error.description.hasPrefix(says), "\(error)")
    }

    private static let stepFaults = [
        ("{}", "the step does nothing; give it `say` (a text), `play` (a recording) or `wait` (ms)"),
        ("{say: a, play: b}", "a step has only one of `say` and `play`; make two steps of it"),
        ("{say: a, spede: 1}", "a step has no `spede`; did you mean `speed`?"),
        ("{say: []}", "`say` must be a text, not an empty list"), ("{say: a, voice: bob}", "there is no voice \"bob\"; use one of alloy"),
        ("{say: a, text: b}", "`text` has no meaning with `say`; remove it"),
        ("{play: ps-goforward.wav, voice: alloy}", "`voice` has no meaning with `play`; remove it"),
        ("{play: nothing.wav}", "cannot read the recording \(demo.path)/nothing.wav; put the WAV file beside the scenarios"),
        ("{wait: soon}", "`wait` must be a whole number of milliseconds from 0 to 60000, or the word `finished`"),
        ("{wait: 5, speed: 1}", "`speed` has no meaning with `wait`; remove it"),
        ("{say: a, speed: 3}", "`speed` must be a number from 0.5 to 2, not 3"),
        ("{say: a, noise_db: 5}", "`noise_db` must be a whole number from -90 to -10, not 5"),
        ("{say: a, interrupt_after_ms: 1.5}", "`interrupt_after_ms` must be a whole number from 0 to 60000, not 1.5"),
        ("{say: a, pauses: [900]}", "a pause must be a map with `at_ms`, `ms`"),
        ("{say: a, pauses: [{at_ms: 900}]}", "a pause needs `at_ms` and `ms`, such as `{at_ms: 900, ms: 500}`"),
        ("{say: a, expect: {answered: 1}}", "`answered` must be true or false, without quotes, not 1"),
        ("{say: a, expect: {contains: []}}", "`contains` must be a list of texts, such as `[ten meters]`, not an empty list"),
        ("{say: a, expect: {answered: false, contains: b}}", "`contains` contradicts `answered: false`; remove one"),
        ("{say: a, expect: {stops: true}}", "`stops` needs a step that interrupts; add `interrupt_after_ms`"),
        (
            "{say: a, interrupt_after_ms: 1, expect: {stops: false, stops_within_ms: 9}}",
            "`stops_within_ms` contradicts `stops: false` and `resumes_within_ms`; remove one"
        ),
        (
            "{say: a, interrupt_after_ms: 1, expect: {stops: true, resumes_within_ms: 9}}",
            "`resumes_within_ms` contradicts `stops: true`; remove one"
        ),
    ]

    @Test(arguments: stepFaults) func mistakesOfAStepAreOneSentenceWithTheLine(step: String, says: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try file("scenarios:\n- name: a\n  steps:\n  - \(step)") }
        #expect(error.description.hasPrefix("file: line 4: \(says)"), "\(error)")
    }

    @Test func theScenariosOfTheInstallationAreValid() throws {
        let file = try ScenarioFile(path: DemoRecordings(executable: Program.executable).path(of: "scenarios.yaml"))
        #expect(8...12 ~= file.scenarios.count)
        #expect(file.thresholds.cutIn == 0)
    }

    @Test(arguments: [
        (["--repeat", "0"], "--repeat 0: pass 1 to 100"), (["--room", "r"], "--room: this is a room of a running gateway; pass its --url"),
        (["--url", "wss://g", "--config", "c"], "--config, --secret: with --url the running assistant has its own; omit them"),
        (["--profile", "p", "--secret", "KEY"], "--config, --secret: with --profile the running assistant has its own; omit them"),
    ])
    func optionsThatDoNotFitAreRefused(arguments: [String], says: String) throws {
        let error = try #require(throws: (any Error).self) { try AgentEvaluateCommand.parse(arguments) }
        #expect(AgentEvaluateCommand.message(for: error).contains(says))
    }
}
