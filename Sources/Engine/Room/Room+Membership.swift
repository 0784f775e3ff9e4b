package import Wire

extension Room {
    mutating func join(_ handle: ParticipantHandle, _ admission: Admission) {
        precondition(!members.contains(handle), "a handle cannot join twice; its generation must change")
        guard admissionError(for: admission) == nil else {
            // The shell checked before the upgrade, but another participant took the last slot meanwhile.
            effects.append(.close(handle, .limit))
            reportAborted(handle, admission)
            return
        }
        if let old = resumable(by: admission) {
            resume(old, as: handle, admission)
            return
        }
        if let old = members.handle(of: admission.identity) {
            depart(old, .duplicateIdentity, closing: .duplicateIdentity)
        }
        let participant = Participant(
            admission, handle: handle, sid: identifiers.participant(), silenceLimit: settings.silenceLimit, at: now)
        members.insert(participant)
        waitingAgents.removeAll { $0.agent == participant.identity }
        wakeUp.include(participant.refreshAt)
        welcome(participant, admission, resumed: admission.resuming == nil ? nil : false)
        let joined = participant.info(tracks: [])
        send(.participantJoined(joined), to: members.witnesses(of: participant))
        if participant.kind == .agent { send(.agentJoined(joined), to: members.witnesses(of: participant)) }
        audit(.joined(joined, sessionID: participant.sessionID))
        report(.present, of: participant)
        if members.independentCount == 1, !participant.kind.isDependent { reportAttendance(true) }
        for track in tracks.values where participant.isSubscribed(to: track) {
            subscribe(handle, to: track)
        }
        // Without automatic subscriptions it has yet to choose.
        if participant.autoSubscribe { noteSubscribed(handle) }
    }

    private mutating func reportAborted(_ handle: ParticipantHandle, _ admission: Admission) {
        guard settings.reporting.reportsEvents else { return }
        let participant = Participant(
            admission, handle: handle, sid: identifiers.participant(), silenceLimit: settings.silenceLimit, at: now)
        audit(.aborted(participant.info(tracks: []), sessionID: participant.sessionID, .joinFailure))
    }

    /// Sends the current state to a participant that joins, so that later events (a stop, a change) refer to something it knows. One that
    /// resumes with a snapshot learns its own state too.
    private mutating func welcome(_ participant: Participant, _ admission: Admission, resumed: Bool?) {
        let others = members.participants.filter { other in
            other.handle == participant.handle ? participant.needsSnapshot : !other.isHidden
        }
        send(.hello(hello(for: participant, admission, resumed: resumed)), to: [participant.handle])
        if let recording { replay(.recordingStarted(recording), to: participant) }
        for wait in waitingAgents { replay(.agentWaiting(wait.agent, reason: wait.reason), to: participant) }
        for segment in transcript.segments where participant.receivesText { replay(.segment(segment), to: participant) }
        for other in others where other.isHeld { replay(.callHeld(by: other.identity), to: participant) }
        for other in others where other.isMutedByAdmin { replay(.callMuted(by: other.identity), to: participant) }
        for other in others where other.reconnectWindow != nil {
            replay(.participantUpdated(other.info(), connection: .reconnecting), to: participant)
        }
        for other in others where other.quality.level != .excellent {
            replay(.qualityChanged(other.identity, other.quality.level), to: participant)
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
            logged: participant.kind.isDependent ? nil : settings.reporting.reportsText && participant.receivesText,
            session: participant.kind == .agent ? admission.briefing : nil, resumeToken: admission.resumeToken, resumed: resumed,
            snapshot: participant.needsSnapshot ? true : nil, nodes: admission.nodes)
    }

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
            if close != .left, participant.reconnectWindow == nil {
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
        wakeUp.include(members.emptyDeadline)
        if members.independentCount == 0, !participant.kind.isDependent { reportAttendance(false) }
    }

