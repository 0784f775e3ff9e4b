import Foundation

/// A call of a scenario.
struct CallResult: Sendable, Codable {
    var scenario: String
    /// Its number among the calls of the scenario.
    var run: Int
    var seconds: Double
    var lines: [LineResult]

    init(of scenario: Scenario, run: Int, _ record: CallRecord) {
        self.scenario = scenario.name
        self.run = run
        seconds = Double(record.lengthMs) / 1_000
        lines = CallJudge(record).results()
        for (number, line) in scenario.lines where !lines.contains(where: { $0.step == number }) {
            var missing = LineResult(step: number, line: line.label, startMs: 0, endMs: 0)
            missing.answerExpected = line.expectation.expectsAnswer(interrupting: line.interruptAfterMs != nil)
            missing.failures = ["it was not said, because the call had ended"]
            lines.append(missing)
        }
    }

    /// Expectations that do not hold.
    var failures: [String] { lines.flatMap { line in line.failures.map { "step \(line.step), \(line.line): \($0)" } } }
}

/// Median, 95th percentile (nearest rank) and maximum of times in milliseconds.
struct Spread: Sendable, Codable, Hashable {
    var median: Int
    var p95: Int
    var max: Int

    /// Nil without values.
    init?(_ values: [Int]) {
        let sorted = values.sorted()
        guard let last = sorted.last else { return nil }
        func percentile(_ percent: Int) -> Int { sorted[Swift.max(1, (sorted.count * percent + 99) / 100) - 1] }
        (median, p95, max) = (percentile(50), percentile(95), last)
    }
}

/// The figures of one or several calls.
struct EvaluationFigures: Sendable, Codable {
    var lines: Int
    var asked: Int
    var answered: Int
    var cutIn: Int
    var words: Int
    /// Nil without transcripts.
    var wordErrors: Int?
    var responseMs: Spread?
    /// In the call with most of it.
    var talkOverMs: Int
    var stopMs: Spread?
    var unheardWords: Int?
    var falseStops: Int
    var seconds: Double

    init(of calls: [CallResult]) {
        let results = calls.flatMap(\.lines)
        lines = results.count
        let questions = results.filter { $0.answerExpected == true }
        asked = questions.count
        answered = questions.count(where: \.answered)
        cutIn = results.count { $0.cutInAtMs != nil }
        let compared = results.filter { $0.wordErrors != nil }
        words = compared.reduce(0) { $0 + $1.words }
        wordErrors = compared.isEmpty ? nil : compared.reduce(0) { $0 + ($1.wordErrors ?? 0) }
        responseMs = Spread(results.compactMap(\.responseMs))
        talkOverMs = calls.map { $0.lines.reduce(0) { $0 + $1.talkOverMs } }.max() ?? 0
        stopMs = Spread(results.filter { $0.isFalseStop || $0.resumeMs == nil }.compactMap(\.stopMs))
        let unheard = results.compactMap(\.unheardWords)
        unheardWords = unheard.isEmpty ? nil : unheard.reduce(0, +)
        falseStops = results.count(where: \.isFalseStop)
        seconds = calls.reduce(0) { $0 + $1.seconds }
    }

    var wordErrorRate: Double? { wordErrors.map { words == 0 ? 0 : Double($0) / Double(words) } }

    /// The thresholds that do not hold, as sentences. Those of figures that could not be measured hold.
    func breaches(of thresholds: EvaluationThresholds) -> [String] {
        var breaches: [String] = []
        func check(_ name: String, _ value: Int?, _ limit: Int?, _ unit: String) {
            guard let value, let limit, value > limit else { return }
            breaches.append("\(name) is \(value)\(unit), above \(limit)\(unit)")
        }
        check("the median response time", responseMs?.median, thresholds.responseMsMedian, " ms")
        check("the 95th percentile of response times", responseMs?.p95, thresholds.responseMsP95, " ms")
        if let rate = wordErrorRate, let limit = thresholds.wordErrors, rate > limit {
            breaches.append(String(format: "the word error rate is %.1f %%, above %.1f %%", rate * 100, limit * 100))
        }
        check("the number of cut-ins", cutIn, thresholds.cutIn, "")
        check("talk-over in a scenario", talkOverMs, thresholds.talkOverMs, " ms")
        return breaches
    }

    /// The cells of a table, as in `EvaluationReport.heads` without the first and the last.
    var cells: [String] {
        func spread(_ spread: Spread?) -> String { spread.map { "\($0.median) / \($0.p95) / \($0.max)" } ?? "–" }
        let errors = wordErrors.map { "\($0) of \(words)" } ?? "–"
        return [
            "\(answered) of \(asked)", "\(cutIn)", errors, spread(responseMs), "\(talkOverMs)",
            stopMs.map { "\($0.median) / \($0.max)" } ?? "–",
            unheardWords.map(String.init) ?? "–", "\(falseStops)",
        ]
    }
}

/// The result of an evaluation.
struct EvaluationReport: Sendable, Codable {
    struct ScenarioReport: Sendable, Codable {
        var name: String
        var figures: EvaluationFigures
        /// Thresholds and expectations that do not hold, as sentences.
        var failures: [String]
        var calls: [CallResult]
    }

    static let heads = [
        "scenario", "answered", "cut in", "word errors", "response ms (median / p95 / max)", "talk-over ms", "stop ms (median / max)",
        "unheard words", "false stops", "result",
    ]

    var passed: Bool
    /// Of all scenarios.
    var failures: [String]
    var figures: EvaluationFigures
    var scenarios: [ScenarioReport]

    /// - Parameters:
    ///   - scenarios: in the order of the report.
    ///   - thresholds: of all scenarios together.
    init(_ scenarios: [Scenario], _ calls: [CallResult], thresholds: EvaluationThresholds) {
        self.scenarios = scenarios.map { scenario in
            let calls = calls.filter { $0.scenario == scenario.name }
            let figures = EvaluationFigures(of: calls)
            return ScenarioReport(
                name: scenario.name, figures: figures, failures: calls.flatMap(\.failures) + figures.breaches(of: scenario.thresholds),
                calls: calls)
        }
        figures = EvaluationFigures(of: calls)
        failures = self.scenarios.flatMap { scenario in scenario.failures.map { "\(scenario.name): \($0)" } }
        failures += figures.breaches(of: thresholds).map { "all scenarios: \($0)" }
        passed = failures.isEmpty
    }

    /// The table's rows; the last one is the sum.
    var rows: [[String]] {
        scenarios.map { [$0.name] + $0.figures.cells + [$0.failures.isEmpty ? "ok" : "failed"] }
            + [["all"] + figures.cells + [passed ? "ok" : "failed"]]
    }

    static func heading(of failures: [String]) -> String {
        failures.count == 1 ? "An expectation or threshold does not hold:" : "\(failures.count) expectations or thresholds do not hold:"
    }

    /// What does not hold, for people.
    var verdict: String {
        passed
            ? "All expectations and thresholds hold."
            : Self.heading(of: failures) + "\n" + failures.map { "  \($0)" }.joined(separator: "\n")
    }
}
