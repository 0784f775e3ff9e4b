public import Wire

/// The state of a room as currently known.
public struct RoomSnapshot: Sendable, Hashable {
    public internal(set) var room: RoomInfo
    /// The local participant, with its tracks.
    public internal(set) var local: ParticipantInfo
    /// The other participants with their tracks, in the order of their arrival.
    public internal(set) var participants: [ParticipantInfo]

    init(_ hello: Hello) {
        room = hello.room
        local = hello.participant
        local.tracks = local.tracks ?? []
        participants = hello.participants
    }

    /// The tracks of the other participants.
    public var tracks: [TrackInfo] { participants.flatMap { $0.tracks ?? [] } }

    /// Updates the snapshot with an event.
    mutating func apply(_ event: Event) {
        switch event {
        case .hello(let hello): self = RoomSnapshot(hello)
        case .participantJoined(let info), .agentJoined(let info), .participantUpdated(let info, _): upsert(info)
        case .participantLeft(let identity, _): participants.removeAll { $0.identity == identity }
        case .trackPublished(let track):
            changeTracks(of: track.participant) { tracks in
                tracks.removeAll { $0.sid == track.sid }
                tracks.append(track)
            }
        case .trackUnpublished(let sid, let identity): changeTracks(of: identity) { $0.removeAll { $0.sid == sid } }
        case .trackMuted(let sid, let identity): changeTracks(of: identity) { $0.setMuted(true, sid) }
        case .trackUnmuted(let sid, let identity): changeTracks(of: identity) { $0.setMuted(false, sid) }
        case .roomUpdated(let room): self.room = room
        default: break
        }
    }

    /// The events that lead from this state to a later one. Own tracks are described by replies, and are not compared except for mutes.
    func changes(to later: RoomSnapshot) -> [Event] {
        let sids = Set(later.participants.map(\.sid))
        var events = participants.filter { !sids.contains($0.sid) }.flatMap { gone in
            gone.removals(of: gone.tracks ?? []) + [.participantLeft(gone.identity, reason: .unknown)]
        }
        if room != later.room { events.append(.roomUpdated(later.room)) }
        events += local.updates(to: later.local)
        for info in later.participants {
            guard let known = participants.first(where: { $0.sid == info.sid }) else {
                events.append(.participantJoined(info))
                continue
            }
            let (before, after) = (known.tracks ?? [], info.tracks ?? [])
            events += known.removals(of: before.filter { track in !after.contains { $0.sid == track.sid } })
            events += known.updates(to: info)
            events += after.filter { track in !before.contains { $0.sid == track.sid } }.map { .trackPublished($0) }
        }
        return events
    }

    private mutating func upsert(_ info: ParticipantInfo) {
        if info.identity == local.identity {
            local = info.keeping(local.tracks)
        } else if let index = participants.firstIndex(where: { $0.identity == info.identity }) {
            participants[index] = info.keeping(participants[index].tracks)
        } else {
            participants.append(info.keeping([]))
        }
    }

    private mutating func changeTracks(of identity: Identity, _ body: (inout [TrackInfo]) -> Void) {
        if identity == local.identity {
            body(&local.tracks.orEmpty)
        } else if let index = participants.firstIndex(where: { $0.identity == identity }) {
            body(&participants[index].tracks.orEmpty)
        }
    }
}

extension ParticipantInfo {
    /// Keeps the known tracks: messages without tracks do not change them.
    fileprivate func keeping(_ known: [TrackInfo]?) -> ParticipantInfo {
        var info = self
        info.tracks = tracks ?? known
        return info
    }
}

extension ParticipantInfo {
    fileprivate func removals(of tracks: [TrackInfo]) -> [Event] { tracks.map { .trackUnpublished($0.sid, of: identity) } }

    /// Changes of the description, and of the mute state of tracks in both.
    fileprivate func updates(to later: ParticipantInfo) -> [Event] {
        var (before, after) = (self, later)
        (before.tracks, after.tracks) = (nil, nil)
        let mutes = (tracks ?? []).compactMap { track -> Event? in
            guard let muted = later.tracks?.first(where: { $0.sid == track.sid })?.muted, muted != track.muted else { return nil }
            return muted ? .trackMuted(track.sid, of: identity) : .trackUnmuted(track.sid, of: identity)
        }
        return (before == after ? [] : [.participantUpdated(after, connection: .connected)]) + mutes
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
