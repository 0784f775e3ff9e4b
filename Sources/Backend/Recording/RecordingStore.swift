package import Engine

/// Where recordings are written. Called on the recorder's own thread, and may take its time there.
package protocol RecordingStore: Sendable {
    /// Makes a file that is not there yet.
    func makeFile(named name: String, for order: Room.RecordingTap) throws -> any RecordingFile
}

/// One file that grows at its end.
///
/// It comes in whole Ogg pages of up to a second, so what has been written can be played at any moment. A store that seals what it keeps does
/// so here.
package protocol RecordingFile: AnyObject {
    func append(_ bytes: [UInt8]) throws
    /// Called once, also after an `append` that failed.
    func close() throws
}
