import Foundation
import Store
import Testing

struct PDFExportTests {
    private static let scripts: [String: String] = [
        "Latn": "Größe – “ça” €", "Grek": "Καλημέρα κόσμε", "Cyrl": "Привет, мир", "Arab": "مرحبا بالعالم", "Hebr": "שלום עולם",
        "Deva": "नमस्ते दुनिया", "Thai": "สวัสดีชาวโลก", "Hans": "你好，世界", "Jpan": "こんにちは世界", "Hang": "안녕하세요 세계", "Zsye": "😀🎉",
    ]

    private static func pdf(_ turns: [Turn]) async throws -> ExportFile {
        try await Export(session: Dialogues.session(of: turns), summary: nil, turns: turns).file(as: .pdf)
    }

    private static func pdf(_ text: String) async throws -> ExportFile { try await pdf(Dialogues.turns(of: text)) }

    /// The output of one of poppler's programs for a PDF.
    private static func output(of program: String, _ arguments: [String], for file: ExportFile) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pdf")
        try Data(file.bytes).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        return try output(of: program, arguments.map { $0 == "FILE" ? path.path() : $0 })
    }

    private static func output(of program: String, _ arguments: [String]) throws -> String {
        let candidates = ["/usr/bin", "/usr/local/bin"].map { "\($0)/\(program)" }
        let tool = try #require(
            candidates.first(where: FileManager.default.isExecutableFile), "\(program) is missing; run scripts/setup")
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: tool)
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }

    private static func fonts(with letter: Unicode.Scalar) throws -> String {
        try output(of: "fc-list", [":charset=\(String(letter.value, radix: 16))"])
    }

    private static func pageCount(_ file: ExportFile) throws -> Int? {
        try output(of: "pdfinfo", ["FILE"], for: file).firstMatch(of: /Pages: +(\d+)/).flatMap { Int($0.1) }
    }

    @Test(arguments: scripts.keys.sorted()) func everyScriptHasAFont(script: String) async throws {
        let file = try await Self.pdf("user: \(Self.scripts[script]!)")
        #expect(file.scriptsWithoutFont == [])
        #expect(String(decoding: file.bytes, as: UTF8.self).hasPrefix("%PDF-"))
    }

    @Test(arguments: ["Latn", "Grek", "Cyrl", "Hans", "Jpan", "Hang"]) func textCanBeExtracted(script: String) async throws {
        let text = Self.scripts[script]!
        let found = try Self.output(of: "pdftotext", ["FILE", "-"], for: try await Self.pdf("user: \(text)"))
        #expect(found.precomposedStringWithCompatibilityMapping.contains(text.precomposedStringWithCompatibilityMapping), "\(found)")
    }

    @Test func allFontsAreEmbedded() async throws {
        let text = Self.scripts.values.sorted().joined(separator: " ")
        let list = try Self.output(of: "pdffonts", ["FILE"], for: try await Self.pdf("user: \(text)"))
        let fonts = list.split(separator: "\n").dropFirst(2)
        #expect(fonts.count >= 5)
        for font in fonts { #expect(font.contains(/\ yes +(yes|no) +(yes|no) +\d+ +\d+$/), "not embedded: \(font)") }
    }

    @Test func aScriptWithoutFontIsNamed() async throws {
        // Rare and recent scripts, of which this machine surely lacks fonts for one.
        let rare: [(script: String, letter: Unicode.Scalar)] = [
            ("Kawi", "\u{11F04}"), ("Vith", "\u{10570}"), ("Toto", "\u{1E290}"), ("Sgnw", "\u{1D800}"), ("Xsux", "\u{12000}"),
        ]
        let unknown = try #require(try rare.first { try Self.fonts(with: $0.letter).isEmpty }, "there are fonts for all of them")
        let file = try await Self.pdf("user: \(unknown.letter)")
        #expect(file.scriptsWithoutFont == [unknown.script])
    }

    @Test func aLongConversationTakesNumberedPages() async throws {
        let lines = (0..<400).map { "user: Turn number \($0) says something that takes some room on the page." }
        let file = try await Self.pdf(lines.joined(separator: "\n"))
        let count = try #require(try Self.pageCount(file))
        #expect(count > 10)
        let text = try Self.output(of: "pdftotext", ["-layout", "FILE", "-"], for: file)
        let pages = text.split(separator: "\u{0C}")
        #expect(pages.count == count)
        for (index, page) in pages.enumerated() { #expect(page.contains("\(index + 1) / \(count)")) }
        for turn in 0..<400 { #expect(text.contains("Turn number \(turn) ")) }
    }

    @Test func anEmptySessionHasOnePage() async throws {
        #expect(try await Self.pageCount(Self.pdf([])) == 1)
    }

    @Test(arguments: [
        String(repeating: "W", count: 300), "\u{0}\u{1}\u{FFFD}", "\u{202E}evil", "e\u{301}", String(repeating: "字", count: 3_000), "",
    ])
    func anyTextMakesAPDF(text: String) async throws {
        var turns = Dialogues.turns(of: "user: x\nassistant: y")
        turns[0].text = text
        #expect(try await Self.pdf(turns).bytes.suffix(6).elementsEqual("%%EOF\n".utf8))
    }

    @Test func documentsCanBeMadeAtTheSameTime() async throws {
        try await withThrowingTaskGroup { group in
            for index in 0..<8 { group.addTask { try await Self.pdf("user: Document \(index), مرحبا 你好").bytes.count } }
            for try await count in group { #expect(count > 1_000) }
        }
    }
}
