import Foundation

/// A self-contained HTML page with SVG plots; the results are embedded as JSON too.
enum HTMLReport {
    static func page(_ report: RunReport) -> String {
        let verdict =
            report.problems.isEmpty
            ? "<p class=\"verdict good\">✓ no losses, no errors</p>"
            : report.problems.map { "<p class=\"verdict bad\">✗ \(Plot.escape($0))</p>" }.joined(separator: "\n")
        let behind =
            report.generator.isBehind
            ? "<p class=\"verdict warn\">⚠ GENERATOR BEHIND: it missed its own schedule; do not trust the latencies and losses of this run</p>"
            : ""
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(Plot.escape(report.scenario.name)) – patchbay-loadtest</title>
            <style>
            \(HTMLStyle.text)
            </style>
            </head>
            <body>
            <h1>\(Plot.escape(report.scenario.name))</h1>
            <p class="sub">\(Plot.escape(TextReport.lines(report)[0]))</p>
            \(verdict)
            \(behind)
            <section class="tiles">
            \(tiles(report).map { "<div class=\"tile\"><b>\(Plot.escape($0.value))</b><span>\(Plot.escape($0.name))</span></div>" }.joined(separator: "\n"))
            </section>
            <section class="plots">
            \(plots(report).map(figure).joined(separator: "\n"))
            </section>
            <details><summary>All results</summary>
            <pre>\(Plot.escape(TextReport.lines(report).joined(separator: "\n")))</pre>
            </details>
            <script type="application/json" id="report">\(json(report))</script>
            </body>
            </html>

            """
    }

    private static func tiles(_ report: RunReport) -> [(name: String, value: String)] {
        var tiles = [
            ("calls", "\(report.scenario.calls)"),
            ("p50 added latency", TextReport.ms(report.latency.p50)),
            ("p99 added latency", TextReport.ms(report.latency.p99)),
            ("p99.9 added latency", TextReport.ms(report.latency.p999)),
            ("frames lost of \(report.frames.expected)", "\(report.frames.lost)"),
            ("MOS (E-model)", TextReport.number(report.quality.meanOpinionScore, 2)),
            ("p99 to join", TextReport.ms(report.joins.p99)),
        ]
        if let server = report.server {
            tiles.append(("server CPU per frame", TextReport.number(server.microsecondsPerFrame, 1) + " µs"))
            tiles.append(("server memory at the end", TextReport.number(server.megabytesAtEnd, 0) + " MB"))
        }
        return tiles
    }

    private static func figure(_ plot: Plot) -> String {
        let legend =
            plot.series.count < 2
            ? "" : plot.series.enumerated().map { "<span class=\"key s\($0 + 1)\">\(Plot.escape($1.name))</span>" }.joined()
        return """
            <figure>
            <figcaption>\(Plot.escape(plot.title)) <small>\(Plot.escape(plot.yUnit))</small>\(legend)</figcaption>
            \(plot.svg)
            </figure>
            """
    }

    /// JSON that is safe inside a script element.
    private static func json(_ report: RunReport) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let data = try? encoder.encode(report) else { return "{}" }
        return String(decoding: data, as: UTF8.self).replacing("<", with: "\\u003c")
    }
}
