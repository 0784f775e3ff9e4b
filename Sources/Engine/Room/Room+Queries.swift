package import Wire

extension Room {
    /// Why this participant may not come in, or nil if it may. Dependent ones neither count nor are counted, and whoever
    /// takes the index of its own identity does not count twice.
    package func admissionError(for admission: Admission) -> JoinError? {
        if isOver { return .roomClosed }
        guard settings.maxParticipants > 0, !admission.kind.isDependent else { return nil }
        let replaced = handles[admission.identity].flatMap { members[$0] }
        let others = independentCount - (replaced.map { $0.kind.isDependent ? 0 : 1 } ?? 0)
        return others < settings.maxParticipants ? nil : .roomFull
    }

    /// What a shell remembers of a room between two inputs, so as not to ask it in vain.
    package struct Status: Sendable, Hashable {
        package var deadline: Instant?
        /// Nil where the number of participants has no limit.
        package var limitedParticipantCount: Int?

        package init() {}
    }

    /// Mutating in name only: what only looks is given a copy of the room, which takes longer than to look.
    package mutating func status() -> Status {
        var status = Status()
        status.deadline = deadline
        if isLimited { status.limitedParticipantCount = participantCount }
        return status
    }

    /// Whether the number of participants has a limit.
    package var isLimited: Bool { settings.maxParticipants > 0 }

    /// Those who take all indices, nil while one is free. Linear in participants.
    package var identitiesWhenFull: Set<Identity>? {
        guard isLimited, independentCount >= settings.maxParticipants else { return nil }
        return Set(members.values.lazy.filter { !$0.kind.isDependent }.map(\.identity))
    }

    package var info: RoomInfo {
        RoomInfo(sid: sid, name: name, metadata: settings.metadata, createdAt: createdAt, maxParticipants: settings.maxParticipants)
    }

    /// Everybody with their tracks, the hidden too: for administrators. Linear in participants and tracks.
    package var participants: [ParticipantInfo] {
        members.values.map { $0.info(tracks: trackInfos(of: $0)) }
    }

    /// Nobody at all is in the room, not even an agent.
    package var isEmpty: Bool { members.isEmpty }

    /// Without those who are dependent, as LiveKit's `num_participants`.
    package var participantCount: Int { independentCount }

    /// All who publish something, as LiveKit's `num_publishers`. Linear in tracks.
    package var publisherCount: Int { Set(tracks.values.lazy.map(\.publisher)).count }

    package var trackCount: Int { tracks.count }

    package func handle(of identity: Identity) -> ParticipantHandle? { handles[identity] }

    func trackInfos(of member: Member) -> [TrackInfo] {
        member.tracks.compactMap { tracks[$0]?.info }
    }
}
