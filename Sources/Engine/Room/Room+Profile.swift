import Wire

extension Room {
    mutating func updateProfile(
        _ update: ParticipantUpdate, of requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let before = members[at: index]
        guard before.permission.canUpdateMetadata else {
            throw RequestError(.notAllowed, "the token does not allow to change one's own name, metadata or attributes")
        }
        let name = update.name ?? before.name
        guard name.utf8.count <= ProtocolLimits.participantNameBytesMax else {
            throw RequestError(.limitExceeded, "`name` is over \(ProtocolLimits.participantNameBytesMax) bytes")
        }
        let metadata = update.metadata ?? before.metadata
        guard metadata.utf8.count <= ProtocolLimits.metadataBytesMax else {
            throw RequestError(.limitExceeded, "`metadata` is over \(ProtocolLimits.metadataBytesMax) bytes")
        }
        var attributes = before.attributes
        if let changes = update.attributes {
            attributes.merge(changes) { _, new in new }
            attributes = attributes.filter { !$0.value.isEmpty }
            guard attributes.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) <= ProtocolLimits.attributesBytesMax else {
                throw RequestError(.limitExceeded, "all `attributes` together are over \(ProtocolLimits.attributesBytesMax) bytes")
            }
        }
        reply(to: requester, into: &effects)
        guard (name, metadata) != (before.name, before.metadata) || attributes != before.attributes else { return }
        members[at: index].name = name
        members[at: index].metadata = metadata
        members[at: index].attributes = attributes
        sendUpdate(ofMemberAt: index, at: now, into: &effects)
    }

    /// Everybody learns what a participant is now, and itself gets a token that says so.
    mutating func sendUpdate(ofMemberAt index: Int, at now: Instant, into effects: inout [Effect]) {
        let member = members[at: index]
        send(.participantUpdated(member.info(), connection: member.connectionState), to: audience(of: member), into: &effects)
        mintToken(forMemberAt: index, re: nil, at: now, into: &effects)
    }

    /// Asks for a token, and counts the time to the next from here.
    mutating func mintToken(forMemberAt index: Int, re id: UInt64?, at now: Instant, into effects: inout [Effect]) {
        members[at: index].refreshAt = now + Limits.tokenRefreshInterval
        wakeUp.include( members[at: index].refreshAt)
        let member = members[at: index]
        emit(.mintToken(for: member.handle, member.tokenContent(room: name), re: id), into: &effects)
    }
}
