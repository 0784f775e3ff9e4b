import Foundation
import Logging
import Store
import Synchronization
import Testing

@testable import patchbay

struct LogFormatTests {
    private static let time = WallTime(milliseconds: 1_763_733_600_250)

    private func record(_ metadata: Logger.Metadata, message: String = "participant joined") -> LogRecord {
        LogRecord(time: Self.time, level: .info, logger: "patchbay.rooms", message: message, metadata: metadata)
    }

    private func text(_ format: LogFormat, _ metadata: Logger.Metadata) -> String {
        String(decoding: format.line(record(metadata)), as: UTF8.self)
    }

    @Test func jsonLinesHaveTheFixedKeysFirstAndKeepTypes() {
        let line = text(
            .json, ["room": "lobby", "seconds": .stringConvertible(7), "logged": .stringConvertible(true), "ports": ["1", "2"]])
        #expect(
            line
                == #"{"time":"2025-11-21T14:00:00.250Z","level":"info","logger":"patchbay.rooms","message":"participant joined","#
                + #""logged":true,"ports":["1","2"],"room":"lobby","seconds":7}"# + "\n")
    }

    @Test func textLinesQuoteWhatIsNotPlain() {
        let line = text(.text, ["room": "my room", "identity": "ann", "empty": "", "seconds": .stringConvertible(7)])
        #expect(
            line == #"2025-11-21T14:00:00.250Z info patchbay.rooms participant joined empty="" identity=ann room="my room" seconds=7"#
                + "\n")
    }

    /// Clients choose rooms and identities: none may forge a line or hide one on a terminal.
    @Test(arguments: ["a\nb", "a\r\nb", "a\u{1B}[2Kb", "a\u{2028}b", "a\u{202E}b", "a\u{0}b", "a\u{85}b", "a\" level=error b", "a\\\nb"])
    func aRecordIsOneLineWhateverClientsWrite(value: String) throws {
        for format in LogFormat.allCases {
            let line = text(format, ["identity": .string(value)])
            #expect(line.unicodeScalars.filter { $0 == "\n" }.count == 1 && line.hasSuffix("\n"), "\(format)")
            if format == .text {
                #expect(!line.dropLast().unicodeScalars.contains { [.control, .format].contains($0.properties.generalCategory) })
                let quotes = line.replacing("\\\\", with: "").replacing("\\\"", with: "").count { $0 == "\"" }
                #expect(quotes == 2, "a quote ends the value")
            } else {
                let parsed = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                #expect(parsed["identity"] as? String == value)
            }
        }
    }

    @Test func longValuesAreCut() {
        let line = text(.json, ["identity": .string(String(repeating: "x", count: 100_000))])
        #expect(line.utf8.count < LogFormat.valueBytesMax + 300)
    }

    @Test func metadataCannotReplaceTheFixedKeys() throws {
        let line = text(.json, ["level": "error", "time": "never"])
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        #expect(parsed["level"] == "info" && parsed["metadata.level"] == "error" && parsed["metadata.time"] == "never")
    }
}

/// The thread that writes the log.
@Suite(.timeLimit(.minutes(1)))
struct LogWriterTests {
    private func record(_ message: String) -> LogRecord {
        LogRecord(time: WallTime(milliseconds: 0), level: .info, logger: "test", message: message)
    }

    @Test func linesAreWrittenInOrderAndBeforeTheEnd() throws {
        let pipe = Pipe()
        let writer = LogWriter(to: pipe.fileHandleForWriting.fileDescriptor, as: .text)
        for number in 0..<100 { writer.append(record("line \(number).")) }
        writer.finish()
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        #expect(
            text.split(separator: "\n").map { $0.split(separator: " ").suffix(2).joined(separator: " ") } == (0..<100).map { "line \($0)." }
        )
    }

    /// If nobody reads the pipe, the gateway continues and reports the number of dropped lines.
    @Test func aReaderThatStopsCostsLinesAndNoTime() async throws {
        let pipe = Pipe()
        let dropped = Atomic(0)
        let writer = LogWriter(to: pipe.fileHandleForWriting.fileDescriptor, as: .text) { dropped.add($0, ordering: .relaxed) }
        // More than the pipe and the queue hold.
        let sent = 3 * LogWriter.recordsMax + 10_000
        for number in 0..<sent { writer.append(record("line \(number)")) }
        let lines = Atomic(0)
        let notes = Atomic(0)
        Thread.detachNewThread {
            var rest = Data()
            while case let piece = pipe.fileHandleForReading.availableData, !piece.isEmpty {
                rest += piece
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let isNote = String(decoding: rest[..<end], as: UTF8.self).contains("log lines were dropped")
                    if isNote { notes.add(1, ordering: .relaxed) } else { lines.add(1, ordering: .relaxed) }
                    rest = Data(rest[(end + 1)...])
                }
            }
        }
        try await eventually("every record is written or counted") {
            lines.load(ordering: .relaxed) + dropped.load(ordering: .relaxed) == sent && notes.load(ordering: .relaxed) > 0
        }
        #expect(dropped.load(ordering: .relaxed) > 0)
        writer.finish()
        try pipe.fileHandleForWriting.close()
    }
}
