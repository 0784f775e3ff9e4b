internal import Wire

/// Profiles and permissions, and the tokens that carry them.
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
        if members[at: index].updates.takeTokenForChange(at: now) {
            mintToken(forParticipantAt: index, re: nil)
        } else {
            wakeUp(by: members[at: index].updates.tokenDueAt)
        }
    }

    /// Sends `participant.updated` now if the participant's budget allows, or else when it does.
    private mutating func sendPacedUpdate(ofParticipantAt index: Int) {
        let recipients = members[at: index].isHidden ? 1 : members.count
        let bytes = members[at: index].profile.encodedBytes * recipients
        guard members[at: index].updates.spendUpdate(bytes, at: now) else {
            return wakeUp(by: members[at: index].updates.updateDueAt)
        }
        let participant = members[at: index]
        send(.participantUpdated(participant.info(), connection: participant.connection.state), to: members.audience(of: participant))
    }

    /// Sends coalesced updates and refreshes tokens that are due.
    mutating func processProfileDeadlines(ofParticipantAt index: Int) {
        if let due = members[at: index].updates.updateDueAt, due <= now {
            sendPacedUpdate(ofParticipantAt: index)
        }
        if members[at: index].updates.takeDueToken(at: now) { mintToken(forParticipantAt: index, re: nil) }
    }

    /// Sends a participant's description to everybody, and a token that matches it to itself.
    mutating func sendUpdate(ofParticipantAt index: Int) {
        members[at: index].updates.recordUpdate()
        let participant = members[at: index]
        send(.participantUpdated(participant.info(), connection: participant.connection.state), to: members.audience(of: participant))
        mintToken(forParticipantAt: index, re: nil)
    }

    /// Answers a request for a fresh token. A token carries the whole profile, so the request counts against the budget.
    mutating func refreshToken(of requester: Requester, at index: Int) throws(RequestError) {
        let bytes = members[at: index].profile.encodedBytes
        guard members[at: index].updates.spend(bytes, at: now) else {
            throw RequestError(.limitExceeded, "too many tokens and profile updates in a short time; try again later", retryable: true)
        }
        mintToken(forParticipantAt: index, re: requester.id)
    }

    /// Requests a token, and schedules the next regular one.
    mutating func mintToken(forParticipantAt index: Int, re id: UInt64?) {
        members[at: index].updates.recordToken(at: now)
        wakeUp(by: members[at: index].updates.tokenDueAt)
        let participant = members[at: index]
        emit(.mintToken(for: participant.handle, participant.tokenContent(room: info.name), re: id))
    }

    /// Changes a participant's profile and permission, and reports both in one event, outside the participant's budget of profile updates.
    mutating func update(_ identity: Identity, _ changes: ParticipantUpdate, _ permission: Permission?) {
        guard let index = members.index(of: identity) else { return }
        var hasChanged = members[at: index].profile.apply(changes)
        if let permission, apply(permission, toParticipantAt: index) { hasChanged = true }
        if hasChanged { sendUpdate(ofParticipantAt: index) }
    }

    /// Applies a permission at once: unpublishes tracks and ends subscriptions that it forbids. Subscriptions return with
    /// `canSubscribe`.
    ///
    /// - Returns: whether it is different now.
    private mutating func apply(_ permission: Permission, toParticipantAt index: Int) -> Bool {
        var permission = permission
        // `hidden` is fixed at the join: others cannot be made to forget a participant.
        permission.hidden = members[at: index].isHidden
        guard members[at: index].permission != permission else { return false }
        updateSubscriptions(index) { $0.permission = permission }
        let handle = members[at: index].handle
        let forbidden = trackInfos(of: members[at: index]).filter { !permission.allows($0.source) }
        for track in forbidden {
            if let track = tracks[track.sid] { untap(track) }
            patch(.unpublish(track.alias, by: handle))
            removeTrack(track.sid)
        }
        if !forbidden.isEmpty { sendSpeakerChanges() }
        return true
    }
}