    private mutating func sendDeparture(of participant: Participant, _ reason: DisconnectReason) {
        let witnesses = members.witnesses(of: participant)
        send(.participantLeft(participant.identity, reason: reason), to: witnesses)
        if participant.kind == .agent, !reason.isIntended {
            send(.agentLost(participant.identity, reason: reason), to: witnesses)
        }
        audit(.left(participant.info(tracks: []), sessionID: participant.sessionID, reason))
        // The same identity joins next.
        if reason != .duplicateIdentity { report(.left(reason), of: participant) }
    }

    /// Reports the presence of an agent.
    mutating func report(_ presence: AgentPresence, of participant: Participant) {
        guard settings.reporting.reportsAgents, participant.kind == .agent else { return }
        emit(.agent(participant.identity, presence))
    }

    /// Reports whether a user is present.
    mutating func reportAttendance(_ isAttended: Bool) {
        if settings.reporting.reportsAgents { emit(.attended(isAttended)) }
    }

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
        expectedAgents = ExpectedAgents()
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
        events += members.participants.map { .left($0.info(tracks: []), sessionID: $0.sessionID, reason) }
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

/// Resuming: a participant that loses its connection is kept for a while, and a client that presents its resume token takes over.
///
/// To the room a resumed participant is the same one under another handle: its state stays, patches are replaced, and its
/// subscribers and publishers see no event.
extension Room {
    /// The participant that an admission resumes: the one of its own identity, if the resume token matches. Nil is a fresh join.
    package func resumable(by admission: Admission) -> ParticipantHandle? {
        members[admission.identity].flatMap { $0.isResumable(by: admission) ? $0.handle : nil }
    }

    /// Handles a lost connection: keeps the participant for the resume window and reports it as reconnecting.
    mutating func loseConnection(of handle: ParticipantHandle, _ reason: DisconnectReason) {
        guard let index = members.index(of: handle), members[at: index].reconnectWindow == nil else { return }
        let reconnectWindow = ReconnectWindow(since: now, until: now + settings.resumeWindow, reason: reason)
        members[at: index].reconnectWindow = reconnectWindow
        procedures.forgetRequests(of: handle)
        // A draining gateway accepts no joins, so nobody could resume.
        guard reconnectWindow.until > now, phase != .draining else {
            depart(handle, reason, closing: .resumeWindowOver)
            return
        }
        wakeUp.include(reconnectWindow.until)
        let participant = members[at: index]
        send(.participantUpdated(participant.info(), connection: .reconnecting), to: members.witnesses(of: participant))
        report(.away, of: participant)
    }

    /// Moves a participant to another socket. The old one may still be open.
    mutating func resume(_ old: ParticipantHandle, as new: ParticipantHandle, _ admission: Admission) {
        guard let index = members.index(of: old) else { return }
        let subscribed = tracks.values.filter { members[at: index].isSubscribed(to: $0) }
        for track in subscribed { patch(.unsubscribe(old, to: track.info.alias, of: track.publisher)) }
        let wasAway = members[at: index].reconnectWindow != nil
        let wasRestored = members.isRestored(old)
        rename(old, to: new)
        members[at: index].resume(with: admission)
        let participant = members[at: index]
        if wasRestored { publishAgain(participant) } else { move(participant, from: old) }
        // After the patches of its tracks, so that the `ahead` state reaches the new shard before the log, and so before the first frame
        // of the new socket.
        emit(.handOver(from: old, to: new))
        if participant.needsSnapshot {
            welcome(participant, admission, resumed: true)
        } else {
            send(.hello(hello(for: participant, admission, resumed: true)), to: [new])
        }
        for track in subscribed {
            // An `ahead` track continues at the position that the subscriber last reported.
            subscribe(new, to: track, from: lastProgress(of: participant.identity, on: track.info.sid))
        }
        // Meters restart with the patches: end the current talkspurt, so that each start has exactly one stop.
        for sid in participant.tracks {
            if let track = tracks.index(of: sid), tracks[at: track].info.mode == .live {
                interruptTalk(at: track, .silence)
            }
        }
        if wasAway {
            send(.participantUpdated(participant.info(), connection: .connected), to: members.witnesses(of: participant))
            report(.present, of: participant)
        }
        if wasRestored { watchSilence(ofParticipantAt: index) }
    }

