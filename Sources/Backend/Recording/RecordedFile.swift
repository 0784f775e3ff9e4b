package import Wire

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
