/// The plots of a report.
extension HTMLReport {
    private static let pointsMax = 300

    /// Latency covers the measurement, CPU the whole run, CPU against calls the time when frames were sent.
    static func plots(_ report: RunReport) -> [Plot] {
        let points = thinned(report.timeline)
        let measured = points.filter { $0.isMeasured && $0.frames > 0 }
        let ms = TextReport.ms
        var plots = [
            Plot(
                title: "Added latency over time", yUnit: "ms", xUnit: "seconds since the start", kind: .lines,
                series: [
                    Plot.Series(
                        name: "p50", points: measured.map { ($0.second, $0.p50) }, tooltips: measured.map { "\(at($0)): p50 \(ms($0.p50))" }
                    ),
                    Plot.Series(
                        name: "p99", points: measured.map { ($0.second, $0.p99) }, tooltips: measured.map { "\(at($0)): p99 \(ms($0.p99))" }
                    ),
                ]),
            Plot(
                title: "Distribution of added latency", yUnit: "frames", xUnit: "upper bound in milliseconds", kind: .bars,
                series: [
                    Plot.Series(
                        name: "frames", points: report.histogram.map { ($0.upToMilliseconds, Double($0.count)) },
                        tooltips: report.histogram.map { "up to \(ms($0.upToMilliseconds)): \($0.count) frames" })
                ], barNames: report.histogram.map { TextReport.number($0.upToMilliseconds, $0.upToMilliseconds < 10 ? 2 : 0) }),
        ]
        let own = Plot.Series(
            name: "generator", points: points.map { ($0.second, $0.ownCPU) },
            tooltips: points.map { "\(at($0)): generator \(percent($0.ownCPU))" })
        let served = points.filter { $0.serverCPU != nil }
        let server = Plot.Series(
            name: "server", points: served.map { ($0.second, $0.serverCPU ?? 0) },
            tooltips: served.map { "\(at($0)): server \(percent($0.serverCPU ?? 0))" })
        plots.append(
            Plot(
                title: "CPU over time", yUnit: "% of a core", xUnit: "seconds since the start", kind: .lines,
                series: served.isEmpty ? [own] : [server, own]))
        let talking = served.filter(\.isSending)
        if !talking.isEmpty {
            plots.append(
                Plot(
                    title: "Server CPU against calls", yUnit: "% of a core", xUnit: "calls", kind: .dots,
                    series: [
                        Plot.Series(
                            name: "server", points: talking.map { (Double($0.calls), $0.serverCPU ?? 0) },
                            tooltips: talking.map { "\($0.calls) calls: \(percent($0.serverCPU ?? 0))" })
                    ]))
        }
        return plots
    }

    private static func at(_ point: Timeline.Point) -> String { "second \(Int(point.second)), \(point.calls) calls" }
    private static func percent(_ value: Double) -> String { "\(TextReport.number(value, 1)) %" }

    /// Reduces a long run to the worst second of each interval.
    static func thinned(_ points: [Timeline.Point]) -> [Timeline.Point] {
        let size = (points.count + pointsMax - 1) / pointsMax
        guard size > 1 else { return points }
        return stride(from: 0, to: points.count, by: size).compactMap { start in
            points[start..<min(start + size, points.count)].max { $0.p99 < $1.p99 }
        }
    }
}
