import Wire

extension Room {
    /// Takes somebody out and tells the others. Where the room itself ends the connection, `close` says how.
    ///
    /// All that names the leaver comes first; from then on it is unknown.
    mutating func depart(
        _ handle: ParticipantHandle, _ reason: DisconnectReason, closing close: CloseReason? = nil, at now: Instant,
        into effects: inout [Effect]
    ) {
        guard let member = members[handle] else { return }
        for sid in member.tracks {
            if let track = tracks[sid] { untap(track, into: &effects) }
            if let track = tracks[sid] { patch(.unpublish(track.info.alias, by: handle), into: &effects) }
        }
        for track in tracks.values where member.isSubscribed(to: track) {
            patch(.unsubscribe(handle, to: track.info.alias, of: track.publisher), into: &effects)
        }
        let listenedTo = tracks.values.filter { member.isSubscribed(to: $0) }.map(\.info.sid)
        if let close {
            if close != .left, member.reconnectWindow == nil { send(.bye(reason, retryable: close.isRetryable), to: [handle], into: &effects) }
            emit(.close(handle, close), into: &effects)
        }
        members.remove(handle)
        if members.isEmpty { handles = [:] } else { handles[member.identity] = nil }
        for sid in listenedTo { forgetProgress(of: member.identity, on: sid, at: now, into: &effects) }
        for sid in member.tracks { removeTrack(sid, at: now, into: &effects) }
        sendSpeakerChanges(at: now, into: &effects)
        sendDeparture(of: member, reason, into: &effects)
        abandonProcedures(of: handle, into: &effects)
        guard !member.kind.isDependent else { return }
        independentCount -= 1
        if independentCount == 0 {
            emptyRoomTimeout.restart(at: now)
            wakeUp.include(emptyRoomTimeout.deadline)
        }
    }

    private func sendDeparture(of member: Member, _ reason: DisconnectReason, into effects: inout [Effect]) {
        let witnesses = witnesses(of: member)
        send(.participantLeft(member.identity, reason: reason), to: witnesses, into: &effects)
        if member.kind == .agent, !reason.isIntended {
            send(.agentLost(member.identity, reason: reason), to: witnesses, into: &effects)
        }
        tell(.left(member.info(tracks: []), sessionID: member.sessionID, reason), into: &effects)
    }

    /// Ends the room with everybody who is still in it.
    mutating func close(_ reason: DisconnectReason, at now: Instant, into effects: inout [Effect]) {
        for index in 0..<tracks.count { interruptTalk(at: index, .left, now: now, into: &effects) }
        send(.bye(reason, retryable: CloseReason.roomClosed.isRetryable), to: everyone, into: &effects)
        for track in tracks.values { untap(track, into: &effects) }
        for track in tracks.values { patch(.unpublish(track.info.alias, by: track.publisher), into: &effects) }
        reportEnd(reason, into: &effects)
        for handle in everyone { emit(.close(handle, .roomClosed), into: &effects) }
        members.removeAll()
        handles = [:]
        independentCount = 0
        tracks.removeAll()
        playouts.removeAll()
        isOver = true
        emit(.closed, into: &effects)
    }

    private mutating func reportEnd(_ reason: DisconnectReason, into effects: inout [Effect]) {
        defer { recording = nil }
        guard settings.reporting.reportsEvents else { return }
        // Made once: everybody leaves it.
        let snapshot = snapshot
        var facts: [AuditEvent] = recording.map { [.recordingStopped($0, .asked)] } ?? []
        facts += tracks.values.map { .unpublished($0.info, by: $0.publisherSID) }
        facts += members.values.map { .left($0.info(tracks: []), sessionID: $0.sessionID, reason) }
        facts.append(.finished(reason))
        for fact in facts { emit(.record(fact, snapshot), into: &effects) }
    }
}

extension DisconnectReason {
    /// Somebody wanted it so: an agent that goes for such a reason is not lost.
    fileprivate var isIntended: Bool {
        switch self {
        case .clientInitiated, .participantRemoved, .roomDeleted, .roomClosed, .duplicateIdentity: true
        default: false
        }
    }
}