    private mutating func move(_ participant: Participant, from old: ParticipantHandle) {
        for track in participant.tracks.compactMap({ tracks[$0] }) {
            let subscribers = members.participants.filter { $0.isSubscribed(to: track) && !members.isRestored($0.handle) }.map(\.handle)
            let gate = track.gate(by: participant)
            patch(.move(track.info, from: old, to: participant.handle, gate, subscribers: subscribers))
            tap(track)
            keepSpeechAgain(of: track)
        }
    }

    /// Removes participants whose resume window has expired.
    mutating func expireReconnectWindows() {
        expireReconnectWindows { [now] in $0.until <= now }
    }

    /// Removes disconnected participants and announces the shutdown.
    mutating func drain(deadline: Int64) {
        phase = .draining
        send(.serverDraining(deadline: deadline), to: everyone)
        expireReconnectWindows { _ in true }
    }

    private mutating func expireReconnectWindows(where isOver: (ReconnectWindow) -> Bool) {
        guard (0..<members.count).contains(where: { members[at: $0].reconnectWindow != nil }) else { return }
        for participant in members.participants {
            guard let reconnectWindow = participant.reconnectWindow, isOver(reconnectWindow) else { continue }
            depart(participant.handle, reconnectWindow.reason, closing: .resumeWindowOver)
        }
    }

    private mutating func rename(_ old: ParticipantHandle, to new: ParticipantHandle) {
        guard let index = members.rename(old, to: new) else { return }
        for sid in members[at: index].tracks {
            if let track = tracks.index(of: sid) { tracks[at: track].publisher = new }
        }
        procedures.forgetRequests(of: old)
        procedures.rename(old, to: new)
    }
}

/// Profiles and tokens.
extension Room {
    mutating func updateProfile(_ update: ParticipantUpdate, of requester: Requester, at index: Int) throws(RequestError) {
        guard members[at: index].permission.canUpdateMetadata else {
            throw RequestError(.notAllowed, "the token does not allow changing one's own name, metadata or attributes")
        }
        try members[at: index].profile.check(update)
        reply(to: requester)
        // In place: a live copy of the participant would make its dictionary copy itself.
        guard members[at: index].profile.apply(update) else { return }
        sendPacedUpdate(ofParticipantAt: index)
        let tokenDue = members[at: index].updateBudget.tokenDueAt(now)
        if tokenDue <= now {
            members[at: index].updateBudget.recordToken(at: now)
            mintToken(forParticipantAt: index, re: nil)
        } else {
            members[at: index].refreshAt = min(members[at: index].refreshAt, tokenDue)
            wakeUp.include(tokenDue)
        }
    }

    /// Sends `participant.updated` now if the participant's budget allows, or else when it does.
    private mutating func sendPacedUpdate(ofParticipantAt index: Int) {
        let recipients = members[at: index].isHidden ? 1 : members.count
        let bytes = members[at: index].profile.encodedBytes * recipients
        guard members[at: index].updateBudget.spendUpdate(bytes, at: now) else {
            return wakeUp.include(members[at: index].updateBudget.updateDueAt)
        }
        let participant = members[at: index]
        send(.participantUpdated(participant.info(), connection: participant.connectionState), to: members.audience(of: participant))
    }

    /// Sends coalesced updates and refreshes tokens that are due.
    mutating func processProfileDeadlines(ofParticipantAt index: Int) {
        if let due = members[at: index].updateBudget.updateDueAt, due <= now {
            sendPacedUpdate(ofParticipantAt: index)
        }
        guard members[at: index].refreshAt <= now else { return }
        members[at: index].updateBudget.recordToken(at: now)
        mintToken(forParticipantAt: index, re: nil)
    }

