package import Engine
package import Foundation
package import Wire

/// Creates recording files. Called on the recorder's thread, where it may block.
package protocol RecordingStore: Sendable {
    /// Creates a new file.
    func makeFile(named name: String, for tap: Room.RecordingTap) throws -> any RecordingFile
}

/// An append-only recording file.
///
/// Receives whole Ogg pages of up to a second, so that the file is playable at any time. Encrypting stores do so here.
package protocol RecordingFile: AnyObject {
    func append(_ bytes: [UInt8]) throws
    /// Called once, also after a failed `append`.
    func close() throws
}

/// The recording of one track.
package struct RecordedFile: Sendable, Hashable {
    /// The file's name in its store, referenced by turns (`audio_ref`).
    package var name: String
    package var recording: RecordingID
    package var track: TrackInfo
    /// Arrival of the first frame, in milliseconds since 1970.
    package var startedAt: Int64
    /// Duration, including pauses.
    package var milliseconds: Int64
    package var byteCount: Int
    /// Frames dropped because the disk could not keep up.
    package var framesLost: Int
    /// Whether a write error ended the recording early.
    package var hasFailed: Bool

    /// Both IDs are unique, and the name does not reveal the speaker.
    package static func name(of track: TrackSID, in recording: RecordingID) -> String { "\(recording.text)-\(track.text).ogg" }
}

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
