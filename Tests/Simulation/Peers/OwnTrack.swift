internal import Wire

/// A peer's view of a track it publishes.
struct OwnTrack {
    let sid: TrackSID
    let alias: TrackAlias
    let frameMilliseconds: Double
    let mode: TrackMode
    var epoch: UInt8
    var sequence: UInt16
    var timestamp: UInt32
    /// Whether the gateway has confirmed mute.
    var isMuted = false
    /// `id` of the last mute or unmute request.
    var lastMute: UInt64 = 0
    var isUnpublished = false
    var isTalking = false
    /// Whether it has pushed the utterance of the liveness phase.
    var hasSpoken = false
    /// End of the current talkspurt or pause.
    var until: Instant

    init(_ info: TrackInfo, sequence: UInt16, timestamp: UInt32, now: Instant) {
        sid = info.sid
        alias = info.alias
        frameMilliseconds = info.frameMs
        mode = info.mode
        epoch = info.epoch
        isMuted = info.muted
        self.sequence = sequence
        self.timestamp = timestamp
        until = now
    }
}
