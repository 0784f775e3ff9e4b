import Audio
import Foundation

/// The recordings of the demonstrations: those of the repository, or of the installation that the executable belongs to.
struct DemoRecordings {
    /// What the user says, in order.
    static let conversation = ["ps-goforward.wav", "ps-cards-002.wav", "ps-librivox-0890.wav"]
    static let relay = "ps-goforward.wav"

    private let directory: String

    /// - Parameter executable: its resolved path, such as `/usr/bin/patchbay` or `.build/release/patchbay`.
    /// - Throws: `UsageError` if the recordings are not there.
    init(executable: URL? = Bundle.main.executableURL?.resolvingSymlinksInPath()) throws {
        var folder = executable?.deletingLastPathComponent().standardizedFileURL ?? URL(filePath: "/")
        var candidates = [folder.appending(path: "../share/patchbay/demo").standardizedFileURL]
        while folder.path != "/" {
            candidates.append(folder.appending(path: "demo"))
            folder.deleteLastPathComponent()
        }
        let found = candidates.first { FileManager.default.isReadableFile(atPath: $0.appending(path: Self.relay).path) }
        guard let found else {
            throw UsageError(
                "the recordings of the demonstration are not at \(candidates[0].path); install the whole package, "
                    + "or pass a WAV file with --relay --recording")
        }
        directory = found.path
    }

    func path(of name: String) -> String { directory + "/" + name }
    func sound(_ name: String) throws -> PCMBuffer { try PCMBuffer(wavFile: path(of: name)) }
}

extension PCMBuffer {
    /// The sound of a WAV file, in mono.
    ///
    /// - Throws: `UsageError`.
    init(wavFile path: String) throws {
        guard let file = FileManager.default.contents(atPath: path) else {
            throw UsageError("cannot read \(path); check the path and its permissions")
        }
        do { self = try WAVFile.read(Array(file), mono: true) } catch { throw UsageError("\(path): \(error)") }
    }
}
