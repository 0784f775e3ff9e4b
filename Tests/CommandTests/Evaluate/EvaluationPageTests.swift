import Audio
import Foundation
import Testing

@testable import patchbay

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The page of an evaluation: well-formed, self-contained, and accessible without the picture.
struct EvaluationPageTests {
    /// The elements of a document that is well-formed XML.
    private final class Elements: NSObject, XMLParserDelegate {
        var names: [String: Int] = [:]
        var headings: [String] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
        ) {
            names[name, default: 0] += 1
            if name.hasPrefix("h"), let level = name.last, level.isNumber { headings.append(name) }
        }

        init(of document: String) throws {
            super.init()
            let parser = XMLParser(data: Data(document.utf8))
            parser.delegate = self
            let isValid = parser.parse()
            try #require(isValid, "\(String(describing: parser.parserError)) in line \(parser.lineNumber)")
        }
    }

    private static func call(_ name: String, run: Int = 1) -> EvaluatedCall {
        var record = CallRecord()
        let question = CallerLine(source: .synthesized(voice: "onyx"), text: "<What> & \"why\"?")
        var stop = CallerLine(source: .synthesized(voice: "onyx"), text: "Stop.")
        stop.interruptAfterMs = 500
        record.lines = [
            CallRecord.SpokenLine(number: 1, line: question, voiced: [Span(start: 200, end: 1_000)]),
            CallRecord.SpokenLine(number: 2, line: stop, voiced: [Span(start: 2_400, end: 2_800)]),
        ]
        record.assistant = [Span(start: 800, end: 900), Span(start: 1_600, end: 2_600)]
        record.transcripts = [CallRecord.Transcript(id: "1", isCaller: false, text: "Tags: </svg>\u{1}", firstAt: 1_500)]
        record.lengthMs = 4_000
        let recording = StereoRecording(
            user: (0..<192_000).map { Int16($0 % 200 * 50) }, assistant: (0..<150_000).map { Int16($0 % 300 * 30) })
        let scenario = Scenario(name: name, steps: [.speak(question), .speak(stop)])
        return EvaluatedCall(result: CallResult(of: scenario, run: run, record), record: record, recording: recording)
    }

    @Test func marksShowWhatTheFiguresSay() {
        let call = Self.call("a")
        let marks = Waveform.marks(of: call.result, call.record)
        #expect(marks.map(\.kind) == [.cutIn, .end, .answer, .interruption, .stop, .end])
        #expect(marks.map(\.ms) == [800, 1_000, 1_600, 2_400, 2_600, 2_800])
    }

    @Test func theWaveformIsWellFormedAndDescribesItself() throws {
        let elements = try Elements(of: Waveform(Self.call("a <b>"), id: "w").svg)
        #expect(elements.names["svg"] == 1 && elements.names["desc"] == 1 && elements.names["path"] == 2)
        #expect(elements.names["title"] == 7, "of the picture and of each mark")
    }

    @Test func anEmptyCallHasAWaveform() throws {
        let scenario = Scenario(name: "empty", steps: [])
        let call = EvaluatedCall(
            result: CallResult(of: scenario, run: 1, CallRecord()), record: CallRecord(), recording: StereoRecording())
        #expect(try Elements(of: Waveform(call, id: "w").svg).names["path"] == 2)
    }

    @Test func thePageIsWellFormedAndNeedsNothingElse() throws {
        let calls = [Self.call("a & b"), Self.call("a & b", run: 2)]
        let scenario = Scenario(name: "a & b", steps: [])
        let report = EvaluationReport([scenario], calls.map(\.result), thresholds: EvaluationThresholds(cutIn: 0))
        let page = EvaluationPage(report: report, calls: calls).html
        let elements = try Elements(of: page)
        #expect(elements.headings == ["h1", "h2", "h2", "h3", "h3", "h2"])
        #expect(elements.names["svg"] == 2 && elements.names["table"] == 3 && elements.names["caption"] == 3)
        #expect(elements.names["script"] == nil && elements.names["img"] == nil && elements.names["link"] == nil)
        #expect(page.contains("prefers-color-scheme: dark") && page.contains("a &amp; b, call 2"))
        #expect(page.contains("all scenarios: the number of cut-ins is 2, above 0"))
    }

    @Test func recordingsAreNamedAfterTheirScenario() {
        #expect(Self.call("Two questions, in a row!").fileName == "two-questions-in-a-row.wav")
        #expect(Self.call("../a", run: 2).fileName == "a-2.wav")
        #expect(Self.call("…").fileName == "scenario.wav")
    }
}
