import Foundation

/// Both sides of a call as SVG: the caller above, the assistant below, on one time axis, with marks.
struct Waveform {
    /// Pixels.
    private static let pixelsPerSecond = 80.0
    private static let widthMin = 1_080.0
    private static let height = 236
    private static let bin = 2
    private static let halfLane = 46.0
    private static let callerY = 54.0
    private static let assistantY = 158.0
    private static let axisY = 212

    /// A point in time that the picture shows.
    struct Mark: Hashable {
        enum Kind: String { case end, answer, interruption, stop, cutIn = "cut-in" }

        var kind: Kind
        var ms: Int
        var text: String
    }

    private let call: EvaluatedCall
    private let id: String
    private let width: Double
    private let scale: Double

    /// - Parameter id: unique on the page.
    init(_ call: EvaluatedCall, id: String) {
        self.call = call
        self.id = id
        let seconds = Double(call.record.lengthMs) / 1_000
        width = max(Self.widthMin, (seconds * Self.pixelsPerSecond).rounded(.up))
        scale = seconds > 0 ? width / (seconds * 1_000) : 1
    }

    /// The marks of a call, in order of time.
    static func marks(of result: CallResult, _ record: CallRecord) -> [Mark] {
        var marks: [Mark] = []
        for line in result.lines where line.endMs > 0 {
            let interrupts = record.lines.first { $0.number == line.step }?.line.interruptAfterMs != nil
            if interrupts {
                marks.append(Mark(kind: .interruption, ms: line.startMs, text: "step \(line.step) begins while the assistant speaks"))
            }
            if let stop = line.stopMs {
                marks.append(Mark(kind: .stop, ms: line.startMs + stop, text: "the assistant is silent \(stop) ms after the interruption"))
            }
            if let cutIn = line.cutInAtMs {
                marks.append(
                    Mark(kind: .cutIn, ms: cutIn, text: "the assistant begins \(line.endMs - cutIn) ms before the caller has finished"))
            }
            marks.append(Mark(kind: .end, ms: line.endMs, text: "the caller has finished step \(line.step)"))
            if let response = line.responseMs {
                marks.append(Mark(kind: .answer, ms: line.endMs + response, text: "the answer begins after \(response) ms"))
            }
        }
        return marks.sorted { $0.ms < $1.ms }
    }

    var svg: String {
        let marks = Self.marks(of: call.result, call.record)
        let description = marks.map { "\(Self.seconds($0.ms)) s: \($0.text)" }.joined(separator: "; ")
        return """
            <svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="\(id)-title \(id)-text" width="\(Int(width))" \
            height="\(Self.height)" viewBox="0 0 \(Int(width)) \(Self.height)">
            <title id="\(id)-title">Waveforms of \(Markup.escaped(call.result.scenario))</title>
            <desc id="\(id)-text">\(Markup.escaped(description))</desc>
            \(axis)
            <path class="caller" d="\(path(call.recording.user, at: Self.callerY))"/>
            <path class="assistant" d="\(path(call.recording.assistant, at: Self.assistantY))"/>
            <text class="lane" x="6" y="14">Caller</text>
            <text class="lane" x="6" y="118">Assistant</text>
            \((responses + marks.map(picture)).joined(separator: "\n"))
            </svg>
            """
    }

    private var axis: String {
        let seconds = call.record.lengthMs / 1_000
        let step = seconds > 40 ? 5 : seconds > 14 ? 2 : 1
        let ticks = stride(from: 0, through: seconds, by: step).map { second in
            let x = Self.number(Double(second * 1_000) * scale)
            let anchor = second == 0 ? "start" : "middle"
            return "<line class=\"tick\" x1=\"\(x)\" x2=\"\(x)\" y1=\"4\" y2=\"\(Self.axisY)\"/>"
                + "<text class=\"time\" text-anchor=\"\(anchor)\" x=\"\(x)\" y=\"\(Self.axisY + 16)\">\(second) s</text>"
        }
        return ticks.joined(separator: "\n")
    }

    /// The envelope of a side. The square root makes soft speech visible.
    private func path(_ samples: [Int16], at y: Double) -> String {
        let samplesPerBin = max(Double(Self.bin) / scale * 48, 1)
        let bins = Int(Double(samples.count) / samplesPerBin)
        let heights = (0..<bins).map { bin in
            let range = Int(Double(bin) * samplesPerBin)..<min(Int(Double(bin + 1) * samplesPerBin), samples.count)
            let peak = samples[range].reduce(0) { max($0, abs(Int($1))) }
            return max((Double(peak) / 32_768).squareRoot() * Self.halfLane, 0.4)
        }
        let upper = heights.enumerated().map { "\($0 * Self.bin) \(Self.number(y - $1))" }
        let lower = heights.enumerated().reversed().map { "\($0 * Self.bin) \(Self.number(y + $1))" }
        return heights.isEmpty ? "M0 \(Self.number(y))" : "M" + (upper + lower).joined(separator: "L") + "Z"
    }

    /// The time between question and answer, between the sides.
    private var responses: [String] {
        call.result.lines.compactMap { line in
            guard let response = line.responseMs else { return nil }
            let (start, end) = (Double(line.endMs) * scale, Double(line.endMs + response) * scale)
            return "<line class=\"response\" x1=\"\(Self.number(start))\" x2=\"\(Self.number(end))\" y1=\"106\" y2=\"106\"/>"
                + "<text class=\"span\" x=\"\(Self.number(end + 5))\" y=\"110\">\(response) ms</text>"
        }
    }

    private func picture(_ mark: Mark) -> String {
        let x = Self.number(Double(mark.ms) * scale)
        let (top, bottom) =
            switch mark.kind {
            case .end: (8, 106)
            case .answer, .stop: (106, 206)
            case .interruption, .cutIn: (4, 206)
            }
        return "<g class=\"\(mark.kind.rawValue)\"><title>\(Markup.escaped("\(Self.seconds(mark.ms)) s: \(mark.text)"))</title>"
            + "<line x1=\"\(x)\" x2=\"\(x)\" y1=\"\(top)\" y2=\"\(bottom)\"/></g>"
    }

    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }
    private static func seconds(_ ms: Int) -> String { String(format: "%.2f", Double(ms) / 1_000) }
}

/// Text in HTML and SVG.
enum Markup {
    /// Without the control characters that XML forbids.
    static func escaped(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 32 || $0 == "\n" || $0 == "\t" }))
            .replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}
