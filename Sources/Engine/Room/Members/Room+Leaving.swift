package import Wire

extension Room {
    /// Removes a participant and notifies the others. If the room itself ends the connection, `close` gives the reason.
    ///
    /// All effects that name the participant come before it is removed.
    mutating func depart(_ handle: ParticipantHandle, _ reason: DisconnectReason, closing close: CloseReason? = nil) {
        guard let participant = members[handle] else { return }
        for sid in participant.tracks {
            if let track = tracks[sid] { untap(track) }
            if let track = tracks[sid] { patch(.unpublish(track.info.alias, by: handle)) }
        }
        for track in tracks.values where participant.isSubscribed(to: track) {
            patch(.unsubscribe(handle, to: track.info.alias, of: track.publisher))
        }
        let subscribedTo = tracks.values.filter { participant.isSubscribed(to: $0) }.map(\.info.sid)
        if let close {
            if close != .left, !participant.connection.isLost {
                send(.bye(reason, retryable: close.isRetryable), to: [handle])
            }
            emit(.close(handle, close))
        }
        members.remove(handle)
        for sid in subscribedTo { removeProgress(of: participant.identity, on: sid) }
        for sid in participant.tracks { removeTrack(sid) }
        sendSpeakerChanges()
        sendDeparture(of: participant, reason)
        abandonProcedures(of: handle)
        members.countDeparture(of: participant, at: now)
        wakeUp(by: members.emptyDeadline)
        if members.independentCount == 0, !participant.kind.isDependent { reportAttendance(false) }
    }

    private mutating func sendDeparture(of participant: Participant, _ reason: DisconnectReason) {
        let witnesses = members.witnesses(of: participant)
        send(.participantLeft(participant.identity, reason: reason), to: witnesses)
        if participant.kind == .agent, !reason.isIntended {
            send(.agentLost(participant.identity, reason: reason), to: witnesses)
        }
        audit(.left(participant.info(tracks: []), sessionID: participant.stay.session, reason))
        // The same identity joins next.
        if reason != .duplicateIdentity { report(.left(reason), of: participant) }
    }
}

/// The end of the room.
extension Room {
    /// Ends the room and disconnects all participants.
    mutating func close(_ reason: DisconnectReason) {
        for index in 0..<tracks.count { interruptTalk(at: index, .left) }
        send(.bye(reason, retryable: CloseReason.roomClosed.isRetryable), to: everyone)
        for track in tracks.values { untap(track) }
        for track in tracks.values { patch(.unpublish(track.info.alias, by: track.publisher)) }
        reportEnd(reason)
        for handle in everyone { emit(.close(handle, .roomClosed)) }
        end()
    }

    /// Ends the room here, while it continues on another node.
    mutating func abandon() {
        for track in tracks.values { untap(track) }
        for track in tracks.values { patch(.unpublish(track.info.alias, by: track.publisher)) }
        send(.bye(.migration, retryable: true), to: everyone)
        for handle in everyone { emit(.close(handle, .moved)) }
        end()
    }

    private mutating func end() {
        abandonAdministrativeProcedures()
        members.removeAll()
        tracks.removeAll()
        phase = .over
        emit(.closed)
    }

    private mutating func reportEnd(_ reason: DisconnectReason) {
        defer { recording = nil }
        guard settings.reporting.reportsEvents else { return }
        // One snapshot serves all events.
        let snapshot = snapshot
        var events: [AuditEvent] = recording.map { [.recordingStopped($0, .asked)] } ?? []
        events += tracks.values.map { .unpublished($0.info, by: $0.publisherSID) }
        events += members.participants.map { .left($0.info(tracks: []), sessionID: $0.stay.session, reason) }
        events.append(.finished(reason))
        for event in events { emit(.record(event, snapshot)) }
    }
}

extension DisconnectReason {
    /// Whether the departure was intended: an agent that leaves for such a reason is not reported as lost.
    package var isIntended: Bool {
        switch self {
        case .clientInitiated, .participantRemoved, .roomDeleted, .roomClosed, .duplicateIdentity: true
        default: false
        }
    }
}
