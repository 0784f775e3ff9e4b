import Foundation

/// Runs the attempts that `CapacitySearch` requests.
struct CapacityRun {
    /// A gateway is full if the p99 of the added latency exceeds this, in milliseconds.
    static let latencyMax = 20.0

    let first: Scenario
    let measure: (Scenario) throws -> RunReport
    let isJSON: Bool

    func run() throws -> CapacityReport {
        var search = CapacitySearch(from: first.calls)
        var attempts: [CapacityReport.Attempt] = []
        var last: RunReport?
        while case .attempt(let calls) = search.step, !Interruption.isRequested {
            var scenario = first
            scenario.calls = calls
            let report = try measure(scenario)
            if Interruption.isRequested { break }
            let verdict = Self.judge(report)
            attempts.append(CapacityReport.Attempt(report, verdict))
            if !isJSON, let line = attempts.last?.line {
                print(line)
                fflush(nil)
            }
            if verdict == .good { last = report }
            search.record(verdict)
        }
        guard case .over(let outcome) = search.step else { throw UsageError("interrupted before the capacity was found") }
        return CapacityReport(outcome, attempts, last: last)
    }

    static func judge(_ report: RunReport) -> CapacitySearch.Verdict {
        let isFast = report.latency.p99 <= latencyMax
        // A late generator makes a gateway look worse, never better: a good result is valid if all frames were sent.
        if report.problems.isEmpty, isFast, !report.withheldTooMuch { return .good }
        if report.generator.isBehind, report.joins.failed == 0 { return .generatorBehind }
        return .bad(report.problems.first ?? "p99 was \(TextReport.ms(report.latency.p99))")
    }
}

/// The result of a capacity search.
struct CapacityReport {
    struct Attempt: Codable {
        var calls: Int
        var verdict: String
        var p50: Double
        var p99: Double
        var lost: Int
        var serverCPU: Double?
        var generatorCPU: Double

        init(_ report: RunReport, _ verdict: CapacitySearch.Verdict) {
            calls = report.scenario.calls
            self.verdict =
                switch verdict {
                case .good: "good"
                case .bad(let reason): "bad: \(reason)"
                case .generatorBehind: "generator behind"
                }
            p50 = report.latency.p50
            p99 = report.latency.p99
            lost = report.frames.lost
            serverCPU = report.server?.cpuPercent
            generatorCPU = report.generator.cpuPercent
        }

        var line: String {
            let server = serverCPU.map { ", server \(TextReport.number($0, 0)) %" } ?? ""
            return
                "  \(calls) calls: p50 \(TextReport.ms(p50)), p99 \(TextReport.ms(p99)), lost \(lost)\(server), generator \(TextReport.number(generatorCPU, 0)) %: \(verdict)"
        }
    }

    struct Summary: Codable {
        var calls: Int?
        var limit: String?
        var generatorWasTheLimit: Bool
        var attempts: [Attempt]
    }

    var summary: Summary
    /// The last successful attempt.
    var last: RunReport?

    init(_ outcome: CapacitySearch.Outcome, _ attempts: [Attempt], last: RunReport?) {
        summary = Summary(calls: outcome.calls, limit: outcome.limit, generatorWasTheLimit: outcome.wasGenerator, attempts: attempts)
        self.last = last
    }

    var lines: [String] {
        let found = summary.calls.map { "\(summary.generatorWasTheLimit ? "at least " : "")\($0) calls" } ?? "no calls"
        let limit = summary.limit.map { "; \($0)" } ?? ""
        return ["capacity: \(found)\(limit)"]
            + (summary.generatorWasTheLimit ? ["the gateway may have more capacity: the generator was the bottleneck"] : [])
    }
}
