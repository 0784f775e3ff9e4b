package import Engine
package import Store
internal import Wire

/// Writes what endpoints are told of what has happened: for each endpoint one webhook, with the same identifier and the same words.
///
/// It is for the store to keep them, in the transaction of what they tell where there is one. Whoever is given as `user` or `session` has to be in the
/// store: a webhook goes with them.
package struct WebhookWriter: Sendable {
    private let endpoints: [String]

    package init(to endpoints: [String]) {
        self.endpoints = endpoints
    }

    /// - Parameter session: whose room it is, if it is a session's.
    /// - Returns: nothing for what is no webhook: what was said, held or recorded.
    package func webhooks(
        for fact: RoomAuditEvent, of session: SessionID? = nil, user: UserID? = nil, id: WebhookID = WebhookID()
    ) -> [OutgoingWebhook] {
        guard let event = WebhookEvent.Fact(fact) else { return [] }
        return webhooks(for: WebhookEvent(id: id, createdAt: WallTime(milliseconds: fact.at), fact: event), of: session, user: user)
    }

    /// - Parameter session: as it is after its end.
    package func webhooks(forEndOf session: Session, at now: WallTime, id: WebhookID = WebhookID()) -> [OutgoingWebhook] {
        webhooks(for: WebhookEvent(id: id, createdAt: now, fact: .sessionEnded(session)), of: session.id, user: session.userID)
    }

    /// - Parameter session: with the status `ready`.
    package func webhooks(
        for summary: Summary, of session: Session, at now: WallTime, id: WebhookID = WebhookID()
    ) -> [OutgoingWebhook] {
        let event = WebhookEvent(id: id, createdAt: now, fact: .summaryReady(session, summary.id))
        return webhooks(for: event, of: session.id, user: session.userID)
    }

    package func webhooks(
        for record: CallRecord, of user: UserID? = nil, at now: WallTime, id: WebhookID = WebhookID()
    ) -> [OutgoingWebhook] {
        webhooks(for: WebhookEvent(id: id, createdAt: now, fact: .call(WebhookCall(record))), of: nil, user: user)
    }

    private func webhooks(for event: WebhookEvent, of session: SessionID?, user: UserID?) -> [OutgoingWebhook] {
        guard !endpoints.isEmpty else { return [] }
        let body = String(decoding: event.body, as: UTF8.self)
        return endpoints.map { endpoint in
            OutgoingWebhook(
                id: event.id, event: event.name, endpoint: endpoint, room: event.lane, body: body, userID: user, sessionID: session)
        }
    }
}

extension WebhookEvent.Fact {
    /// Nil if it is nothing that LiveKit's webhooks tell.
    fileprivate init?(_ fact: RoomAuditEvent) {
        guard case .room(let event) = fact.event else { return nil }
        let room = WebhookRoom(fact.room.info, participants: fact.room.participantCount, publishers: fact.room.publisherCount)
        switch event {
        case .started: self = .roomStarted(room)
        case .finished: self = .roomFinished(room)
        case .joined(let participant, _): self = .participantJoined(room, participant)
        case .left(let participant, _, let reason): self = .participantLeft(room, participant, reason)
        case .aborted(let participant, _, let reason): self = .participantConnectionAborted(room, participant, reason)
        case .published(let track, let participant): self = .trackPublished(room, participant, track)
        case .unpublished(let track, let participant): self = .trackUnpublished(room, participant, track)
        case .held, .transcribed, .recordingStarted, .recordingStopped: return nil
        }
    }
}

extension WebhookCall {
    fileprivate init(_ record: CallRecord) {
        switch record.change {
        case .call: self.init(record.call)
        case .member(let party, _): self.init(record.call, member: record.call.members.first { $0.party == party })
        }
    }
}
