import Wire

extension Room {
    mutating func join(_ handle: ParticipantHandle, _ admission: Admission, at now: Instant, into effects: inout [Effect]) {
        precondition(!roster.contains(handle), "a seat cannot join twice; its generation must change")
        guard admissionError(for: admission) == nil else {
            // The shell checked before the upgrade, but another participant took the last slot meanwhile.
            effects.append(.close(handle, .limit))
            reportAborted(handle, admission, at: now, into: &effects)
            return
        }
        if let index = resumable(by: admission) {
            resume(index, as: handle, admission, at: now, into: &effects)
            return
        }
        if let old = handles[admission.identity] {
            depart(old, .duplicateIdentity, closing: .duplicateIdentity, at: now, into: &effects)
        }
        let participant = Participant(
            admission, handle: handle, sid: identifiers.participant(), silenceLimit: settings.silenceLimit, at: now)
        roster.append(participant, for: handle)
        handles[participant.identity] = handle
        wakeUp.include(participant.refreshAt)
        if !participant.kind.isDependent {
            independentCount += 1
            emptyRoomTimeout.cancel()
        }
        welcome(participant, admission, into: &effects)
        let joined = participant.info(tracks: [])
        send(.participantJoined(joined), to: witnesses(of: participant), into: &effects)
        if participant.kind == .agent { send(.agentJoined(joined), to: witnesses(of: participant), into: &effects) }
        tell(.joined(joined, sessionID: participant.sessionID), into: &effects)
        for track in tracks.values where participant.isSubscribed(to: track) {
            subscribe(handle, to: track, into: &effects)
        }
    }

    private mutating func reportAborted(
        _ handle: ParticipantHandle, _ admission: Admission, at now: Instant, into effects: inout [Effect]
    ) {
        guard settings.reporting.reportsEvents else { return }
        let participant = Participant(admission, handle: handle, sid: identifiers.participant(), silenceLimit: settings.silenceLimit, at: now)
        tell(.aborted(participant.info(tracks: []), sessionID: participant.sessionID, .joinFailure), into: &effects)
    }

    /// Sends the current state to a participant that joins, so that later events (a stop, a change) refer to something it knows.
    private func welcome(_ participant: Participant, _ admission: Admission, into effects: inout [Effect]) {
        let others = roster.values.filter { !$0.isHidden && $0.handle != participant.handle }
        let resumed = admission.resuming == nil ? nil : false
        send(.hello(hello(for: participant, admission, resumed: resumed)), to: [participant.handle], into: &effects)
        if let recording { replay(.recordingStarted(recording), to: participant, into: &effects) }
        for segment in transcript.segments where participant.receivesText { replay(.segment(segment), to: participant, into: &effects) }
        for other in others where other.isHeld { replay(.callHeld(by: other.identity), to: participant, into: &effects) }
        for other in others where other.isMutedByAdmin { replay(.callMuted(by: other.identity), to: participant, into: &effects) }
        for other in others where other.reconnectWindow != nil {
            replay(.participantUpdated(other.info(), connection: .reconnecting), to: participant, into: &effects)
        }
        for other in others where other.quality.level != .excellent {
            replay(.qualityChanged(other.identity, other.quality.level), to: participant, into: &effects)
        }
        for track in tracks.values {
            guard let start = track.talk.start else { continue }
            replay(.talkStarted(track.info.participant, track.info.sid, at: start), to: participant, into: &effects)
        }
        for (sid, playout) in zip(playouts.keys, playouts.values) {
            guard let utterance = playout.utterance, let info = tracks[sid]?.info else { continue }
            replay(.playoutStarted(sid, of: info.participant, epoch: playout.epoch, at: utterance.first), to: participant, into: &effects)
        }
        if !speakers.active.isEmpty { replay(.speakersChanged(speakers.active), to: participant, into: &effects) }
    }

    private func replay(_ event: Event, to participant: Participant, into effects: inout [Effect]) {
        emit(.replay(event, to: participant.handle), into: &effects)
    }

