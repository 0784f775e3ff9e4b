import Foundation
import OggOpus
import Testing

private let opusinfo = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { URL(filePath: String($0)).appending(path: "opusinfo") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path()) }

@Suite struct OpusToolsTests {
    @Test(.enabled(if: opusinfo != nil, "opus-tools is not installed: no reader but our own has looked at our files"))
    func otherToolsAcceptTheFiles() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID()).opus")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(try OggOpusTests.file(try OggOpusTests.packets(), trimmedTicks: 200)).write(to: file)

        let process = Process()
        let output = Pipe()
        process.executableURL = opusinfo
        process.arguments = [file.path()]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()

        #expect(process.terminationStatus == 0)
        #expect(said.contains("Playback length: 0m:02.789s"), "\(said)")
        #expect(!said.localizedCaseInsensitiveContains("warning"), "\(said)")
    }
}