    /// Sends a participant's description to everybody, and a token that matches it to itself.
    mutating func sendUpdate(ofParticipantAt index: Int) {
        members[at: index].updateBudget.recordUpdate()
        let participant = members[at: index]
        send(.participantUpdated(participant.info(), connection: participant.connectionState), to: members.audience(of: participant))
        mintToken(forParticipantAt: index, re: nil)
    }

    /// Answers a request for a fresh token. A token carries the whole profile, so the request counts against the budget.
    mutating func refreshToken(of requester: Requester, at index: Int) throws(RequestError) {
        let bytes = members[at: index].profile.encodedBytes
        guard members[at: index].updateBudget.spend(bytes, at: now) else {
            throw RequestError(.limitExceeded, "too many tokens and profile updates in a short time; try again later", retryable: true)
        }
        mintToken(forParticipantAt: index, re: requester.id)
    }

    /// Requests a token, and schedules the next regular one.
    mutating func mintToken(forParticipantAt index: Int, re id: UInt64?) {
        members[at: index].refreshAt = now + Limits.tokenRefreshInterval
        wakeUp.include(members[at: index].refreshAt)
        let participant = members[at: index]
        emit(.mintToken(for: participant.handle, participant.tokenContent(room: info.name), re: id))
    }
}

/// The state of agents, as reported to others.
extension Room {
    mutating func setAgentState(_ state: AgentState, by requester: Requester, at index: Int) throws(RequestError) {
        guard members[at: index].kind == .agent else {
            throw RequestError(.notAllowed, "only a participant of kind agent can set an agent state")
        }
        reply(to: requester)
        let playsAhead = members[at: index].tracks.contains(where: tracks.playouts.contains)
        if let state = members[at: index].activity.announce(state, playsAhead: playsAhead, at: now) {
            sendAgentState(state, ofAgentAt: index)
        }
        wakeUp.include(members[at: index].activity.deadline)
    }

    /// Playout of one of its tracks has started.
    mutating func playoutStarted(ofAgent handle: ParticipantHandle) {
        guard let index = members.index(of: handle), members[at: index].kind == .agent else { return }
        let state = members[at: index].activity.playoutStarted()
        sendAgentState(state, ofAgentAt: index)
    }

    /// Playout of one of its tracks has ended; if it was the last, the agent stops speaking.
    mutating func playoutEnded(ofAgent handle: ParticipantHandle) {
        guard let index = members.index(of: handle), members[at: index].kind == .agent else { return }
        guard !members[at: index].tracks.contains(where: { tracks.playouts[$0]?.utterance != nil }) else { return }
        if let state = members[at: index].activity.playoutEnded() { sendAgentState(state, ofAgentAt: index) }
    }

    mutating func reportDelayedSpeaking(ofParticipantAt index: Int) {
        if let state = members[at: index].activity.check(at: now) { sendAgentState(state, ofAgentAt: index) }
    }

    /// Tells everybody that an assistant cannot come yet, each reason once, or that it does not come any more.
    mutating func noteWaiting(_ agent: Identity, _ reason: AgentWaitReason) {
        // It may have joined before this arrived.
        guard reason == .ended || members.handle(of: agent) == nil else { return }
        let known = waitingAgents.firstIndex { $0.agent == agent }
        guard known.map({ waitingAgents[$0].reason }) != reason else { return }
        switch (reason, known) {
        case (.ended, nil): return
        case (.ended, let index?): waitingAgents.remove(at: index)
        case (_, let index?): waitingAgents[index].reason = reason
        case (_, nil):
            guard waitingAgents.count < Limits.jobsPerRoomMax else { return }
            waitingAgents.append((agent, reason))
        }
        send(.agentWaiting(agent, reason: reason), to: everyone)
    }

    /// Participants present get `agent.state`, later ones see the attribute. There is no `participant.updated` beside it.
    private mutating func sendAgentState(_ state: AgentState, ofAgentAt index: Int) {
        guard members[at: index].profile.set(AgentState.attribute, to: state.rawValue) else { return }
        guard !members[at: index].isHidden else { return }
        send(.agentState(members[at: index].identity, state), to: members.handles(except: members.handles[index]))
    }
}
