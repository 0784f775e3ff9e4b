import Wire

/// What assistants are doing, as the others are told.
extension Room {
    mutating func setAgentState(
        _ state: AgentState, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard members[at: index].kind == .agent else { throw RequestError(.notAllowed, "only a participant of kind agent has a state") }
        reply(to: requester, into: &effects)
        let playsAhead = members[at: index].tracks.contains(where: playouts.contains)
        if let told = members[at: index].activity.say(state, playsAhead: playsAhead, at: now) {
            tell(told, ofAgentAt: index, into: &effects)
        }
        wakeUp.include(members[at: index].activity.deadline)
    }

    /// Something of it begins to be heard.
    mutating func playoutStarted(ofAgent handle: ParticipantHandle, into effects: inout [Effect]) {
        guard let index = members.index(of: handle), members[at: index].kind == .agent else { return }
        let told = members[at: index].activity.beHeard()
        tell(told, ofAgentAt: index, into: &effects)
    }

    /// Something of it has ended; if that was the last, it speaks no longer.
    mutating func playoutEnded(ofAgent handle: ParticipantHandle, into effects: inout [Effect]) {
        guard let index = members.index(of: handle), members[at: index].kind == .agent else { return }
        guard !members[at: index].tracks.contains(where: { playouts[$0]?.utterance != nil }) else { return }
        if let told = members[at: index].activity.fallSilent() { tell(told, ofAgentAt: index, into: &effects) }
    }

    mutating func tellHeldBackSpeaking(ofMemberAt index: Int, at now: Instant, into effects: inout [Effect]) {
        if let told = members[at: index].activity.check(at: now) { tell(told, ofAgentAt: index, into: &effects) }
    }

    /// The attribute is for those who join later; those who are here get `agent.state` and no `participant.updated`, for one change is one
    /// event.
    private mutating func tell(_ state: AgentState, ofAgentAt index: Int, into effects: inout [Effect]) {
        guard members[at: index].profile.set(AgentState.attribute, to: state.rawValue) else { return }
        guard !members[at: index].isHidden else { return }
        send(.agentState(members[at: index].identity, state), to: everyone(but: members.keys[index]), into: &effects)
    }
}
