import Foundation
import Store
import Testing

@Suite("Export as PDF")
struct PDFExportTests {
    private static func pdf(_ turns: [Turn]) -> [UInt8] {
        Export(session: Dialogues.session(of: turns), summary: nil, turns: turns).bytes(as: .pdf)
    }

    private static func latin(_ bytes: [UInt8]) -> String { String(decoding: bytes.map { $0 < 128 ? $0 : 0x2E }, as: UTF8.self) }

    private static let mixed = "user: Привет 日本語 😀 naïve “quotes” €5 (a) \\ <b>\nassistant: Yes."

    @Test("is where its table says that it is")
    func offsets() throws {
        let bytes = Self.pdf(Dialogues.turns(of: Self.mixed))
        let text = Self.latin(bytes)
        #expect(text.hasPrefix("%PDF-1.4\n") && text.hasSuffix("%%EOF\n"))
        let lines = text.split(separator: "\n")
        let table = try #require(Int(lines[lines.count - 2]))
        #expect(Self.latin(Array(bytes[table...])).hasPrefix("xref\n0 "))
        let entries = Self.latin(Array(bytes[table...])).split(separator: "\n").filter { $0.hasSuffix(" 00000 n ") }
        #expect(entries.count > 5)
        for (index, entry) in entries.enumerated() {
            let offset = try #require(Int(entry.prefix(10)))
            #expect(Self.latin(Array(bytes[offset...].prefix(20))).hasPrefix("\(index + 1) 0 obj\n"))
        }
    }

    @Test("has streams as long as they say")
    func streams() throws {
        let text = Self.latin(Self.pdf(Dialogues.turns(of: Self.mixed)))
        for part in text.components(separatedBy: "<< /Length ").dropFirst() {
            let length = try #require(Int(part.prefix { $0.isNumber }))
            let start = try #require(part.range(of: "stream\n")).upperBound
            #expect(part[start...].dropFirst(length).hasPrefix("\nendstream"))
        }
    }

    @Test("goes on over as many pages as it takes, each numbered")
    func pages() {
        let lines = (0..<400).map { "user: Turn number \($0) says something that takes some room on the page." }
        let text = Self.latin(Self.pdf(Dialogues.turns(of: lines.joined(separator: "\n"))))
        let count = text.components(separatedBy: "/Type /Page /Parent").count - 1
        #expect(count > 10)
        #expect(text.contains("/Count \(count) "))
        let last = "\(count) / \(count)".utf8.map { String(format: "%02X", $0) }.joined()
        #expect(text.contains("<\(last)>"))
    }

    @Test("maps what it has no glyph for back to its text")
    func boxes() {
        let text = Self.latin(Self.pdf(Dialogues.turns(of: Self.mixed)))
        #expect(text.contains("/Subtype /Type3"))
        // И is not there, П is; the emoji is a surrogate pair.
        #expect(text.contains("<041F>") && text.contains("<65E5>") && text.contains("<D83DDE00>"))
    }

    @Test("has no font but Helvetica where that has it all")
    func latinOnly() {
        #expect(!Self.latin(Self.pdf(Dialogues.turns(of: "user: Größe – “ça” €"))).contains("/Type3"))
    }

    @Test("has a page where nothing was said")
    func empty() {
        #expect(Self.latin(Self.pdf([])).contains("/Count 1 "))
    }

    @Test("breaks a word that is longer than a line")
    func longWord() {
        let text = Self.latin(Self.pdf(Dialogues.turns(of: "user: \(String(repeating: "W", count: 300))")))
        #expect(!text.contains(String(repeating: "57", count: 60)))
        #expect(text.contains(String(repeating: "57", count: 40)))
    }

    @Test("makes more fonts of boxes than one when there are more characters")
    func manyCharacters() {
        let han = String(String.UnicodeScalarView((0x4E00..<0x4E00 + 300).compactMap(UnicodeScalar.init)))
        let text = Self.latin(Self.pdf(Dialogues.turns(of: "user: \(han)")))
        #expect(text.contains("/X1 "))
        #expect(text.contains("/LastChar 255") && text.contains("/LastChar 45"))
    }
}
