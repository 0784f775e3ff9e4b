import Foundation
import Testing
import Wire

@testable import Store

@Suite("Export")
struct ExportTests {
    private static func export(_ turns: [Turn], language: String? = nil, withSummary: Bool = true) -> Export {
        var session = Dialogues.session(of: turns)
        session.language = language
        let content = SummaryContent(title: "A title", summaryText: "It was said.", actionItems: ["Call Anna"], tags: ["anna"])
        let summary = Summary(id: SummaryID(), sessionID: session.id, content: content, createdAt: Dialogues.start)
        return Export(session: session, summary: withSummary ? summary : nil, turns: turns)
    }

    private static func text(_ format: ExportFormat, of turns: [Turn], language: String? = nil) async throws -> String {
        String(decoding: try await export(turns, language: language).file(as: format).bytes, as: UTF8.self)
    }

    @Test("contains title, summary, tasks and every turn in plain text")
    func plain() async throws {
        let text = try await Self.text(.txt, of: Dialogues.turns(of: "user: Hello.\nassistant: Good day."))
        #expect(text.hasPrefix("A title\n"))
        #expect(text.contains("It was said.") && text.contains("- Call Anna"))
        #expect(text.contains("[0:00] You: Hello.\n[0:05] Assistant: Good day.\n"))
    }

    @Test("has headings in the session's language")
    func german() async throws {
        let text = try await Self.text(.txt, of: Dialogues.turns(of: "user: Hallo."), language: "de-AT")
        #expect(text.contains("Zusammenfassung") && text.contains("Du: Hallo."))
    }

    @Test("shows date, time and file name in the user's time zone")
    func timeZone() async throws {
        var session = Dialogues.session(of: [])
        session.language = "en-GB"
        // 21 November 2026, 23:30 UTC.
        session.startedAt = WallTime(milliseconds: 1_795_303_800_000)
        session.endedAt = session.startedAt + .seconds(300)
        for (zone, date, time, day) in [
            (nil, "21 November 2026", "23:30 · 5 min", "2026-11-21"), ("Europe/Zurich", "22 November 2026", "0:30 · 5 min", "2026-11-22"),
            ("America/Los_Angeles", "21 November 2026", "15:30 · 5 min", "2026-11-21"),
        ] as [(String?, String, String, String)] {
            let export = Export(session: session, summary: nil, turns: [], timeZone: zone.flatMap(TimeZone.init(iana:)) ?? .gmt)
            let text = String(decoding: try await export.file(as: .txt).bytes, as: UTF8.self)
            #expect(text.contains(date) && text.contains(time), "\(text)")
            #expect(export.fileName(as: .txt).hasPrefix("session-\(day)-"))
        }
    }

    @Test("uses the API's names in JSON, and null without a summary")
    func json() async throws {
        let bytes = try await Self.export(Dialogues.turns(of: "user: \"Hi\"\u{1}"), withSummary: false).file(as: .json).bytes
        let record = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(record["summary"] is NSNull)
        let session = try #require(record["session"] as? [String: Any])
        #expect(Set(session.keys) == ["id", "context", "started_at", "ended_at", "summary_status"])
        let turns = try #require(record["turns"] as? [[String: Any]])
        #expect(turns.first?["text"] as? String == "\"Hi\"\u{1}")
        #expect(turns.first?["timestamp"] as? String == Dialogues.start.description)
    }

    @Test("escapes markup and arrows in WebVTT")
    func webVTT() async throws {
        let text = try await Self.text(.vtt, of: Dialogues.turns(of: "user: <b>A & B</b> --> C\nassistant: Yes."))
        #expect(text.hasPrefix("WEBVTT - A title\n\n"))
        #expect(text.contains("<v You>&lt;b&gt;A &amp; B&lt;/b&gt; --&gt; C</v>\n"))
        #expect(text.contains("00:00:05.000 --> 00:00:06.000\n<v Assistant>Yes.</v>\n"))
    }