    /// - Parameter resumed: as on the wire. A resuming client gets its own tracks too, because it may have missed an answer.
    func hello(for participant: Participant, _ admission: Admission, resumed: Bool?) -> Hello {
        let others = roster.values.filter { !$0.isHidden && $0.handle != participant.handle }
        return Hello(
            server: admission.server, room: info, participant: participant.info(tracks: resumed == true ? trackInfos(of: participant) : nil),
            participants: others.map { $0.info(tracks: trackInfos(of: $0)) }, sessionId: admission.sessionID,
            session: participant.kind == .agent ? admission.briefing : nil, resumeToken: admission.resumeToken, resumed: resumed)
    }
}

extension Room {
    /// Removes a participant and notifies the others. If the room itself ends the connection, `close` gives the reason.
    ///
    /// All effects that name the participant come before it is removed.
    mutating func depart(
        _ handle: ParticipantHandle, _ reason: DisconnectReason, closing close: CloseReason? = nil, at now: Instant,
        into effects: inout [Effect]
    ) {
        guard let participant = roster[handle] else { return }
        for sid in participant.tracks {
            if let track = tracks[sid] { untap(track, into: &effects) }
            if let track = tracks[sid] { patch(.unpublish(track.info.alias, by: handle), into: &effects) }
        }
        for track in tracks.values where participant.isSubscribed(to: track) {
            patch(.unsubscribe(handle, to: track.info.alias, of: track.publisher), into: &effects)
        }
        let listenedTo = tracks.values.filter { participant.isSubscribed(to: $0) }.map(\.info.sid)
        if let close {
            if close != .left, participant.reconnectWindow == nil { send(.bye(reason, retryable: close.isRetryable), to: [handle], into: &effects) }
            emit(.close(handle, close), into: &effects)
        }
        roster.remove(handle)
        if roster.isEmpty { handles = [:] } else { handles[participant.identity] = nil }
        for sid in listenedTo { forgetProgress(of: participant.identity, on: sid, at: now, into: &effects) }
        for sid in participant.tracks { removeTrack(sid, at: now, into: &effects) }
        sendSpeakerChanges(at: now, into: &effects)
        sendDeparture(of: participant, reason, into: &effects)
        abandonProcedures(of: handle, into: &effects)
        guard !participant.kind.isDependent else { return }
        independentCount -= 1
        if independentCount == 0 {
            emptyRoomTimeout.restart(at: now)
            wakeUp.include(emptyRoomTimeout.deadline)
        }
    }

    private func sendDeparture(of participant: Participant, _ reason: DisconnectReason, into effects: inout [Effect]) {
        let witnesses = witnesses(of: participant)
        send(.participantLeft(participant.identity, reason: reason), to: witnesses, into: &effects)
        if participant.kind == .agent, !reason.isIntended {
            send(.agentLost(participant.identity, reason: reason), to: witnesses, into: &effects)
        }
        tell(.left(participant.info(tracks: []), sessionID: participant.sessionID, reason), into: &effects)
    }

    /// Ends the room and disconnects all participants.
    mutating func close(_ reason: DisconnectReason, at now: Instant, into effects: inout [Effect]) {
        for index in 0..<tracks.count { interruptTalk(at: index, .left, now: now, into: &effects) }
        send(.bye(reason, retryable: CloseReason.roomClosed.isRetryable), to: everyone, into: &effects)
        for track in tracks.values { untap(track, into: &effects) }
        for track in tracks.values { patch(.unpublish(track.info.alias, by: track.publisher), into: &effects) }
        reportEnd(reason, into: &effects)
        for handle in everyone { emit(.close(handle, .roomClosed), into: &effects) }
        roster.removeAll()
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
        // One snapshot serves all events.
        let snapshot = snapshot
        var facts: [AuditEvent] = recording.map { [.recordingStopped($0, .asked)] } ?? []
        facts += tracks.values.map { .unpublished($0.info, by: $0.publisherSID) }
        facts += roster.values.map { .left($0.info(tracks: []), sessionID: $0.sessionID, reason) }
        facts.append(.finished(reason))
        for fact in facts { emit(.record(fact, snapshot), into: &effects) }
    }
}

extension DisconnectReason {
    /// Whether the departure was intended: an agent that leaves for such a reason is not reported as lost.
    fileprivate var isIntended: Bool {
        switch self {
        case .clientInitiated, .participantRemoved, .roomDeleted, .roomClosed, .duplicateIdentity: true
        default: false
        }
    }
}

