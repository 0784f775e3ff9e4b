internal import Wire

/// A track that a peer publishes, as the peer knows it.
struct OwnTrack {
    let sid: TrackSID
    let alias: TrackAlias
    let frameMilliseconds: Double
    let mode: TrackMode
    var epoch: UInt8
    var sequence: UInt16
    var timestamp: UInt32
    /// The gateway has said that it is muted.
    var isMuted = false
    /// The last request to mute or unmute it.
    var lastMute: UInt64 = 0
    var isUnpublished = false
    var isTalking = false
    /// Whether it has said what all must hear when all is well.
    var hasSpoken = false
    /// Until when it talks, or is silent.
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
