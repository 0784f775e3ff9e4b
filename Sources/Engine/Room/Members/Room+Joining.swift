internal import Wire

extension Room {
    mutating func join(_ handle: ParticipantHandle, _ admission: Admission) {
        precondition(!members.contains(handle), "a handle cannot join twice; its generation must change")
        guard admissionError(for: admission) == nil else {
            // The shell checked before the upgrade, but another participant took the last slot meanwhile.
            step.effects.append(.close(handle, .limit))
            reportAborted(handle, admission)
            return
        }
        if let (old, tokens) = resumption(by: admission) {
            resume(old, as: handle, admission, tokens)
            return
        }
        if let old = members.handle(of: admission.identity) {
            depart(old, .duplicateIdentity, closing: .duplicateIdentity)
        }
        let participant = Participant(
            admission, handle: handle, sid: identifiers.participant(), silenceLimit: settings.silenceLimit, at: now)
        members.insert(participant)
        wakeUp(by: participant.deadline)
        welcome(participant, admission, resumed: admission.resuming == nil ? nil : false)
        let joined = participant.info(tracks: [])
        send(.participantJoined(joined), to: members.witnesses(of: participant))
        if participant.kind == .agent { send(.agentJoined(joined), to: members.witnesses(of: participant)) }
        audit(.joined(joined, sessionID: participant.stay.session))
        report(.present, of: participant)
        if members.independentCount == 1, !participant.kind.isDependent { reportAttendance(true) }
        for track in tracks.values where participant.isSubscribed(to: track) {
            subscribe(handle, to: track)
        }
        // Without automatic subscriptions it has yet to choose.
        if participant.stay.autoSubscribe { noteSubscribed(handle) }
    }

    private mutating func reportAborted(_ handle: ParticipantHandle, _ admission: Admission) {
        guard settings.reporting.reportsEvents else { return }
        let participant = Participant(
            admission, handle: handle, sid: identifiers.participant(), silenceLimit: settings.silenceLimit, at: now)
        audit(.aborted(participant.info(tracks: []), sessionID: participant.stay.session, .joinFailure))
    }

    /// Sends the current state to a participant that joins, so that later events (a stop, a change) refer to something it knows. One that
    /// resumes with a snapshot learns its own state too.
    mutating func welcome(_ participant: Participant, _ admission: Admission, resumed: Bool?) {
        let others = members.participants.filter { other in
            other.handle == participant.handle ? participant.connection.needsSnapshot : !other.isHidden
        }
        send(.hello(hello(for: participant, admission, resumed: resumed)), to: [participant.handle])
        if let recording { replay(.recordingStarted(recording), to: participant) }
        for wait in members.awaited.delays { replay(.agentWaiting(wait.agent, reason: wait.reason), to: participant) }
        for segment in transcript.segments where participant.stay.receivesText { replay(.segment(segment), to: participant) }
        for other in others where other.callMedia.held { replay(.callHeld(by: other.identity), to: participant) }
        for other in others where other.callMedia.muted { replay(.callMuted(by: other.identity), to: participant) }
        for other in others where other.connection.isLost {
            replay(.participantUpdated(other.info(), connection: .reconnecting), to: participant)
        }
        for other in others where other.status.quality.level != .excellent {
            replay(.qualityChanged(other.identity, other.status.quality.level), to: participant)
        }
        for track in tracks.values {
            guard let start = track.talk.start else { continue }
            replay(.talkStarted(track.info.participant, track.info.sid, at: start), to: participant)
        }
        for (sid, playout) in zip(tracks.playouts.keys, tracks.playouts.values) {
            guard let utterance = playout.utterance, let info = tracks[sid]?.info else { continue }
            replay(.playoutStarted(sid, of: info.participant, epoch: playout.epoch, at: utterance.first), to: participant)
        }
        if !tracks.speakers.active.isEmpty { replay(.speakersChanged(tracks.speakers.active), to: participant) }
    }

    private mutating func replay(_ event: Event, to participant: Participant) {
        emit(.replay(event, to: participant.handle))
    }

    /// - Parameter resumed: as on the wire. A resuming client gets its own tracks too, because it may have missed an answer.
    func hello(for participant: Participant, _ admission: Admission, resumed: Bool?) -> Hello {
        let others = members.participants.filter { !$0.isHidden && $0.handle != participant.handle }
        return Hello(
            server: admission.server, room: info,
            participant: participant.info(tracks: resumed == true ? trackInfos(of: participant) : nil),
            participants: others.map { $0.info(tracks: trackInfos(of: $0)) }, sessionId: admission.sessionID,
            logged: participant.kind.isDependent ? nil : settings.reporting.reportsText && participant.stay.receivesText,
            session: participant.kind == .agent ? admission.briefing : nil, resumeToken: participant.connection.resumeTokens.current,
            resumed: resumed, snapshot: participant.connection.needsSnapshot ? true : nil, nodes: admission.nodes)
    }
}
