package import Wire

/// What was written down of one track.
package struct RecordedFile: Sendable, Hashable {
    /// As its store knows it, and turns that can be heard in it name it (`audio_ref`).
    package var name: String
    package var recording: RecordingID
    package var track: TrackInfo
    /// When its first frame came, in milliseconds since 1970.
    package var startedAt: Int64
    /// How much sound it holds, pauses included.
    package var milliseconds: Int64
    package var byteCount: Int
    /// Frames that were not written: the disk could not keep up.
    package var framesLost: Int
    /// Nothing more could be written after this.
    package var hasFailed: Bool

    /// Neither id ever comes again, so the name needs nothing else, and nothing in it tells who speaks.
    package static func name(of track: TrackSID, in recording: RecordingID) -> String { "\(recording.text)-\(track.text).ogg" }
}
