internal import Wire

/// The tracks of a room, in the order in which they were published.
///
/// Invariants: no two tracks share an alias. Each track has a level among `speakers`, and each `ahead` track a playout, until the
/// track is removed; a playout may end before.
struct PublishedTracks: Sendable {
    private var roster = Roster<TrackSID, Track>()
    private var aliases = TrackAliasAllocator()
    private(set) var subscriptionCount: UInt32 = 0
    /// Entries come and go with their tracks; others only change them.
    var playouts = Roster<TrackSID, Playout>()
    var speakers = ActiveSpeakers()

    var values: [Track] { roster.values }
    var count: Int { roster.count }

    func index(of sid: TrackSID) -> Int? { roster.index(of: sid) }

    subscript(_ sid: TrackSID) -> Track? { roster[sid] }

    /// The track at an index, modified in place. Indices are valid until the next removal.
    subscript(at index: Int) -> Track {
        @inline(__always) _read { yield roster[at: index] }
        _modify { yield &roster[at: index] }
    }

    /// - Returns: the new track; nil if no alias is left.
    mutating func publish(_ description: PublishTrack, as sid: TrackSID, by publisher: Participant, at now: Instant) -> Track? {
        guard let alias = aliases.allocate() else { return nil }
        let info = TrackInfo(sid: sid, alias: alias, participant: publisher.identity, description: description)
        let track = Track(info: info, publisher: publisher.handle, publisherSID: publisher.stay.sid)
        roster.append(track, for: sid)
        if info.mode == .ahead { playouts.append(Playout(epoch: info.epoch, at: now), for: sid) }
        speakers.add(sid, of: publisher.identity, at: now)
        return track
    }

    mutating func remove(_ sid: TrackSID) -> Track? {
        guard let track = roster.remove(sid) else { return nil }
        aliases.release(track.info.alias)
        playouts.remove(sid)
        speakers.remove(sid)
        return track
    }

    mutating func removeAll() {
        self = PublishedTracks()
    }

    init() {}

    /// The tracks of a room from an image, which are inserted by `restore`.
    init(lastAlias: UInt16, subscriptionCount: UInt32) {
        aliases = TrackAliasAllocator(after: lastAlias)
        self.subscriptionCount = subscriptionCount
    }

    /// Inserts a track from an image.
    ///
    /// - Parameter playout: required for an `ahead` track.
    mutating func restore(_ track: Track, _ playout: Playout?, at now: Instant) {
        aliases.take(track.info.alias)
        roster.append(track, for: track.info.sid)
        if let playout { playouts.append(playout, for: track.info.sid) }
        speakers.add(track.info.sid, of: track.info.participant, at: now)
    }

    /// The alias that was allocated last; 0 before the first.
    var lastAlias: UInt16 { aliases.last }

    /// Distinguishes successive subscriptions of one subscriber. Wraps.
    mutating func nextSubscriptionNumber() -> UInt32 {
        subscriptionCount &+= 1
        return subscriptionCount
    }
}

/// A published track of a room.
struct Track: Sendable {
    var info: TrackInfo
    /// Changes on resume.
    var publisher: ParticipantHandle
    let publisherSID: ParticipantSID
    /// Playout time of one sample, from which all others follow.
    var anchor: (time: MediaTime, instant: Instant)?
    var talk = Talkspurt()

    /// State of its gate. Hold takes precedence over mute, which is kept for later.
    func gate(by publisher: Participant) -> Room.Gate {
        publisher.callMedia.held ? .held : info.muted || publisher.callMedia.muted ? .muted : .open
    }
}

extension PublishTrack {
    /// Opus packet durations in milliseconds (RFC 6716 section 2.1.4; several frames per packet).
    private static let frameLengths = [2.5, 5, 10, 20, 40, 60, 80, 100, 120]

    /// Rejects tracks that cannot be relayed.
    func check() throws(RequestError) {
        guard codec == "opus" else {
            throw RequestError(.unsupported, "the codec \"\(codec.prefix(32))\" is not relayed; publish \"opus\"")
        }
        guard Self.frameLengths.contains(frameMs) else {
            throw RequestError(.invalidArgument, "`frame_ms` must be 2.5, 5, 10, 20, 40, 60, 80, 100 or 120")
        }
        guard (1...2).contains(channels) else { throw RequestError(.invalidArgument, "`channels` must be 1 or 2") }
        guard name.utf8.count <= Limits.trackNameBytesMax else {
            throw RequestError(.limitExceeded, "`name` is over \(Limits.trackNameBytesMax) bytes")
        }
    }
}

extension Permission {
    /// Whether a track of this source may be published, and may stay.
    ///
    /// LiveKit knows no source `assistant`: its agents speak through a `microphone`, so that grant covers both.
    func allows(_ source: TrackSource) -> Bool {
        guard canPublish else { return false }
        guard !canPublishSources.isEmpty else { return true }
        return switch source {
        case .microphone: canPublishSources.contains("microphone")
        case .assistant: canPublishSources.contains("microphone") || canPublishSources.contains("assistant")
        }
    }
}
