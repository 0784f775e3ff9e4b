/// The HTML page of an evaluation: self-contained, without scripts, and well-formed XML.
struct EvaluationPage {
    let report: EvaluationReport
    let calls: [EvaluatedCall]

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en" xmlns="http://www.w3.org/1999/xhtml">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <title>Assistant evaluation – Patchbay</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        <main>
        <h1>Assistant evaluation</h1>
        \(verdict(report.failures, good: "All expectations and thresholds hold."))
        <h2>Summary</h2>
        \(summary)
        <h2>Scenarios</h2>
        \(legend)
        \(calls.enumerated().map(section).joined(separator: "\n"))
        <h2>Figures</h2>
        <dl>
        \(Self.meanings.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" }.joined(separator: "\n"))
        </dl>
        </main>
        </body>
        </html>

        """
    }

    // MARK: Parts

    private func verdict(_ failures: [String], good: String) -> String {
        guard !failures.isEmpty else { return "<p class=\"verdict good\">✓ \(good)</p>" }
        let items = failures.map { "<li>\(Markup.escaped($0))</li>" }.joined()
        return "<div class=\"verdict bad\"><p>✗ \(EvaluationReport.heading(of: failures))</p><ul>\(items)</ul></div>"
    }

    private var summary: String {
        let rows = report.rows.map { row in
            let isBad = row.last == "failed"
            return "<tr\(isBad ? " class=\"bad\"" : "")><th scope=\"row\">\(Markup.escaped(row[0]))</th>"
                + row.dropFirst().map { "<td>\(Markup.escaped($0))</td>" }.joined() + "</tr>"
        }
        return table("Figures by scenario", EvaluationReport.heads, rows, kind: "figures")
    }

    private func table(_ caption: String, _ heads: [String], _ rows: [String], kind: String) -> String {
        """
        <div class="scroll" role="region" tabindex="0" aria-label="\(Markup.escaped(caption))">
        <table class="\(kind)"><caption>\(Markup.escaped(caption))</caption>
        <thead><tr>\(heads.map { "<th scope=\"col\">\(Markup.escaped($0))</th>" }.joined())</tr></thead>
        <tbody>
        \(rows.joined(separator: "\n"))
        </tbody></table></div>
        """
    }

    private func section(_ index: Int, _ call: EvaluatedCall) -> String {
        let result = call.result
        let hasSiblings = calls.contains { $0.result.scenario == result.scenario && $0.result.run != result.run }
        let name = result.scenario + (hasSiblings ? ", call \(result.run)" : "")
        let rows = result.lines.map { line in
            let cells = [
                line.understood, line.answer, line.responseMs.map { "\($0) ms" } ?? "–", Self.remarks(of: line).joined(separator: "; "),
            ]
            return
                "<tr\(line.failures.isEmpty ? "" : " class=\"bad\"")><th scope=\"row\">\(Markup.escaped("\(line.step). \(line.line)"))</th>"
                + cells.map { "<td>\(Markup.escaped($0))</td>" }.joined() + "</tr>"
        }
        return """
            <section aria-labelledby="call-\(index)">
            <h3 id="call-\(index)">\(Markup.escaped(name))</h3>
            \(result.failures.isEmpty ? "" : verdict(result.failures, good: ""))
            <div class="scroll picture" role="region" tabindex="0" aria-label="\(Markup.escaped("Waveforms of \(name)"))">
            \(Waveform(call, id: "wave-\(index)").svg)
            </div>
            \(table("Transcript of \(name)", ["caller", "understood as", "assistant", "response", "remarks"], rows, kind: "lines"))
            </section>
            """
    }

    private static func remarks(of line: LineResult) -> [String] {
        var remarks: [String] = []
        if line.cutInAtMs != nil { remarks.append("cut in") }
        if let errors = line.wordErrors, errors > 0 { remarks.append("\(errors) of \(line.words) words wrong") }
        if let stop = line.stopMs {
            let resumed = line.resumeMs.map { ", went on \($0) ms later" } ?? ""
            remarks.append("stopped after \(stop) ms\(resumed)")
        }
        if let unheard = line.unheardWords, unheard > 0 { remarks.append("\(unheard) unheard words") }
        if line.talkOverMs > 0 { remarks.append("\(line.talkOverMs) ms of talk-over") }
        return remarks + line.failures
    }

    private var legend: String {
        let keys = [
            ("end", "caller has finished"), ("answer", "first answer"), ("interruption", "interruption"), ("stop", "assistant silent"),
            ("cut-in", "cut-in"),
        ]
        return "<ul class=\"legend\">" + keys.map { "<li><span class=\"key \($0)\"></span>\($1)</li>" }.joined() + "</ul>"
    }

    private static let meanings = [
        ("answered", "lines that expect an answer, and those that got one"),
        ("cut in", "lines during which the assistant began to speak before the caller had finished"),
        ("word errors", "substituted, inserted and missing words of the transcript of the caller"),
        ("response", "from the last voiced sample of the caller to the first audible sample of the assistant, as the caller hears it"),
        ("talk-over", "both speak at once while the caller has something to say; in the call with most of it"),
        ("stop", "from the first sound of an interruption to the last sound of the assistant"),
        ("unheard words", "words of an interrupted answer that its transcript keeps although less than half of them was played"),
        ("false stops", "lines that should not stop the assistant, such as “mm-hm”, after which it stopped or resumed too late"),
    ]

    private static let style = """
        :root { color-scheme: light dark; --page: #ffffff; --ink: #1c2330; --soft: #5b6576; --edge: #d5dae3; --panel: #f6f7fa;
          --caller: #2f62d9; --assistant: #0b7a6b; --bad: #b3261e; --badpanel: #fdecea; --good: #146c2e; --goodpanel: #e8f5ec; --stop: #8a5a00; }
        @media (prefers-color-scheme: dark) {
          :root { --page: #12151b; --ink: #e6e9ef; --soft: #a3adbd; --edge: #333b49; --panel: #1a1f28;
            --caller: #8fb0ff; --assistant: #5fd3c0; --bad: #ff9d94; --badpanel: #3a1a18; --good: #7fd69a; --goodpanel: #15301e; --stop: #f0bf60; }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
        main { max-width: 76rem; margin: 0 auto; padding: 1.25rem 1rem 4rem; }
        h1 { font-size: 1.7rem; margin: 0.5rem 0 1rem; }
        h2 { font-size: 1.3rem; margin: 2.25rem 0 0.75rem; }
        h3 { font-size: 1.1rem; margin: 0 0 0.75rem; }
        section { border: 1px solid var(--edge); border-radius: 10px; padding: 1rem; margin: 0 0 1.25rem; }
        .verdict { padding: 0.6rem 1rem; border-radius: 8px; margin: 0 0 1rem; }
        .verdict p { margin: 0; } .verdict ul { margin: 0.25rem 0 0; padding-left: 1.25rem; }
        .verdict.good { background: var(--goodpanel); color: var(--good); }
        .verdict.bad { background: var(--badpanel); color: var(--bad); }
        .scroll { overflow-x: auto; max-width: 100%; border-radius: 6px; }
        .scroll:focus-visible { outline: 2px solid var(--caller); outline-offset: 2px; }
        .picture { background: var(--panel); margin-bottom: 0.75rem; }
        table { border-collapse: collapse; width: 100%; font-size: 0.92rem; }
        caption { text-align: left; color: var(--soft); padding: 0.25rem 0; }
        th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.6rem; border-bottom: 1px solid var(--edge); }
        thead th { color: var(--soft); font-weight: 600; }
        tbody th { font-weight: 600; }
        tbody tr:last-child > * { border-bottom: 0; }
        .figures td { white-space: nowrap; font-variant-numeric: tabular-nums; }
        .lines th, .lines td { min-width: 7rem; }
        tr.bad td:last-child { color: var(--bad); font-weight: 600; }
        svg { display: block; }
        svg text { font: 13px system-ui, sans-serif; fill: var(--soft); }
        svg .lane { font-weight: 600; } svg .span { fill: var(--ink); }
        svg .tick { stroke: var(--edge); stroke-width: 1; }
        svg .caller { fill: var(--caller); } svg .assistant { fill: var(--assistant); }
        svg .response { stroke: var(--ink); stroke-width: 2; }
        svg g line { stroke-width: 2; }
        svg .end line { stroke: var(--caller); stroke-dasharray: 4 3; } svg .answer line { stroke: var(--assistant); }
        svg .interruption line { stroke: var(--ink); stroke-dasharray: 2 4; } svg .stop line { stroke: var(--stop); }
        svg .cut-in line { stroke: var(--bad); stroke-width: 3; }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; padding: 0; margin: 0 0 1rem; color: var(--soft); }
        .key { display: inline-block; height: 1em; margin-right: 0.5em; vertical-align: -0.15em; border-left: 3px solid var(--ink); }
        .key.end { border-left: 3px dashed var(--caller); } .key.answer { border-color: var(--assistant); }
        .key.interruption { border-left-style: dotted; } .key.stop { border-color: var(--stop); } .key.cut-in { border-color: var(--bad); }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1.25rem; }
        dt { font-weight: 600; } dd { margin: 0; }
        @media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.5rem; } section { padding: 0.75rem; } }
        """
}
