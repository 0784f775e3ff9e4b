internal import Wire

/// The remote tracks of a room by alias, and the readers of each.
struct SubscribedTracks {
    /// What happened to one received frame.
    struct Delivery: Equatable {
        /// Frames without a reader.
        var undelivered = 0
        /// Frames dropped because a reader fell behind.
        var overflowed = 0
        /// Frames missing before this one, of the same epoch.
        var lost = 0
        /// Frames missing before this one, which is the first of another epoch.
        var cleared = 0
    }

    private final class Track {
        let sid: TrackSID
        let owner: Identity
        var sinks: [FrameSink] = []
        /// Frames kept for the first reader; nil once there was one, or if none came in time.
        var unclaimed: [ReceivedFrame]? = []
        var last: (sequence: SequenceNumber, epoch: UInt8)?
        /// The timestamp at which live frames begin, until the first of them.
        var liveFrom: MediaTime?

        init(sid: TrackSID, owner: Identity) {
            self.sid = sid
            self.owner = owner
        }

        func finish() {
            for sink in sinks { sink.finish() }
            sinks.removeAll()
        }
    }

    private var byAlias: [TrackAlias: Track] = [:]

    func contains(_ sid: TrackSID) -> Bool {
        track(sid) != nil
    }

    mutating func add(_ info: TrackInfo) {
        let known = byAlias.first { $0.value.sid == info.sid }
        if let known { byAlias[known.key] = nil }
        byAlias[info.alias] = known?.value ?? Track(sid: info.sid, owner: info.participant)
    }

    mutating func remove(_ sid: TrackSID) {
        remove { $0.sid == sid }
    }

    mutating func removeAll(of owner: Identity) {
        remove { $0.owner == owner }
    }

    /// Replaces the tracks by those of a `hello` that describes the whole state. Tracks that still exist keep their readers; the streams of the
    /// others end.
    mutating func replace(with tracks: [TrackInfo]) {
        let sids = Set(tracks.map(\.sid))
        remove { !sids.contains($0.sid) }
        for track in byAlias.values {
            track.last = nil
            track.liveFrom = nil
        }
        for track in tracks {
            add(track)
            if track.mode == .ahead { clear(track.sid, epoch: track.epoch) }
        }
    }

    mutating func finishAll() {
        remove { _ in true }
    }

    /// Adds a reader. The stream of an unknown track ends at once.
    func addSink(_ sink: FrameSink, to sid: TrackSID) {
        guard let track = track(sid) else { return sink.finish() }
        for frame in track.unclaimed ?? [] { _ = sink.put(frame) }
        track.unclaimed = nil
        track.sinks.append(sink)
    }

    /// Discards the track's frames of epochs before `epoch`.
    func clear(_ sid: TrackSID, epoch: UInt8) {
        guard let track = track(sid) else { return }
        track.unclaimed?.removeAll { $0.header.epoch != epoch }
        for sink in track.sinks { sink.clear(epoch: epoch) }
    }

    /// Earlier frames of the track follow; those with the timestamp `live` or a later one are live.
    func expectEarlierFrames(of sid: TrackSID, until live: MediaTime) {
        track(sid)?.liveFrom = live
    }

    func receive(_ frame: ReceivedFrame) -> Delivery {
        guard let track = byAlias[frame.header.alias] else { return Delivery(undelivered: 1) }
        var frame = frame
        if let live = track.liveFrom {
            frame.isEarlier = frame.header.timestamp.distance(from: live) < 0
            if !frame.isEarlier { track.liveFrom = nil }
        }
        var delivery = Self.noteGap(before: frame.header, on: track)
        if var unclaimed = track.unclaimed {
            // Leaves one reference to the array, so that appending does not copy it.
            track.unclaimed = nil
            unclaimed.append(frame)
            if unclaimed.count <= StreamLimits.unclaimedFramesMax {
                track.unclaimed = unclaimed
            } else {
                delivery.undelivered = unclaimed.count
            }
            return delivery
        }
        track.sinks.removeAll { sink in
            switch sink.put(frame) {
            case .delivered: return false
            case .overflowed:
                delivery.overflowed += 1
                return false
            case .abandoned: return true
            }
        }
        if track.sinks.isEmpty { delivery.undelivered = 1 }
        return delivery
    }

    private func track(_ sid: TrackSID) -> Track? {
        byAlias.values.first { $0.sid == sid }
    }

    /// Sequence numbers continue after a clear, so the frames that the gateway discarded are a gap at the start of the new epoch.
    private static func noteGap(before header: FrameHeader, on track: Track) -> Delivery {
        defer { track.last = (header.sequence, header.epoch) }
        guard let last = track.last else { return Delivery() }
        let missing = max(header.sequence.distance(from: last.sequence) - 1, 0)
        return header.epoch == last.epoch ? Delivery(lost: missing) : Delivery(cleared: missing)
    }

    private mutating func remove(where predicate: (Track) -> Bool) {
        for (alias, track) in byAlias where predicate(track) {
            track.finish()
            byAlias[alias] = nil
        }
    }
}