/// Resuming: a participant that loses its connection is kept for a while, and a client that presents its resume token takes over.
///
/// To the room a resumed participant is the same one under another handle: its state stays, patches are replaced, and its
/// subscribers and publishers see no event.
extension Room {
    /// The participant that an admission resumes: the one of its own identity, if the resume token matches. Nil is a fresh join.
    ///
    /// A stolen resume token is useless, because the identity comes from the access token.
    package func resumable(by admission: Admission) -> ParticipantHandle? {
        guard let shown = admission.resuming, let handle = handles[admission.identity], let participant = roster[handle],
            participant.sessionID == admission.sessionID, participant.kind == admission.kind, participant.receivesText == admission.receivesText,
            !shown.isEmpty
        else { return nil }
        let isNewest = isSameSecret(shown, participant.resumeToken)
        let isFormer = participant.formerToken.map { isSameSecret(shown, $0) } ?? false
        return isNewest || isFormer ? handle : nil
    }

    /// Handles a lost connection: keeps the participant for the resume window and reports it as reconnecting.
    mutating func loseConnection(of handle: ParticipantHandle, _ reason: DisconnectReason, at now: Instant, into effects: inout [Effect]) {
        guard let index = roster.index(of: handle), roster[at: index].reconnectWindow == nil else { return }
        let reconnectWindow = ReconnectWindow(until: now + settings.resumeWindow, reason: reason)
        roster[at: index].reconnectWindow = reconnectWindow
        procedures.forgetRequests(of: handle)
        // A draining gateway accepts no joins, so nobody could resume.
        guard reconnectWindow.until > now, !isDraining else {
            depart(handle, reason, closing: .resumeWindowOver, at: now, into: &effects)
            return
        }
        wakeUp.include(reconnectWindow.until)
        let participant = roster[at: index]
        send(.participantUpdated(participant.info(), connection: .reconnecting), to: witnesses(of: participant), into: &effects)
    }

    /// Moves a participant to another socket. The old one may still be open.
    mutating func resume(
        _ old: ParticipantHandle, as new: ParticipantHandle, _ admission: Admission, at now: Instant, into effects: inout [Effect]
    ) {
        guard let index = roster.index(of: old) else { return }
        let heard = tracks.values.filter { roster[at: index].isSubscribed(to: $0) }
        for track in heard { patch(.unsubscribe(old, to: track.info.alias, of: track.publisher), into: &effects) }
        let wasAway = roster[at: index].reconnectWindow != nil
        rename(old, to: new)
        roster[at: index].reconnectWindow = nil
        roster[at: index].formerToken = admission.resuming
        roster[at: index].resumeToken = admission.resumeToken
        let participant = roster[at: index]
        for track in participant.tracks.compactMap({ tracks[$0] }) {
            let subscribers = roster.values.filter { $0.isSubscribed(to: track) }.map(\.handle)
            let gate = track.gate(by: participant)
            patch(.move(track.info, from: old, to: new, gate, subscribers: subscribers), into: &effects)
            tap(track, into: &effects)
        }
        // After the `move` patches, so that the `ahead` state reaches the new shard before the log, and so before the first frame
        // of the new socket.
        emit(.handOver(from: old, to: new), into: &effects)
        send(.hello(hello(for: participant, admission, resumed: true)), to: [new], into: &effects)
        for track in heard {
            // An `ahead` track continues at the position that the subscriber last reported.
            subscribe(new, to: track, from: lastProgress(of: participant.identity, on: track.info.sid), into: &effects)
        }
        // Meters restart with the patches: end the current talkspurt, so that each start has exactly one stop.
        for sid in participant.tracks {
            if let track = tracks.index(of: sid), tracks[at: track].info.mode == .live {
                interruptTalk(at: track, .silence, now: now, into: &effects)
            }
        }
        if wasAway { send(.participantUpdated(participant.info(), connection: .connected), to: witnesses(of: participant), into: &effects) }
    }

