import Foundation

/// One line on standard error that is written over each second.
struct ProgressLine: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    /// Nil where nobody would look at it.
    init?(isWanted: Bool) {
        guard isWanted || isTerminal else { return nil }
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
