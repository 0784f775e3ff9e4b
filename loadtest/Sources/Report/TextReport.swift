import Foundation

/// A run's findings for people, in a dozen lines.
enum TextReport {
    static func lines(_ report: RunReport) -> [String] {
        let r = report
        let members = r.scenario.listenersPerRoom.map { "1 speaks, \($0) listen" } ?? "user and assistant, \(r.scenario.pattern.rawValue)"
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
                "\(r.calls.ended) ended, \(r.calls.cut) cut"
                    + (r.calls.cut > 0 ? "; talking again after p50 \(ms(r.calls.rejoinP50)), p99 \(ms(r.calls.rejoinP99))" : ""))
        }
        add(
            "frames",
            "\(r.frames.sent) sent, \(r.frames.received) received, \(r.frames.lost) lost, \(r.frames.late) out of order, \(r.frames.repeated) twice"
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
        if let barge = r.bargeIns { add("barge-ins", "\(barge.count); assistant silent after p50 \(ms(barge.p50)), p99 \(ms(barge.p99))") }
        if let slow = r.slowListeners {
            add(
                "slow listeners",
                "\(slow.stops) stops; they heard \(slow.received) frames and lost \(slow.lost); age p50 \(ms(slow.p50)), p99 \(ms(slow.p99)), over 200 ms \(percent(slow.over200))"
            )
        }
        if let server = r.server {
            add(
                "server CPU",
                "\(number(server.cpuPercent, 1)) % of a core, \(number(server.microsecondsPerFrame, 2)) µs a delivered frame, \(number(server.millisecondsPerCallMinute, 1)) ms a call-minute"
            )
            add(
                "server memory",
                "\(number(server.megabytesAtStart, 1)) MB before, \(number(server.megabytesAtEnd, 1)) MB at the end, \(number(server.kilobytesPerCall, 0)) kB a call"
            )
        }
        add(
            "generator",
            "\(number(r.generator.cpuPercent, 1)) % of a core, \(number(r.generator.microsecondsPerFrame, 2)) µs a frame; late by p50 \(ms(r.generator.latenessP50)), p99 \(ms(r.generator.latenessP99)), max \(ms(r.generator.latenessMax))"
        )
        return lines + [""] + verdict(of: r)
    }

    private static func verdict(of r: RunReport) -> [String] {
        let behind =
            "GENERATOR BEHIND: it missed its own schedule (\(r.frames.withheld) frames withheld); do not trust the latencies and losses of this run"
        return (r.generator.isBehind ? [behind] : [])
            + (r.problems.isEmpty ? ["good: nothing lost, nothing refused"] : r.problems.map { "BAD: \($0)" })
    }

    static func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
    static func ms(_ value: Double) -> String { number(value, value < 10 ? 2 : 1) + " ms" }
    static func percent(_ share: Double) -> String { number(share * 100, share == 0 ? 0 : 3) + " %" }
}
