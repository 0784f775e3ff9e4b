import Wire

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
        publisher.isHeld ? .held : info.muted || publisher.isMutedByAdmin ? .muted : .open
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