    /// Removes participants whose resume window has expired.
    mutating func expireReconnectWindows(at now: Instant, into effects: inout [Effect]) {
        expireReconnectWindows(at: now, into: &effects) { $0.until <= now }
    }

    /// Removes disconnected participants and announces the shutdown.
    mutating func drain(deadline: Int64, at now: Instant, into effects: inout [Effect]) {
        isDraining = true
        send(.serverDraining(deadline: deadline), to: everyone, into: &effects)
        expireReconnectWindows(at: now, into: &effects) { _ in true }
    }

    private mutating func expireReconnectWindows(at now: Instant, into effects: inout [Effect], where isOver: (ReconnectWindow) -> Bool) {
        guard (0..<roster.count).contains(where: { roster[at: $0].reconnectWindow != nil }) else { return }
        for participant in roster.values {
            guard let reconnectWindow = participant.reconnectWindow, isOver(reconnectWindow) else { continue }
            depart(participant.handle, reconnectWindow.reason, closing: .resumeWindowOver, at: now, into: &effects)
        }
    }

    private mutating func rename(_ old: ParticipantHandle, to new: ParticipantHandle) {
        guard let index = roster.index(of: old) else { return }
        roster.rename(old, to: new)
        roster[at: index].handle = new
        handles[roster[at: index].identity] = new
        for sid in roster[at: index].tracks {
            if let track = tracks.index(of: sid) { tracks[at: track].publisher = new }
        }
        procedures.forgetRequests(of: old)
        procedures.rename(old, to: new)
    }
}

/// Compares two secrets in a time that depends only on their lengths.
private func isSameSecret(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
}

extension Room {
    /// Performs an administrative command. Commands that name unknown participants or tracks have no effect; the shell checks and
    /// answers.
    mutating func administer(_ command: AdminCommand, at now: Instant, into effects: inout [Effect]) {
        switch command {
        case .delete: close(.roomDeleted, at: now, into: &effects)
        case .close(let reason): close(reason, at: now, into: &effects)
        case .sendData(let message): deliver(message, from: nil, to: recipients(of: message.to), into: &effects)
        case .startRecording: startRecording(into: &effects)
        case .stopRecording(let id, let end): stopRecording(id, end, into: &effects)
        case .remove(let identity):
            if let handle = handles[identity] { depart(handle, .participantRemoved, closing: .removed, at: now, into: &effects) }
        case .mute(let track, let muted): setMuted(muted, track, at: now, into: &effects)
        case .updateMetadata(let metadata):
            guard settings.metadata != metadata else { return }
            settings.metadata = metadata
            send(.roomUpdated(info), to: everyone, into: &effects)
        case .updatePermission(let identity, let permission):
            if let index = handles[identity].flatMap(roster.index) { update(permission, ofParticipantAt: index, at: now, into: &effects) }
        case .hold(let identity, let held):
            if let index = handles[identity].flatMap(roster.index) { hold(held, by: nil, at: index, now: now, into: &effects) }
        case .muteParticipant(let identity, let silenced):
            if let index = handles[identity].flatMap(roster.index) { silence(silenced, ofParticipantAt: index, at: now, into: &effects) }
        }
    }

    /// Applies a permission at once: unpublishes tracks and ends subscriptions that it forbids. Subscriptions return with
    /// `canSubscribe`.
    private mutating func update(_ permission: Permission, ofParticipantAt index: Int, at now: Instant, into effects: inout [Effect]) {
        var permission = permission
        // `hidden` is fixed at the join: others cannot be made to forget a participant.
        permission.hidden = roster[at: index].isHidden
        guard roster[at: index].permission != permission else { return }
        updateSubscriptions(index, at: now, into: &effects) { $0.permission = permission }
        let handle = roster[at: index].handle
        let forbidden = trackInfos(of: roster[at: index]).filter { !permission.allows($0.source) }
        for track in forbidden {
            if let track = tracks[track.sid] { untap(track, into: &effects) }
            patch(.unpublish(track.alias, by: handle), into: &effects)
            removeTrack(track.sid, at: now, into: &effects)
        }
        if !forbidden.isEmpty { sendSpeakerChanges(at: now, into: &effects) }
        sendUpdate(ofParticipantAt: index, at: now, into: &effects)
    }
}
