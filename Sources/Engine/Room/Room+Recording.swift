package import Wire

/// Whether a room's tracks are recorded. The room decides and tells it to everybody; the frames are copied where they come in.
extension Room {
    /// What whoever writes a track down must know of it.
    package struct RecordingTap: Sendable, Hashable {
        package var recording: RecordingID
        package var track: TrackInfo
        package var room: Snapshot
    }

    mutating func startRecording(into effects: inout [Effect]) {
        guard recording == nil else { return }
        let id = identifiers.recording()
        recording = id
        send(.recordingStarted(id), to: everyone, into: &effects)
        tell(.recordingStarted(id), into: &effects)
        for track in tracks.values { tap(track, into: &effects) }
    }

    /// - Parameter id: only that recording; nil is whichever there is.
    mutating func stopRecording(_ id: RecordingID?, _ end: RecordingEnd, into effects: inout [Effect]) {
        guard let current = recording, id == nil || id == current else { return }
        for track in tracks.values { untap(track, into: &effects) }
        recording = nil
        send(.recordingStopped(current, end), to: everyone, into: &effects)
        tell(.recordingStopped(current, end), into: &effects)
    }

    /// Frames of the track are copied from now on, if the room is being recorded.
    func tap(_ track: Track, into effects: inout [Effect]) {
        guard let recording else { return }
        let order = RecordingTap(recording: recording, track: track.info, room: snapshot)
        emit(.tap(order, by: track.publisher), into: &effects)
    }

    /// Before the track's patch is gone, and with it who published it.
    func untap(_ track: Track, into effects: inout [Effect]) {
        if recording != nil { emit(.untap(track.info, by: track.publisher), into: &effects) }
    }
}
