internal import Backend
internal import Engine
internal import Sockets
internal import Wire

/// Frames of tracks that are recorded, copied where they come in. What is not recorded pays one branch.
extension Shard {
    func tap(_ order: Room.RecordingTap, by publisher: ParticipantHandle) {
        let (alias, slot) = (order.track.alias, Int(publisher.slot))
        guard let recorder = common.recorder, let patch = panel.index(of: alias, publishedBy: slot) else { return }
        // It has moved from one slot to another here.
        guard panel.patches[slot][patch].tap == nil else { return }
        let place = taps.firstIndex { $0 == nil } ?? taps.count
        if place == taps.count { taps.append(nil) }
        taps[place] = recorder.track(order)
        panel.setTap(place, of: alias, by: slot)
    }

    func untap(_ track: TrackInfo, by publisher: ParticipantHandle) {
        let slot = Int(publisher.slot)
        guard let patch = panel.index(of: track.alias, publishedBy: slot), let place = panel.patches[slot][patch].tap else { return }
        if let tapped = taps[place] { common.recorder?.end(tapped) }
        forgetTap(of: track.alias, by: publisher)
    }

    /// The track goes on elsewhere, or has ended.
    func forgetTap(of alias: TrackAlias, by publisher: ParticipantHandle) {
        let slot = Int(publisher.slot)
        guard let patch = panel.index(of: alias, publishedBy: slot), let place = panel.patches[slot][patch].tap else { return }
        taps[place] = nil
        panel.setTap(nil, of: alias, by: slot)
    }

    func copy(_ frame: UnsafeRawBufferPointer, toTap place: Int, heardAt: Instant) {
        if taps[place]?.append(frame, heardAt: heardAt) == false { counters.recordingFramesLost += 1 }
    }
}

extension Gateway {
    /// A recording that fails is stopped by its room, which tells everybody.
    func startRecorder() {
        context.recorder?.start { [rooms = context.rooms] order in
            rooms.send(.stopRecording(order.recording, .failed), to: order.room.info.name)
        }
    }
}
