import Wire

extension Room {
    mutating func updateProfile(
        _ update: ParticipantUpdate, of requester: Requester, at place: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let before = members[at: place]
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
        members[at: place].name = name
        members[at: place].metadata = metadata
        members[at: place].attributes = attributes
        tellUpdate(ofMemberAt: place, at: now, into: &effects)
    }

    /// Everybody learns what a participant is now, and itself gets a token that says so.
    mutating func tellUpdate(ofMemberAt place: Int, at now: Instant, into effects: inout [Effect]) {
        let member = members[at: place]
        send(.participantUpdated(member.info(), connection: member.connectionState), to: audience(of: member), into: &effects)
        mintToken(forMemberAt: place, re: nil, at: now, into: &effects)
    }

    /// Asks for a token, and counts the time to the next from here.
    mutating func mintToken(forMemberAt place: Int, re id: UInt64?, at now: Instant, into effects: inout [Effect]) {
        members[at: place].refreshAt = now + Limits.tokenRefreshInterval
        alarm.ring(noLaterThan: members[at: place].refreshAt)
        let member = members[at: place]
        emit(.mintToken(for: member.handle, member.tokenContent(room: name), re: id), into: &effects)
    }
}
