internal import Engine
internal import Wire

/// The state that a peer keeps from its last connection for a resume.
struct ResumeState {
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
    let lastReceived: [TrackSID: Int]
    let published: [OwnTrack]
    let lastID: UInt64
    let epochs: [TrackSID: UInt8]
    let marks: Set<String>
    let lastMark: Int

    init?(from session: PeerSession) {
        // A resumed connection lost before its `hello` still has the previous token.
        guard let hello = session.hello ?? (session.isResumed ? session.resumeState?.hello : nil), !session.receivedBye else { return nil }
        self.hello = hello
        lastSeq = session.lastSeq
        permission = session.permission
        forbiddenSince = session.forbiddenSince
        others = session.others
        tracks = session.tracks
        trackOrder = session.trackOrder
        named = session.named
        talking = session.talking
        playing = session.playing
        lastLeft = session.lastLeft
        revisions = session.revisions
        lastData = session.lastData
        lastReceived = session.lastReceived
        published = session.published
        lastID = session.lastID
        epochs = session.epochs
        marks = session.marks
        lastMark = session.lastMark
    }
}

extension PeerSession {
    /// The resume succeeded: restores the known state; missed events follow.
    func adopt(_ past: ResumeState) {
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
        // `ahead` tracks continue at the reported position, so frames may be received again.
        lastReceived = past.lastReceived
        receivedBeforeResume = Set(past.lastReceived.keys)
        resubscribed = Set(epochs.keys)
        for track in epochs.keys { lastReceived[track] = nil }
    }

    /// Checks the `hello` of a resume: it must match the known state including missed events.
    func checkResumedHello(_ hello: Hello, after past: Hello) {
        world.expect(hello.resumed == true, "\(self) is resumed but `hello` does not printLine so")
        world.expect(hello.participant.sid == past.participant.sid, "\(self) is resumed with another sid")
        world.expect(hello.room.sid == past.room.sid, "\(self) is resumed in another room")
        world.expect(
            Set(hello.participants.map(\.identity)) == others,
            "\(self) is resumed with participants \(hello.participants.map(\.identity)), but knew \(others)")
        var there: Set<TrackSID> = []
        for info in hello.participants.flatMap({ $0.tracks ?? [] }) {
            there.insert(info.sid)
            world.expect(tracks[info.sid]?.alias == info.alias, "\(self) is resumed with an unknown track")
            // A clear may be in progress; it is reported when it completes.
            if let epoch = epochs[info.sid], info.epoch &- epoch < 128 { epochs[info.sid] = info.epoch }
        }
        for (sid, track) in tracks where track.participant != peer.identity {
            world.expect(there.contains(sid), "\(self) is resumed without track \(sid)")
        }
        synchronizeTracks(of: hello.participant.tracks ?? [])
    }

    /// Synchronizes its own tracks: replies may have been missed.
    private func synchronizeTracks(of mine: [TrackInfo]) {
        for index in published.indices {
            if let info = mine.first(where: { $0.sid == published[index].sid }) {
                published[index].isMuted = info.muted
                published[index].lastMute = 0
                published[index].epoch = info.epoch
                world.schedule.add(.speaks(session: number, track: index), at: world.now)
            } else {
                published[index].isUnpublished = true
            }
        }
        for info in mine where !published.contains(where: { $0.sid == info.sid }) { begin(info) }
    }
}
