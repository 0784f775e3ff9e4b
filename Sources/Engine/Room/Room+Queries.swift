package import Wire

/// Answers to the shell and to administrators. Nothing changes.
extension Room {
    /// The reason to reject an admission, or nil.
    package func admissionError(for admission: Admission) -> JoinError? {
        if isOver { return .roomClosed }
        guard isLimited, !admission.kind.isDependent else { return nil }
        return members.independentCount(without: admission.identity) < settings.maxParticipants ? nil : .roomFull
    }

    /// The part of a room's state that a shell caches between inputs.
    package struct Status: Sendable, Hashable {
        package var deadline: Instant?
        /// Nil if the room has no participant limit.
        package var limitedParticipantCount: Int?

        package init() {}
    }

    /// Marked mutating so that callers do not copy the room to read it.
    package mutating func status() -> Status {
        var status = Status()
        status.deadline = deadline
        if isLimited { status.limitedParticipantCount = participantCount }
        return status
    }

    /// Whether the room has a participant limit.
    package var isLimited: Bool { settings.maxParticipants > 0 }

    /// Identities that fill the room, nil while a slot is free. Linear in participants.
    package var identitiesWhenFull: Set<Identity>? {
        guard isLimited, members.independentCount >= settings.maxParticipants else { return nil }
        return Set(members.participants.lazy.filter { !$0.kind.isDependent }.map(\.identity))
    }

    /// All participants with their tracks, including hidden ones; for administrators. Linear in participants and tracks.
    package var participants: [ParticipantInfo] {
        members.participants.map { $0.info(tracks: trackInfos(of: $0)) }
    }

    /// The participants whose connection is lost, and since when, hidden ones included; for administrators. Linear in participants.
    package var reconnecting: [(identity: Identity, since: Instant)] {
        members.participants.compactMap { participant in participant.connection.reconnectWindow.map { (participant.identity, $0.since) } }
    }

    /// Whether a participant is on hold or muted as a whole; nil if it is not here.
    package func callMedia(of identity: Identity) -> CallMediaState? {
        members[identity]?.callMedia
    }

    /// The participants' connections, including hidden ones; for administrators. O(n) in participants.
    package var connections: [ConnectionReport] {
        members.participants.map { participant in
            ConnectionReport(
                identity: participant.identity, kind: participant.kind, quality: participant.status.quality.level,
                measurement: participant.status.quality.measurement, lostSince: participant.connection.reconnectWindow?.since)
        }
    }

    /// Assistants whose jobs wait for their agents.
    package var agentsExpected: [AgentRequest] {
        members.awaited.expectedIdentities.compactMap { identity in
            guard case .assistant(let id) = CallParty(identity) else { return nil }
            return settings.agents.first { $0.assistant == id } ?? AgentRequest(assistant: id)
        }
    }

    /// Whether no participant is present, agents included.
    package var isEmpty: Bool { members.isEmpty }

    /// Number of participants without dependent ones (LiveKit's `num_participants`).
    package var participantCount: Int { members.independentCount }

    /// Number of participants with tracks (LiveKit's `num_publishers`). Linear in tracks.
    package var publisherCount: Int { Set(tracks.values.lazy.map(\.publisher)).count }

    package var trackCount: Int { tracks.count }

    package func handle(of identity: Identity) -> ParticipantHandle? { members.handle(of: identity) }

    func trackInfos(of participant: Participant) -> [TrackInfo] {
        participant.tracks.compactMap { tracks[$0]?.info }
    }
}
