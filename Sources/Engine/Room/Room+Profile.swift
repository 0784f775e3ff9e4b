import Wire

extension Room {
    mutating func updateProfile(
        _ update: ParticipantUpdate, of requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard members[at: index].permission.canUpdateMetadata else {
            throw RequestError(.notAllowed, "the token does not allow to change one's own name, metadata or attributes")
        }
        try members[at: index].profile.check(update)
        reply(to: requester, into: &effects)
        // In place: a copy of the participant that is alive here would make the dictionary copy itself.
        guard members[at: index].profile.apply(update) else { return }
        sendPacedUpdate(ofMemberAt: index, at: now, into: &effects)
        let tokenDue = members[at: index].updateBudget.tokenDueAt(now)
        if tokenDue <= now {
            members[at: index].updateBudget.recordToken(at: now)
            mintToken(forMemberAt: index, re: nil, at: now, into: &effects)
        } else {
            members[at: index].refreshAt = min(members[at: index].refreshAt, tokenDue)
            wakeUp.include(tokenDue)
        }
    }

    /// Sends `participant.updated` now if the participant's budget allows, or else when it does.
    private mutating func sendPacedUpdate(ofMemberAt index: Int, at now: Instant, into effects: inout [Effect]) {
        let recipients = members[at: index].isHidden ? 1 : members.count
        let bytes = members[at: index].profile.encodedBytes * recipients
        guard members[at: index].updateBudget.spendUpdate(bytes, at: now) else {
            return wakeUp.include(members[at: index].updateBudget.updateDueAt)
        }
        let member = members[at: index]
        send(.participantUpdated(member.info(), connection: member.connectionState), to: audience(of: member), into: &effects)
    }

    /// Sends coalesced updates and refreshes tokens that are due.
    mutating func processProfileDeadlines(ofMemberAt index: Int, at now: Instant, into effects: inout [Effect]) {
        if let due = members[at: index].updateBudget.updateDueAt, due <= now { sendPacedUpdate(ofMemberAt: index, at: now, into: &effects) }
        guard members[at: index].refreshAt <= now else { return }
        members[at: index].updateBudget.recordToken(at: now)
        mintToken(forMemberAt: index, re: nil, at: now, into: &effects)
    }

    /// Sends a participant's description to everybody, and a token that matches it to itself.
    mutating func sendUpdate(ofMemberAt index: Int, at now: Instant, into effects: inout [Effect]) {
        members[at: index].updateBudget.recordUpdate()
        let member = members[at: index]
        send(.participantUpdated(member.info(), connection: member.connectionState), to: audience(of: member), into: &effects)
        mintToken(forMemberAt: index, re: nil, at: now, into: &effects)
    }

    /// Answers a request for a fresh token. A token carries the whole profile, so the request counts against the budget.
    mutating func refreshToken(of requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]) throws(RequestError) {
        let bytes = members[at: index].profile.encodedBytes
        guard members[at: index].updateBudget.spend(bytes, at: now) else {
            throw RequestError(.limitExceeded, "too many tokens and profile updates in a short time; try again later", retryable: true)
        }
        mintToken(forMemberAt: index, re: requester.id, at: now, into: &effects)
    }

    /// Requests a token, and schedules the next regular one.
    mutating func mintToken(forMemberAt index: Int, re id: UInt64?, at now: Instant, into effects: inout [Effect]) {
        members[at: index].refreshAt = now + Limits.tokenRefreshInterval
        wakeUp.include(members[at: index].refreshAt)
        let member = members[at: index]
        emit(.mintToken(for: member.handle, member.tokenContent(room: name), re: id), into: &effects)
    }
}
