package import Engine

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
