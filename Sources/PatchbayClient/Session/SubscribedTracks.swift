internal import Wire

/// The others' tracks by alias, and who of us listens to each.
struct SubscribedTracks {
    /// What became of one frame.
    struct Report: Equatable {
        var unheard = 0
        var overflowed = 0
        /// Frames missing before it.
        var lost = 0
    }

    private final class Track {
        let sid: TrackSID
        let owner: Identity
        var sinks: [FrameSink] = []
        /// What came before anybody asked; nil when somebody has asked, or nobody did in time.
        var unclaimed: [ReceivedFrame]? = []
        var lastSequence: SequenceNumber?

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

    /// After a reconnect: those that are still there keep their listeners, the others end.
    mutating func replace(with tracks: [TrackInfo]) {
        let sids = Set(tracks.map(\.sid))
        remove { !sids.contains($0.sid) }
        for track in byAlias.values { track.lastSequence = nil }
        for track in tracks { add(track) }
    }

    mutating func finishAll() {
        remove { _ in true }
    }

    /// Adds a listener; one to a track that is not there ends at once.
    func listen(to sid: TrackSID, _ sink: FrameSink) {
        guard let track = byAlias.values.first(where: { $0.sid == sid }) else { return sink.finish() }
        for frame in track.unclaimed ?? [] { _ = sink.put(frame) }
        track.unclaimed = nil
        track.sinks.append(sink)
    }

    /// What of the track has come and is older than `epoch` is not to be heard any more.
    func clear(_ sid: TrackSID, epoch: UInt8) {
        guard let track = byAlias.values.first(where: { $0.sid == sid }) else { return }
        track.unclaimed?.removeAll { $0.header.epoch != epoch }
        for sink in track.sinks { sink.clear(epoch: epoch) }
    }

    func receive(_ frame: ReceivedFrame) -> Report {
        guard let track = byAlias[frame.header.alias] else { return Report(unheard: 1) }
        var report = Report(lost: missing(before: frame.header.sequence, on: track))
        if var unclaimed = track.unclaimed {
            // Only this copy is left, so that nothing is copied when it grows.
            track.unclaimed = nil
            unclaimed.append(frame)
            if unclaimed.count <= StreamLimits.unclaimedFramesMax {
                track.unclaimed = unclaimed
            } else {
                report.unheard = unclaimed.count
            }
            return report
        }
        track.sinks.removeAll { sink in
            switch sink.put(frame) {
            case .taken: return false
            case .overflowed:
                report.overflowed += 1
                return false
            case .gone: return true
            }
        }
        if track.sinks.isEmpty { report.unheard = 1 }
        return report
    }

    private func missing(before sequence: SequenceNumber, on track: Track) -> Int {
        defer { track.lastSequence = sequence }
        guard let last = track.lastSequence else { return 0 }
        return max(sequence.distance(from: last) - 1, 0)
    }

    private mutating func remove(where isMeant: (Track) -> Bool) {
        for (alias, track) in byAlias where isMeant(track) {
            track.finish()
            byAlias[alias] = nil
        }
    }
}
