import Wire

/// What assistants are doing, as the others are told.
extension Room {
    mutating func setAgentState(
        _ state: AgentState, by requester: Requester, at place: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let member = members[at: place]
        guard member.kind == .agent else { throw RequestError(.notAllowed, "only a participant of kind agent has a state") }
        reply(to: requester, into: &effects)
        let playsAhead = member.tracks.contains(where: playouts.contains)
        if let told = members[at: place].activity.say(state, playsAhead: playsAhead, at: now) {
            tell(told, ofAgentAt: place, into: &effects)
        }
        alarm.ring(noLaterThan: members[at: place].activity.deadline)
    }

    /// Something of it begins to be heard.
    mutating func tellSpeaking(ofAgent handle: ParticipantHandle, into effects: inout [Effect]) {
        guard let place = members.place(of: handle), members[at: place].kind == .agent else { return }
        let told = members[at: place].activity.beHeard()
        tell(told, ofAgentAt: place, into: &effects)
    }

    /// Something of it has ended; if that was the last, it speaks no longer.
    mutating func tellSilence(ofAgent handle: ParticipantHandle, into effects: inout [Effect]) {
        guard let place = members.place(of: handle), members[at: place].kind == .agent else { return }
        guard !members[at: place].tracks.contains(where: { playouts[$0]?.utterance != nil }) else { return }
        if let told = members[at: place].activity.fallSilent() { tell(told, ofAgentAt: place, into: &effects) }
    }

    mutating func tellHeldBackSpeaking(ofMemberAt place: Int, at now: Instant, into effects: inout [Effect]) {
        if let told = members[at: place].activity.check(at: now) { tell(told, ofAgentAt: place, into: &effects) }
    }

    /// The attribute is for those who join later; those who are here get `agent.state` and no `participant.updated`, for one change is one
    /// event.
    private mutating func tell(_ state: AgentState, ofAgentAt place: Int, into effects: inout [Effect]) {
        guard members[at: place].attributes[AgentState.attribute] != state.rawValue else { return }
        members[at: place].attributes[AgentState.attribute] = state.rawValue
        guard !members[at: place].isHidden else { return }
        send(.agentState(members[at: place].identity, state), to: everyone(but: members.keys[place]), into: &effects)
    }
}
