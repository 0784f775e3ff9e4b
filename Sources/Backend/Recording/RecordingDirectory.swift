package import Engine
package import Foundation

/// Stores recordings as plain files in an existing directory.
package struct RecordingDirectory: RecordingStore {
    private let directory: URL

    package init(_ directory: URL) {
        self.directory = directory
    }

    package func makeFile(named name: String, for tap: Room.RecordingTap) throws -> any RecordingFile {
        let url = directory.appending(path: name, directoryHint: .notDirectory)
        try Data().write(to: url, options: .withoutOverwriting)
        return PlainFile(handle: try FileHandle(forWritingTo: url))
    }

    private final class PlainFile: RecordingFile {
        private let handle: FileHandle

        init(handle: FileHandle) {
            self.handle = handle
        }

        func append(_ bytes: [UInt8]) throws { try handle.write(contentsOf: Data(bytes)) }
        func close() throws { try handle.close() }
    }
}
