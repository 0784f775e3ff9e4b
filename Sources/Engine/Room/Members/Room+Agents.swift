internal import Wire

/// Agents, as reported to the participants and to the service that dispatches them.
extension Room {
    mutating func setAgentState(_ state: AgentState, by requester: Requester, at index: Int) throws(RequestError) {
        guard members[at: index].kind == .agent else {
            throw RequestError(.notAllowed, "only a participant of kind agent can set an agent state")
        }
        reply(to: requester)
        let playsAhead = members[at: index].tracks.contains(where: tracks.playouts.contains)
        if let state = members[at: index].status.activity.announce(state, playsAhead: playsAhead, at: now) {
            sendAgentState(state, ofAgentAt: index)
        }
        wakeUp(by: members[at: index].status.activity.deadline)
    }

    /// Playout of one of its tracks has started.
    mutating func playoutStarted(ofAgent handle: ParticipantHandle) {
        guard let index = members.index(of: handle), members[at: index].kind == .agent else { return }
        let state = members[at: index].status.activity.playoutStarted()
        sendAgentState(state, ofAgentAt: index)
    }

    /// Playout of one of its tracks has ended; if it was the last, the agent stops speaking.
    mutating func playoutEnded(ofAgent handle: ParticipantHandle) {
        guard let index = members.index(of: handle), members[at: index].kind == .agent else { return }
        guard !members[at: index].tracks.contains(where: { tracks.playouts[$0]?.utterance != nil }) else { return }
        if let state = members[at: index].status.activity.playoutEnded() { sendAgentState(state, ofAgentAt: index) }
    }

    mutating func reportDelayedSpeaking(ofParticipantAt index: Int) {
        if let state = members[at: index].status.activity.check(at: now) { sendAgentState(state, ofAgentAt: index) }
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

    /// Tells everybody that an assistant cannot come yet, each reason once, or that it does not come any more.
    mutating func noteWaiting(_ agent: Identity, _ reason: AgentWaitReason) {
        // It may have joined before this arrived.
        guard reason == .ended || members.handle(of: agent) == nil else { return }
        guard members.awaited.record(reason, of: agent) else { return }
        send(.agentWaiting(agent, reason: reason), to: everyone)
    }

    /// Participants present get `agent.state`, later ones see the attribute. There is no `participant.updated` beside it.
    private mutating func sendAgentState(_ state: AgentState, ofAgentAt index: Int) {
        guard members[at: index].profile.set(AgentState.attribute, to: state.rawValue) else { return }
        guard !members[at: index].isHidden else { return }
        send(.agentState(members[at: index].identity, state), to: members.handles(except: members.handles[index]))
    }
}

/// Speech before an agent's arrival: while an assistant is on its way, the shards keep the latest frames of the users' microphones, and its
/// agent receives them when it subscribes. The room decides for which tracks and agents; frames never visit it.
extension Room {
    /// A job of the room waits for its agent from now on, or does not any more.
    mutating func expect(_ agent: Identity, _ isExpected: Bool) {
        guard isExpected else { return endWait(for: agent) }
        // It may have joined before this arrived.
        guard members.handle(of: agent) == nil, !members.awaited.isExpected(agent),
            members.awaited.expectedCount < Limits.jobsPerRoomMax
        else { return }
        let isFirst = !members.awaited.keepsSpeech
        members.awaited.expect(agent, since: isFirst ? nil : now)
        if isFirst { for track in tracks.values { keepSpeech(of: track) } }
    }

    /// Keeps the frames of a new track, if it is a user's microphone and an agent is expected.
    mutating func keepSpeech(of track: Track) {
        guard members.awaited.keepsSpeech, track.info.mode == .live, track.info.source == .microphone,
            let publisher = members[track.publisher], !publisher.kind.isDependent
        else { return }
        if let oldest = members.awaited.insert(track: track.info.sid), let track = tracks[oldest] {
            patch(.keep(track.info, by: track.publisher, false))
        }
        patch(.keep(track.info, by: track.publisher, true))
    }

    /// The publisher has a new handle, perhaps on another shard, which begins anew.
    mutating func keepSpeechAgain(of track: Track) {
        if members.awaited.tracks.contains(track.info.sid) { patch(.keep(track.info, by: track.publisher, true)) }
    }

    /// Which earlier frames of a track a new subscriber receives; nil if none.
    func earlierSpeech(of track: Track, for subscriber: ParticipantHandle) -> EarlierSpeechLimit? {
        guard members.awaited.tracks.contains(track.info.sid), let participant = members[subscriber], participant.kind == .agent else {
            return nil
        }
        return members.awaited.limit(for: participant.identity)
    }

    /// An expected agent has subscribed: it has what was kept.
    mutating func noteSubscribed(_ handle: ParticipantHandle) {
        guard members.awaited.keepsSpeech, let participant = members[handle], participant.kind == .agent else { return }
        endWait(for: participant.identity)
    }

    mutating func endWait(for agent: Identity) {
        guard members.awaited.endWait(for: agent), !members.awaited.keepsSpeech else { return }
        for track in members.awaited.takeTracks().compactMap({ tracks[$0] }) { patch(.keep(track.info, by: track.publisher, false)) }
    }
}
