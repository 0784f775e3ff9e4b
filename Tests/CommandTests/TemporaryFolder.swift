import Foundation

/// A folder of a test's own, gone with whoever holds it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "patchbay-commands-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Where a file of that name is, or would be.
    func file(_ name: String) -> URL { url.appending(path: name) }
}
