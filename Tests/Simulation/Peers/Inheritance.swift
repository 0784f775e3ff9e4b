internal import Engine
internal import Wire

/// What a peer remembers of its last connection when it opens the next one, to go on from there.
struct Inheritance {
    let hello: Hello
    let lastSeq: UInt64
    let permission: Permission
    let forbiddenSince: Instant?
    let others: Set<Identity>
    let tracks: [TrackSID: (participant: Identity, alias: TrackAlias)]
    let trackOrder: [TrackSID]
    let named: [UInt16: TrackSID]
    let talking: Set<TrackSID>
    let playing: Set<TrackSID>
    let lastLeft: Identity?
    let revisions: [String: Int]
    let lastData: [Identity: Int]
    let lastHeard: [TrackSID: Int]
    let published: [OwnTrack]
    let lastID: UInt64
    let epochs: [TrackSID: UInt8]
    let marks: Set<String>
    let lastMark: Int

    init?(from stay: Stay) {
        // Whoever was let in again and lost that before it was greeted has still the token that it came with.
        guard let hello = stay.hello ?? (stay.isResumed ? stay.inheritance?.hello : nil), !stay.isDismissed else { return nil }
        self.hello = hello
        lastSeq = stay.lastSeq
        permission = stay.permission
        forbiddenSince = stay.forbiddenSince
        others = stay.others
        tracks = stay.tracks
        trackOrder = stay.trackOrder
        named = stay.named
        talking = stay.talking
        playing = stay.playing
        lastLeft = stay.lastLeft
        revisions = stay.revisions
        lastData = stay.lastData
        lastHeard = stay.lastHeard
        published = stay.published
        lastID = stay.lastID
        epochs = stay.epochs
        marks = stay.marks
        lastMark = stay.lastMark
    }
}

extension Stay {
    /// The place was taken back: what was known is known, and what follows comes after it.
    func adopt(_ past: Inheritance) {
        isResumed = true
        lastSeq = past.lastSeq
        permission = past.permission
        forbiddenSince = past.forbiddenSince
        others = past.others
        tracks = past.tracks
        trackOrder = past.trackOrder
        named = past.named
        talking = past.talking
        playing = past.playing
        lastLeft = past.lastLeft
        revisions = past.revisions
        lastData = past.lastData
        published = past.published
        lastID = past.lastID
        epochs = past.epochs
        marks = past.marks
        lastMark = past.lastMark
        // Speech that was kept is heard from where it was, or again.
        lastHeard = past.lastHeard
        heardBefore = Set(past.lastHeard.keys)
        listensAnew = Set(epochs.keys)
        for track in epochs.keys { lastHeard[track] = nil }
    }

    /// The greeting after a resume: it must tell just what was known, or was told since.
    func welcomeBack(_ hello: Hello, after past: Hello) {
        world.expect(hello.resumed == true, "\(self) is back and is not told so")
        world.expect(hello.participant.sid == past.participant.sid, "\(self) is back under another sid")
        world.expect(hello.room.sid == past.room.sid, "\(self) is back in another room")
        world.expect(
            Set(hello.participants.map(\.identity)) == others,
            "\(self) is back and finds \(hello.participants.map(\.identity)), where it knew of \(others)")
        var there: Set<TrackSID> = []
        for info in hello.participants.flatMap({ $0.tracks ?? [] }) {
            there.insert(info.sid)
            world.expect(tracks[info.sid]?.alias == info.alias, "\(self) is back and finds a track that it was not told of")
            // An epoch may have been raised, of which it is told when that is done.
            if let epoch = epochs[info.sid], info.epoch &- epoch < 128 { epochs[info.sid] = info.epoch }
        }
        for (sid, track) in tracks where track.participant != peer.identity {
            world.expect(there.contains(sid), "\(self) is back and does not find \(sid)")
        }
        takeStock(of: hello.participant.tracks ?? [])
    }

    /// Its own tracks: an answer may have been missed.
    private func takeStock(of mine: [TrackInfo]) {
        for place in published.indices {
            if let info = mine.first(where: { $0.sid == published[place].sid }) {
                published[place].isMuted = info.muted
                published[place].lastMute = 0
                published[place].epoch = info.epoch
                world.agenda.add(.speaks(stay: number, track: place), at: world.now)
            } else {
                published[place].isUnpublished = true
            }
        }
        for info in mine where !published.contains(where: { $0.sid == info.sid }) { begin(info) }
    }
}
