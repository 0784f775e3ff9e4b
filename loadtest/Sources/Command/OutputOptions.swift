import ArgumentParser
import Foundation

/// Options for the output, and the bounds that decide on success.
struct OutputOptions: ParsableArguments {
    @Option(help: "The gateway's process id, if it runs on this machine, to report its CPU and memory.")
    var serverPid: Int32?
    @Flag(help: "Increase the number of calls from --calls on until frames are lost or p99 exceeds 20 ms.")
    var findCapacity = false
    @Option(name: .customLong("max-p99-ms"), help: "Fail if the 99th percentile of the added latency exceeds this.")
    var maxP99: Double?
    @Option(help: "Tolerate this many lost frames.")
    var maxLost: Int = 0
    @Flag(help: "Print the results as JSON on standard output.")
    var json = false
    @Option(help: "Write a self-contained HTML report with plots to this file.")
    var html: String?
    @Flag(help: "Print progress on standard error every second, also if it is not a terminal.")
    var progress = false
    @Option(help: "The audio of the calls: a WAV or Ogg Opus file.")
    var speech = "demo/ps-goforward.wav"

    func check(_ scenario: Scenario) throws(UsageError) {
        if let serverPid, ProcessSample(pid: serverPid) == nil { throw UsageError("--server-pid \(serverPid): no such process") }
        if findCapacity, scenario.meanCallSeconds != nil || scenario.reconnectStorm != nil || scenario.slowListeners != nil {
            throw UsageError("--find-capacity requires permanent calls: remove churn, storms and slow subscribers from the scenario")
        }
        if maxLost < 0 { throw UsageError("--max-lost must not be negative") }
    }

    /// Prints the report and writes the HTML file.
    ///
    /// - Throws: exit code 1 if a bound was exceeded.
    func finish(_ report: RunReport) throws {
        var report = report
        if report.frames.lost <= maxLost { report.problems.removeAll { $0.hasSuffix("frames were lost") } }
        if let maxP99, report.latency.p99 > maxP99 {
            report.problems.append("p99 is \(TextReport.ms(report.latency.p99)), above \(TextReport.ms(maxP99))")
        }
        if let html { try write(HTMLReport.page(report), to: html) }
        print(json ? try encoded(report) : TextReport.lines(report).joined(separator: "\n"))
        if !report.problems.isEmpty { throw ExitCode(1) }
    }

    func finish(_ capacity: CapacityReport) throws {
        if let html, let last = capacity.last { try write(HTMLReport.page(last), to: html) }
        print(json ? try encoded(capacity.summary) : capacity.lines.joined(separator: "\n"))
        if capacity.summary.calls == nil { throw ExitCode(1) }
    }

    private func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func write(_ page: String, to path: String) throws {
        do {
            try page.write(toFile: path, atomically: true, encoding: .utf8)
        } catch {
            throw UsageError("--html \(path): cannot write the file; check the path and its permissions")
        }
    }
}
