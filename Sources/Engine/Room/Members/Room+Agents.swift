import Wire

/// Agents, as reported to the participants and to the service that dispatches them.
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
