internal import Backend
internal import Engine
internal import Wire

/// Tracks published on this shard that are being recorded; a patch's `tap` is an index into it.
struct RecordingTaps {
    private var tracks: [RecordedTrack?] = []

    subscript(index: Int) -> RecordedTrack? { tracks[index] }

    mutating func insert(_ track: RecordedTrack) -> Int {
        let index = tracks.firstIndex { $0 == nil } ?? tracks.count
        if index == tracks.count { tracks.append(nil) }
        tracks[index] = track
        return index
    }

    mutating func remove(_ index: Int) {
        tracks[index] = nil
    }
}

/// Frames of recorded tracks are copied where they are published. Tracks that are not recorded pay one branch.
extension MediaRelay {
    func startRecording(_ order: Room.RecordingTap, by publisher: ParticipantHandle) {
        let (alias, slot) = (order.track.alias, Int(publisher.slot))
        guard let recorder = context.gateway.recorder, let patch = panel.index(of: alias, publishedBy: slot) else { return }
        // A track that has moved between slots of this shard is being recorded already.
        guard panel.patches[slot][patch].tap == nil else { return }
        panel.setTap(taps.insert(recorder.track(order)), of: alias, by: slot)
    }

    func finishRecording(_ track: TrackInfo, by publisher: ParticipantHandle) {
        let slot = Int(publisher.slot)
        guard let patch = panel.index(of: track.alias, publishedBy: slot), let tap = panel.patches[slot][patch].tap else { return }
        if let track = taps[tap] { context.gateway.recorder?.end(track) }
        forgetTap(of: track.alias, by: publisher)
    }

    /// The track has ended, or is published on another shard from now on.
    func forgetTap(of alias: TrackAlias, by publisher: ParticipantHandle) {
        let slot = Int(publisher.slot)
        guard let patch = panel.index(of: alias, publishedBy: slot), let tap = panel.patches[slot][patch].tap else { return }
        taps.remove(tap)
        panel.setTap(nil, of: alias, by: slot)
    }

    func record(_ frame: UnsafeRawBufferPointer, on tap: Int, at time: Instant) {
        if taps[tap]?.append(frame, playedAt: time) == false { context.counters.recordingFramesLost += 1 }
    }
}
