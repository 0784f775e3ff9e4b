import Foundation

/// A run's results as a dozen lines of text.
enum TextReport {
    static func lines(_ report: RunReport) -> [String] {
        let r = report
        let members =
            r.scenario.listenersPerRoom.map { "1 publisher, \($0) subscribers" } ?? "user and assistant, \(r.scenario.pattern.rawValue)"
        var lines = ["\(r.scenario.name): \(r.scenario.calls) calls (\(members)), measured for \(number(r.seconds, 1)) s", ""]
        func add(_ name: String, _ text: String) { lines.append("  " + name.padding(toLength: 15, withPad: " ", startingAt: 0) + text) }
        add(
            "joins",
            "\(r.joins.joined) of \(r.joins.asked), \(number(r.joins.perSecond, 0))/s; TCP, TLS, token, hello: p50 \(ms(r.joins.p50)), p99 \(ms(r.joins.p99))"
        )
        guard r.frames.sent > 0 else { return lines + [""] + verdict(of: r) }
        if r.calls.ended + r.calls.cut > 0 {
            add(
                "calls",
                "\(r.calls.ended) ended, \(r.calls.cut) disconnected"
                    + (r.calls.cut > 0 ? "; reconnected after p50 \(ms(r.calls.rejoinP50)), p99 \(ms(r.calls.rejoinP99))" : ""))
        }
        add(
            "frames",
            "\(r.frames.sent) sent, \(r.frames.received) received, \(r.frames.lost) lost, \(r.frames.late) out of order, \(r.frames.repeated) duplicated"
        )
        add(
            "added latency",
            "p50 \(ms(r.latency.p50)), p90 \(ms(r.latency.p90)), p99 \(ms(r.latency.p99)), p99.9 \(ms(r.latency.p999)), max \(ms(r.latency.max))"
        )
        add(
            "late frames",
            "over 40 ms \(percent(r.latency.over40)), 60 ms \(percent(r.latency.over60)), 100 ms \(percent(r.latency.over100)), 200 ms \(percent(r.latency.over200))"
        )
        add(
            "quality",
            "R \(number(r.quality.rating, 1)), MOS \(number(r.quality.meanOpinionScore, 2)) (E-model; \(number(r.quality.delay, 1)) ms mouth to ear with \(number(AssumedPlayout.jitterBuffer, 0)) ms of jitter buffer, loss \(number(r.quality.lossPercent, 2)) %)"
        )
        if let barge = r.bargeIns { add("barge-ins", "\(barge.count); assistant stopped after p50 \(ms(barge.p50)), p99 \(ms(barge.p99))") }
        if let slow = r.slowListeners {
            add(
                "slow readers",
                "\(slow.stops) pauses; \(slow.received) frames received, \(slow.lost) lost; age p50 \(ms(slow.p50)), p99 \(ms(slow.p99)), over 200 ms \(percent(slow.over200))"
            )
        }
        if let server = r.server {
            add(
                "server CPU",
                "\(number(server.cpuPercent, 1)) % of a core, \(number(server.microsecondsPerFrame, 2)) µs per delivered frame, \(number(server.millisecondsPerCallMinute, 1)) ms per call-minute"
            )
            add(
                "server memory",
                "\(number(server.megabytesAtStart, 1)) MB at the start, \(number(server.megabytesAtEnd, 1)) MB at the end, \(number(server.kilobytesPerCall, 0)) kB per call"
            )
        }
        add(
            "generator",
            "\(number(r.generator.cpuPercent, 1)) % of a core, \(number(r.generator.microsecondsPerFrame, 2)) µs per frame; late by p50 \(ms(r.generator.latenessP50)), p99 \(ms(r.generator.latenessP99)), max \(ms(r.generator.latenessMax))"
        )
        return lines + [""] + verdict(of: r)
    }

    private static func verdict(of r: RunReport) -> [String] {
        let behind =
            "GENERATOR BEHIND: it missed its own schedule (\(r.frames.withheld) frames withheld); do not trust the latencies and losses of this run"
        return (r.generator.isBehind ? [behind] : [])
            + (r.problems.isEmpty ? ["good: no losses, no errors"] : r.problems.map { "BAD: \($0)" })
    }

    static func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
    static func ms(_ value: Double) -> String { number(value, value < 10 ? 2 : 1) + " ms" }
    static func percent(_ share: Double) -> String { number(share * 100, share == 0 ? 0 : 3) + " %" }
}

/// A progress line on standard error, updated every second.
struct ProgressLine: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    /// Nil if standard error is not a terminal and progress was not requested.
    init?(isForced: Bool) {
        guard isForced || isTerminal else { return nil }
    }

    func show(_ point: Timeline.Point?, phase: RunPhase, tally: Tally, total: CallTally, scenario: Scenario) {
        guard let point else { return }
        var text =
            "\(String(describing: phase).padding(toLength: 9, withPad: " ", startingAt: 0)) \(Int(point.second)) s  \(point.calls)/\(scenario.calls) calls"
        text += "  \(point.frames) frames/s  p50 \(TextReport.ms(point.p50))  p99 \(TextReport.ms(point.p99))  lost \(tally.lost)"
        if let cpu = point.serverCPU { text += "  server \(TextReport.number(cpu, 0)) %" }
        text += "  self \(TextReport.number(point.ownCPU, 0)) %"
        if scenario.meanCallSeconds != nil { text += "  \(total.callsEnded) calls ended" }
        write(isTerminal ? "\r\u{1B}[K" + text : text + "\n")
    }

    func clear() {
        if isTerminal { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
