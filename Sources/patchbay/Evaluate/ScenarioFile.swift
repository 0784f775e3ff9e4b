import Foundation
import Wire
import YAMLSettings

/// A YAML file of scenarios, as docs/EVALUATE.md describes it. All errors are `ConfigurationError`, with the line.
struct ScenarioFile: Sendable {
    let scenarios: [Scenario]
    /// What holds for all scenarios together.
    let thresholds: EvaluationThresholds

    /// - Throws: `UsageError` if the file cannot be read, `ConfigurationError`.
    init(path: String) throws {
        guard let text = FileManager.default.contents(atPath: path).map({ String(decoding: $0, as: UTF8.self) }) else {
            throw UsageError("cannot read the scenarios \(path); check the path and its permissions")
        }
        try self.init(yaml: text, name: path, folder: URL(filePath: path).deletingLastPathComponent())
    }

    /// - Parameters:
    ///   - name: the file's name, for errors.
    ///   - folder: of the recordings.
    init(yaml: String, name: String, folder: URL) throws {
        let example = "such as `scenarios: [{name: time, steps: [{say: \"What time is it?\"}]}]`"
        guard let document = try YAMLValue.parse(yaml, source: name), !document.isEmpty else {
            throw ConfigurationError("\(name): the file is empty; write a list of scenarios, \(example)")
        }
        let fields = try ScenarioFields(document, "the file", ["thresholds", "scenarios"], source: name)
        thresholds = try fields.thresholds()
        guard let values = try fields.list("scenarios", 1...200) else {
            throw fields.fault("`scenarios` is missing; write a list of scenarios, \(example)")
        }
        var scenarios: [Scenario] = []
        for value in values {
            let scenario = try Self.scenario(value, name, folder)
            guard !scenarios.contains(where: { $0.name == scenario.name }) else {
                throw ConfigurationError("\(name): line \(value.line): the name \"\(scenario.name)\" is used twice; rename one scenario")
            }
            scenarios.append(scenario)
        }
        self.scenarios = scenarios
    }

    private static func scenario(_ value: YAMLValue, _ source: String, _ folder: URL) throws -> Scenario {
        let fields = try ScenarioFields(value, "a scenario", ["name", "steps", "thresholds"], source: source)
        guard let name = try fields.text("name") else { throw fields.fault("the scenario needs a `name`, such as `name: two questions`") }
        guard let values = try fields.list("steps", 1...100) else {
            throw fields.fault("the scenario needs `steps`, such as `steps: [{say: \"What time is it?\"}]`")
        }
        let scenario = Scenario(
            name: name, steps: try values.map { try step($0, source, folder) }, thresholds: try fields.thresholds())
        guard !scenario.lines.isEmpty else {
            throw fields.fault("the caller says nothing in \"\(name)\"; add a step with `say` or `play`")
        }
        return scenario
    }

    private static func step(_ value: YAMLValue, _ source: String, _ folder: URL) throws -> ScenarioStep {
        let names = ["say", "voice", "play", "text", "pauses", "speed", "noise_db", "interrupt_after_ms", "expect", "wait"]
        let fields = try ScenarioFields(value, "a step", names, source: source)
        let kinds = ["say", "play", "wait"].filter(fields.has)
        guard kinds.count == 1 else {
            throw fields.fault(
                kinds.isEmpty
                    ? "the step does nothing; give it `say` (a text), `play` (a recording) or `wait` (ms)"
                    : "a step has only one of \(kinds.map { "`\($0)`" }.joined(separator: " and ")); make two steps of it")
        }
        if kinds == ["wait"] {
            try fields.allowOnly(["wait"], with: "wait")
            return if fields.value("wait")?.text == "finished" { .waitUntilFinished } else { .wait(milliseconds: try fields.wait()) }
        }
        return .speak(try line(fields, isSpoken: kinds == ["say"], folder))
    }

    private static func line(_ fields: ScenarioFields, isSpoken: Bool, _ folder: URL) throws -> CallerLine {
        try fields.allowOnly(
            fields.names.filter { !(isSpoken ? ["text", "play"] : ["voice", "say"]).contains($0) }, with: isSpoken ? "say" : "play")
        var line: CallerLine
        if isSpoken {
            let voice = try fields.text("voice") ?? "onyx"
            guard AssistantDefinition.voices.contains(voice) else {
                let voices = AssistantDefinition.voices.joined(separator: ", ")
                throw fields.fault("there is no voice \"\(voice)\"; use one of \(voices)", at: "voice")
            }
            line = CallerLine(source: .synthesized(voice: voice), text: try fields.text("say"))
        } else {
            line = try recording(fields, folder)
        }
        line.speed = try fields.number("speed", 0.5...2) ?? 1
        line.noiseDecibels = try fields.integer("noise_db", -90 ... -10)
        line.interruptAfterMs = try fields.integer("interrupt_after_ms", 0...60_000)
        line.pauses = try (fields.list("pauses", 0...20) ?? []).map { value in
            let pause = try ScenarioFields(value, "a pause", ["at_ms", "ms"], source: fields.source)
            guard let at = try pause.integer("at_ms", 0...600_000), let ms = try pause.integer("ms", 1...20_000) else {
                throw pause.fault("a pause needs `at_ms` and `ms`, such as `{at_ms: 900, ms: 500}`")
            }
            return CallerLine.Pause(atMs: at, ms: ms)
        }
        if let value = fields.value("expect") {
            line.expectation = try expectation(value, isInterruption: line.interruptAfterMs != nil, fields.source)
        }
        return line
    }

