import Foundation
import Testing

@testable import patchbay_loadtest

struct ReportTests {
    private func report() -> RunReport {
        var scenario = Scenario()
        scenario.name = "a <bold> name"
        return RunReport(
            scenario: scenario, seconds: 10, joins: RunReport.Joins(asked: 100, joined: 100, failed: 0, perSecond: 99, p50: 4, p99: 8),
            calls: RunReport.Calls(ended: 0, cut: 0, connectionsDied: 0, errorReplies: 0, rejoinP50: 0, rejoinP99: 0),
            frames: RunReport.Frames(
                sent: 50_000, expected: 50_000, received: 49_997, lost: 3, late: 0, repeated: 0, corrupt: 0, flagged: 1, withheld: 0),
            latency: RunReport.Latency(
                p50: 0.25, p90: 0.5, p99: 1.75, p999: 3, max: 9, over40: 0, over60: 0, over100: 0, over200: 0),
            quality: RunReport.Quality(rating: 93.2, meanOpinionScore: 4.41, delay: 66.8, lossPercent: 0),
            server: RunReport.Server(
                cpuPercent: 30, microsecondsPerFrame: 17.25, millisecondsPerCallMinute: 120, megabytesAtStart: 33, megabytesAtEnd: 44,
                kilobytesPerCall: 70),
            generator: RunReport.Generator(
                cpuPercent: 20, microsecondsPerFrame: 9, latenessP50: 0.5, latenessP99: 1, latenessMax: 2, isBehind: true),
            bargeIns: nil, slowListeners: nil, problems: ["3 of 50000 frames were lost"],
            timeline: (1...5).map {
                Timeline.Point(
                    second: Double($0), calls: 50, isSending: true, isMeasured: true, p50: 0.2, p99: 1.234, frames: 5_000, lost: 0,
                    serverCPU: 31.5,
                    ownCPU: 20, serverMemory: 40)
            }, histogram: [RunReport.Bucket(upToMilliseconds: 0.2, count: 40_001), RunReport.Bucket(upToMilliseconds: 0.4, count: 9_996)])
    }

    @Test func htmlReportsAreSelfContained() throws {
        let page = HTMLReport.page(report())
        for words in ["p99 1.23 ms", "40001 frames", "server 31.5 %", "3 of 50000 frames were lost", "GENERATOR BEHIND", "17.2 µs"] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(page.components(separatedBy: "<svg").count == 5)
        #expect(!page.contains("http"))
        #expect(!page.contains("<bold>"))
    }

    @Test func pageContainsTheReportAsJSON() throws {
        let page = HTMLReport.page(report())
        let start = try #require(page.range(of: #"id="report">"#))
        let end = try #require(page.range(of: "</script>"))
        let decoded = try JSONDecoder().decode(RunReport.self, from: Data(page[start.upperBound..<end.lowerBound].utf8))
        #expect(decoded.frames.lost == 3)
        #expect(decoded.timeline.count == 5)
        #expect(decoded.scenario.name == "a <bold> name")
    }

    @Test func textWarnsOfASlowGenerator() {
        let text = TextReport.lines(report()).joined(separator: "\n")
        #expect(text.contains("GENERATOR BEHIND"))
        #expect(text.contains("BAD: 3 of 50000 frames were lost"))
    }

    @Test func slowGeneratorsInvalidateTheResult() {
        var report = report()
        #expect(CapacityRun.judge(report) == .generatorBehind)
        var good = report
        good.problems = []
        #expect(CapacityRun.judge(good) == .good)
        good.frames.withheld = 1_000
        #expect(CapacityRun.judge(good) == .generatorBehind)
        report.generator.isBehind = false
        #expect(CapacityRun.judge(report) == .bad("3 of 50000 frames were lost"))
        report.problems = []
        #expect(CapacityRun.judge(report) == .good)
        report.latency.p99 = 20.5
        #expect(CapacityRun.judge(report) == .bad("p99 was 20.5 ms"))
    }

    @Test func longTimelinesKeepTheWorstSeconds() {
        var points = [Timeline.Point](repeating: report().timeline[0], count: 3_000)
        points[1_234].p99 = 99
        let thinned = HTMLReport.thinned(points)
        #expect(thinned.count == 300)
        #expect(thinned.contains { $0.p99 == 99 })
    }

    @Test func latenciesReportPercentilesAndShares() {
        var times = Latencies()
        for milliseconds in 1...100 as ClosedRange<UInt64> { times.record(nanoseconds: milliseconds * 1_000_000) }
        #expect(abs(times.percentile(50) - 50) < 0.1)
        #expect(abs(times.share(overMilliseconds: 60) - 0.4) < 0.011)
        #expect(times.maxMilliseconds == 100)
        #expect(times.buckets().reduce(0) { $0 + $1.count } == 100)
    }

    @Test func marksAreRoundAndCoverAllValues() {
        let scale = PlotScale(to: 87.3)
        #expect(scale.marks == [0, 20, 40, 60, 80, 100])
        #expect(scale.share(50) == 0.5)
    }
}
