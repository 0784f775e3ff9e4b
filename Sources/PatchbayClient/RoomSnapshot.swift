public import Wire

/// A room as it is known at this moment.
public struct RoomSnapshot: Sendable, Hashable {
    public internal(set) var room: RoomInfo
    /// Ourselves, with our tracks.
    public internal(set) var local: ParticipantInfo
    /// The others, in the order in which we learnt of them, each with its tracks.
    public internal(set) var participants: [ParticipantInfo]

    init(_ hello: Hello) {
        room = hello.room
        local = hello.participant
        local.tracks = local.tracks ?? []
        participants = hello.participants
    }

    /// All tracks of the others.
    public var tracks: [TrackInfo] { participants.flatMap { $0.tracks ?? [] } }

    /// Takes in what has happened.
    mutating func apply(_ event: Event) {
        switch event {
        case .hello(let hello): self = RoomSnapshot(hello)
        case .participantJoined(let info), .agentJoined(let info), .participantUpdated(let info, _): put(info)
        case .participantLeft(let who, _): participants.removeAll { $0.identity == who }
        case .trackPublished(let track):
            change(track.participant) { tracks in
                tracks.removeAll { $0.sid == track.sid }
                tracks.append(track)
            }
        case .trackUnpublished(let sid, let who): change(who) { $0.removeAll { $0.sid == sid } }
        case .trackMuted(let sid, let who): change(who) { $0.setMuted(true, sid) }
        case .trackUnmuted(let sid, let who): change(who) { $0.setMuted(false, sid) }
        case .roomUpdated(let room): self.room = room
        default: break
        }
    }

    private mutating func put(_ info: ParticipantInfo) {
        if info.identity == local.identity {
            local = info.keeping(local.tracks)
        } else if let index = participants.firstIndex(where: { $0.identity == info.identity }) {
            participants[index] = info.keeping(participants[index].tracks)
        } else {
            participants.append(info.keeping([]))
        }
    }

    private mutating func change(_ who: Identity, _ body: (inout [TrackInfo]) -> Void) {
        if who == local.identity {
            body(&local.tracks.orEmpty)
        } else if let index = participants.firstIndex(where: { $0.identity == who }) {
            body(&participants[index].tracks.orEmpty)
        }
    }
}

extension ParticipantInfo {
    /// Messages that do not tell of tracks say nothing about them.
    fileprivate func keeping(_ known: [TrackInfo]?) -> ParticipantInfo {
        var info = self
        info.tracks = tracks ?? known
        return info
    }
}

extension [TrackInfo]? {
    fileprivate var orEmpty: [TrackInfo] {
        get { self ?? [] }
        set { self = newValue }
    }
}

extension [TrackInfo] {
    fileprivate mutating func setMuted(_ muted: Bool, _ sid: TrackSID) {
        if let index = firstIndex(where: { $0.sid == sid }) { self[index].muted = muted }
    }
}