    @Test("numbers the cues of SubRip and writes decimal commas")
    func subRip() async throws {
        let text = try await Self.text(.srt, of: Dialogues.turns(of: "user: One.\nassistant: Two."))
        #expect(
            text == "1\r\n00:00:00,000 --> 00:00:01,000\r\nYou: One.\r\n\r\n2\r\n00:00:05,000 --> 00:00:06,000\r\nAssistant: Two.\r\n\r\n")
    }

    @Test("keeps a turn with empty lines in one cue")
    func oneLine() async throws {
        var turns = Dialogues.turns(of: "user: x")
        turns[0].text = "one\n\ntwo\r\nthree"
        #expect(try await Self.text(.vtt, of: turns).contains("<v You>one two three</v>"))
    }

    @Test("ends a cue when its turn ended, or when the next began")
    func cueEnds() async throws {
        var turns = Dialogues.turns(of: "user: \(String(repeating: "long ", count: 60))\nassistant: Short.")
        turns[1].durationMs = 2_500
        let text = try await Self.text(.vtt, of: turns)
        #expect(text.contains("00:00:00.000 --> 00:00:05.000"))
        #expect(text.contains("00:00:05.000 --> 00:00:07.500"))
    }

    @Test("does not let subtitles overlap")
    func overlaps() async throws {
        var turns = Dialogues.turns(of: "assistant: One moment.\nuser: Stop!\nuser: Now.\nassistant: Yes.")
        // The user interrupts; then two turns begin in the same second, one three times as long as the other.
        let starts: [Duration] = [.zero, .seconds(4), .seconds(10), .seconds(10)]
        let lengths = [9_000, 500, 3_000, 1_000]
        for index in turns.indices {
            turns[index].timestamp = Dialogues.start + starts[index]
            turns[index].durationMs = lengths[index]
        }
        let times = try await Self.text(.srt, of: turns).components(separatedBy: "\r\n").filter { $0.contains(" --> ") }
        #expect(
            times == [
                "00:00:00,000 --> 00:00:04,000", "00:00:04,000 --> 00:00:04,500", "00:00:10,000 --> 00:00:13,000",
                "00:00:13,000 --> 00:00:14,000",
            ])
    }

    @Test("keeps cues apart whatever the turns' times", arguments: 0..<20 as Range<UInt64>)
    func cuesAreApart(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let words = (0..<200).map { "user: word \($0)" }.joined(separator: "\n")
        var turns = Dialogues.turns(of: words)
        for index in turns.indices {
            // Many begin together, and some within the same millisecond as many others.
            turns[index].timestamp = Dialogues.start + .milliseconds(random.below(seed.isMultiple(of: 2) ? 20 : 100_000))
            turns[index].durationMs = random.below(2) == 0 ? random.below(30_000) : nil
        }
        let lines = try await Self.text(.vtt, of: turns).split(separator: "\n").filter { $0.contains(" --> ") }
        #expect(lines.count == turns.count)
        var end: Substring = ""
        for line in lines {
            let (from, to) = (line.prefix(12), line.suffix(12))
            #expect(end <= from && from < to, "\(line)")
            end = to
        }
    }

    @Test("clamps times before the session and absurd lengths")
    func absurdTimes() async throws {
        var turns = Dialogues.turns(of: "user: a\nuser: b\nuser: c")
        turns[0].timestamp = WallTime(milliseconds: .min)
        turns[1].durationMs = -5
        turns[2].timestamp = WallTime(milliseconds: .max)
        turns[2].durationMs = .max
        let lines = try await Self.text(.vtt, of: turns).split(separator: "\n").filter { $0.contains(" --> ") }
        #expect(lines.count == 3)
        #expect(lines.first == "00:00:00.000 --> 00:00:01.000")
        #expect(lines.allSatisfy { $0.prefix(12) < $0.suffix(12) || $0.suffix(12).count > 12 })
    }

    @Test("orders turns by their time")
    func order() async throws {
        let text = try await Self.text(.txt, of: Dialogues.turns(of: "user: First.\nassistant: Second.").reversed())
        #expect(text.range(of: "First.")!.lowerBound < text.range(of: "Second.")!.lowerBound)
    }

    @Test("has a file name that is valid in a header field", arguments: ExportFormat.allCases)
    func fileName(_ format: ExportFormat) {
        let name = Self.export([]).fileName(as: format)
        #expect(name.hasSuffix(".\(format.rawValue)"))
        #expect(name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") })
    }

    @Test("states that no turns were stored", arguments: [ExportFormat.txt, .vtt, .srt, .json])
    func empty(_ format: ExportFormat) async throws {
        let text = try await Self.text(format, of: [])
        switch format {
        case .txt: #expect(text.contains("No transcript was kept"))
        case .vtt: #expect(text == "WEBVTT - A title\n")
        case .srt: #expect(text.isEmpty)
        case .json, .pdf: #expect(text.contains(#""turns":[]"#))
        }
    }
}