    private static func recording(_ fields: ScenarioFields, _ folder: URL) throws -> CallerLine {
        let file = try fields.text("play") ?? ""
        let path = file.hasPrefix("/") ? file : folder.appending(path: file).path
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw fields.fault("cannot read the recording \(path); put the WAV file beside the scenarios, or correct `play`", at: "play")
        }
        let transcript = try fields.text("text") ?? (path as NSString).deletingPathExtension.readTranscript
        return CallerLine(source: .recording(path: path), text: transcript)
    }

    private static func expectation(_ value: YAMLValue, isInterruption: Bool, _ source: String) throws -> CallExpectation {
        let ofInterruptions = ["stops", "stops_within_ms", "resumes_within_ms"]
        let fields = try ScenarioFields(value, "`expect`", ["answered", "contains"] + ofInterruptions, source: source)
        if !isInterruption, let name = ofInterruptions.first(where: fields.has) {
            throw fields.fault(
                "`\(name)` needs a step that interrupts; add `interrupt_after_ms`, such as `interrupt_after_ms: 1200`", at: name)
        }
        var expectation = CallExpectation(
            answered: try fields.flag("answered"), contains: try fields.texts("contains"), stops: try fields.flag("stops"),
            stopsWithinMs: try fields.integer("stops_within_ms", 1...20_000),
            resumesWithinMs: try fields.integer("resumes_within_ms", 1...20_000))
        if expectation.stopsWithinMs != nil {
            guard expectation.stops != false, expectation.resumesWithinMs == nil else {
                throw fields.fault(
                    "`stops_within_ms` contradicts `stops: false` and `resumes_within_ms`; remove one", at: "stops_within_ms")
            }
            expectation.stops = true
        } else if expectation.resumesWithinMs != nil {
            guard expectation.stops != true else {
                throw fields.fault("`resumes_within_ms` contradicts `stops: true`; remove one", at: "resumes_within_ms")
            }
            expectation.stops = false
        }
        if expectation.answered == false, !expectation.contains.isEmpty {
            throw fields.fault("`contains` contradicts `answered: false`; remove one", at: "contains")
        }
        return expectation
    }
}

extension String {
    /// The contents of the text file with this path without its extension.
    fileprivate var readTranscript: String? {
        FileManager.default.contents(atPath: self + ".txt").map { String(decoding: $0, as: UTF8.self) }?
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A call to an assistant: what the caller says, and what is expected of the assistant.
struct Scenario: Sendable, Hashable {
    var name: String
    var steps: [ScenarioStep]
    /// What holds for this scenario, beside the thresholds of all.
    var thresholds = EvaluationThresholds()

    /// What the caller says, with the number of its step.
    var lines: [(number: Int, line: CallerLine)] {
        steps.enumerated().compactMap { index, step in
            if case .speak(let line) = step { (index + 1, line) } else { nil }
        }
    }
}

enum ScenarioStep: Sendable, Hashable {
    /// Speaks on after this time instead of waiting for the end of the answer.
    case wait(milliseconds: Int)
    /// Waits until the assistant has finished, which is also the default before a line.
    case waitUntilFinished
    case speak(CallerLine)
}

/// Something that the caller says.
struct CallerLine: Sendable, Hashable {
    enum Source: Sendable, Hashable {
        /// Synthesized in one of the product voices.
        case synthesized(voice: String)
        /// A WAV file.
        case recording(path: String)
    }

    /// Silence in the middle of a line.
    struct Pause: Sendable, Hashable {
        /// Where it begins in the line, at its original speed.
        var atMs: Int
        var ms: Int
    }

    var source: Source
    /// The words; nil if they are not known.
    var text: String?
    var pauses: [Pause] = []
    /// The tempo: 2 is twice as fast.
    var speed = 1.0
    /// The level of pink noise under the line, in dBFS.
    var noiseDecibels: Int?
    /// The line begins once the assistant has been audible for this time.
    var interruptAfterMs: Int?
    var expectation = CallExpectation()

    /// A name for people.
    var label: String {
        switch source {
        case .synthesized: "“\(text ?? "")”"
        case .recording(let path): path.split(separator: "/").last.map(String.init) ?? path
        }
    }
}

/// What is expected of the assistant after a line.
struct CallExpectation: Sendable, Hashable {
    /// Nil: an answer is expected unless the line interrupts, and an answer to an interruption is not judged.
    var answered: Bool?
    /// Texts of the answer.
    var contains: [String] = []
    /// Whether the assistant stops speaking: false for backchannels; nil if it is not judged.
    var stops: Bool?
    var stopsWithinMs: Int?
    /// If the assistant stops although it should not: how soon it must go on.
    var resumesWithinMs: Int?

    func expectsAnswer(interrupting: Bool) -> Bool { answered ?? (!interrupting && stops != false) }

    /// Whether the caller has something to say, so that the assistant should let the caller finish.
    var claimsTheFloor: Bool { stops != false && answered != false }
}

/// The worst figures that an evaluation passes with; nil is not judged.
struct EvaluationThresholds: Sendable, Hashable, Codable {
    var responseMsMedian: Int?
    var responseMsP95: Int?
    /// Errors per word, 0 to 1.
    var wordErrors: Double?
    var cutIn: Int?
    /// In one scenario.
    var talkOverMs: Int?
}
