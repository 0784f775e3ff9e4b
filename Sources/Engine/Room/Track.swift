import Wire

/// One published track as its room knows it.
struct Track: Sendable {
    var info: TrackInfo
    /// Another one after it came back.
    var publisher: ParticipantHandle
    let publisherSID: ParticipantSID
    /// When one of its samples was heard, or will be: from it follows the time of all others.
    var anchor: (time: MediaTime, instant: Instant)?
    var talk = Talkspurt()

    /// What its patch lets through. Being held goes before being muted, which is remembered for later.
    func gate(by publisher: Member) -> Room.Gate {
        publisher.isHeld ? .held : info.muted || publisher.isMutedByAdmin ? .muted : .open
    }
}
