package import Engine
internal import HTTPServer
package import Store
package import Wire

/// Writes webhooks for events: one per endpoint, with the same identifier and body.
///
/// Webhooks contain the identifier of the HTTP request whose task makes them, and its trace, otherwise that of the session or call.
///
/// A webhook is stored in the transaction of the change that it reports, if any. `user` and `session` must be in the store: deleting them
/// deletes the webhook.
package struct WebhookWriter: Sendable {
    private let endpoints: [String]
    private let node: String?

    /// - Parameter node: of the cluster. Its open rooms and calls are announced also without endpoints, so that other nodes find them.
    package init(to endpoints: [String], node: String? = nil) {
        self.endpoints = endpoints
        self.node = node
    }

    /// - Parameter session: the room's session, if any.
    /// - Returns: an empty announcement for events without a webhook: transcripts, holds, recordings.
    package func announcement(
        of event: RoomAuditEvent, session: SessionID? = nil, user: UserID? = nil, trace: TraceContext? = nil, id: WebhookID = WebhookID()
    ) -> Announcement {
        guard announcesAnything, let content = WebhookEvent.Content(event) else { return Announcement() }
        let webhooks = webhooks(
            for: WebhookEvent(id: id, createdAt: WallTime(milliseconds: event.at), content: content), of: session, user: user,
            trace: trace)
        let key = Self.key(of: event.room.info)
        switch event.event {
        case .room(.started):
            let open = Self.encode(event.room.info).map {
                OpenAnnouncement(key: key, content: $0, userID: user, sessionID: session, node: node)
            }
            return Announcement(webhooks, effect: open.map { .opens($0) } ?? .none)
        case .room(.finished): return Announcement(webhooks, effect: .closes(key: key))
        default: return Announcement(webhooks)
        }
    }

    package func announcement(
        of record: CallRecord, user: UserID? = nil, trace: TraceContext? = nil, at now: WallTime, id: WebhookID = WebhookID()
    ) -> Announcement {
        guard announcesAnything else { return Announcement() }
        let event = WebhookEvent(id: id, createdAt: now, content: .call(WebhookCall(record)))
        let webhooks = webhooks(for: event, of: nil, user: user, trace: trace)
        let key = Self.key(of: record.call)
        if record.call.status.isOver {
            // The members leave before the call ends: a crash in between must not leave its end unannounced.
            guard case .call = record.change else { return Announcement(webhooks) }
            return Announcement(webhooks, effect: .closes(key: key))
        }
        let open = Self.encode(record.call).map { OpenAnnouncement(key: key, content: $0, userID: user, node: node) }
        return Announcement(webhooks, effect: open.map { .opens($0) } ?? .none)
    }

    /// Announces the end of a room or call that a crashed process left open: `room_finished` or `call_failed`. Written only if it is still
    /// open.
    package func end(of open: OpenAnnouncement, at now: WallTime, id: WebhookID = WebhookID()) -> Announcement {
        let stored = Array(open.content.utf8)
        let content: WebhookEvent.Content? =
            if open.key.hasPrefix(Self.roomPrefix) {
                (try? JSON.decode(RoomInfo.self, from: stored, names: .snakeCase)).map {
                    .roomFinished(WebhookRoom($0, participants: 0, publishers: 0))
                }
            } else {
                (try? JSON.decode(CallInfo.self, from: stored, names: .snakeCase)).map { .call(WebhookCall($0.failed)) }
            }
        let event = content.map { WebhookEvent(id: id, createdAt: now, content: $0) }
        return Announcement(
            event.map { webhooks(for: $0, of: open.sessionID, user: open.userID) } ?? [], effect: .recovers(open))
    }

    /// - Parameters:
    ///   - session: the ended session.
    ///   - request: the HTTP request that ended it. Passed on, because the store calls this outside of the request's task.
    package func webhooks(
        forEndOf session: Session, at now: WallTime, id: WebhookID = WebhookID(), request: RequestContext? = nil
    ) -> [OutgoingWebhook] {
        webhooks(
            for: WebhookEvent(id: id, createdAt: now, content: .sessionEnded(session)), of: session.id, user: session.userID,
            request: request, trace: session.trace)
    }

    /// - Parameter session: its summary status must be `ready`.
    package func webhooks(
        for summary: Summary, of session: Session, at now: WallTime, id: WebhookID = WebhookID()
    ) -> [OutgoingWebhook] {
        let event = WebhookEvent(id: id, createdAt: now, content: .summaryReady(session, summary.id))
        return webhooks(for: event, of: session.id, user: session.userID, trace: session.trace)
    }

    /// - Parameter request: the HTTP request that added the event. A parameter, because the store calls this outside the request's task.
    package func webhooks(
        for news: ConversationNews, at now: WallTime, id: WebhookID = WebhookID(), request: RequestContext? = nil
    ) -> [OutgoingWebhook] {
        webhooks(
            for: WebhookEvent(id: id, createdAt: now, content: .conversation(news)), of: nil, user: news.event.user, request: request)
    }

    /// Whether there are endpoints that receive webhooks.
    var hasEndpoints: Bool { !endpoints.isEmpty }

    private var announcesAnything: Bool { !endpoints.isEmpty || node != nil }

    /// Makes the webhooks that deliver a code to its user. They cannot be replayed, and are deleted when the code expires.
    ///
    /// - Parameter request: the HTTP request that asked for the code.
    package func accountCodes(at now: WallTime, request: RequestContext? = RequestContext.current) -> AccountCodeWebhooks {
        { user, code in
            let event = WebhookEvent(id: WebhookID(), createdAt: now, content: .accountCode(user, code))
            return webhooks(for: event, of: nil, user: user.id, request: request, lifetime: StoreLimits.codeLifetime)
        }
    }

    /// - Parameter devices: to be woken; not empty.
    func webhooks(for push: PushRequest, to devices: [PushDevice], at now: WallTime) -> [OutgoingWebhook] {
        let content: WebhookEvent.Content =
            switch push.reason {
            case .call(let call): .callPush(call, of: push.user, devices, expiresAt: push.expiresAt)
            case .summary(let session): .summaryPush(session, devices, expiresAt: push.expiresAt)
            }
        let lifetime = Duration.milliseconds(push.expiresAt.milliseconds - now.milliseconds)
        guard lifetime > .zero else { return [] }
        return webhooks(
            for: WebhookEvent(id: WebhookID(), createdAt: now, content: content), of: nil, user: push.user, trace: push.trace,
            lifetime: lifetime)
    }

    private func webhooks(
        for event: WebhookEvent, of session: SessionID?, user: UserID?, request: RequestContext? = RequestContext.current,
        trace: TraceContext? = nil, lifetime: Duration? = nil
    ) -> [OutgoingWebhook] {
        guard !endpoints.isEmpty else { return [] }
        let body = String(decoding: event.body, as: UTF8.self)
        return endpoints.map { endpoint in
            OutgoingWebhook(
                id: event.id, event: event.name, endpoint: endpoint, room: event.lane, body: body, userID: user, sessionID: session,
                requestID: request?.id, trace: request?.trace ?? trace, lifetime: lifetime)
        }
    }

    // MARK: Open announcements

    /// The prefixes of the keys of open rooms and calls.
    static let (roomPrefix, callPrefix) = ("room ", "call ")

    static func key(of room: RoomInfo) -> String { roomPrefix + room.sid.text }
    private static func key(of call: CallInfo) -> String { callPrefix + call.id.text }

    private static func encode(_ value: some Encodable) -> String? {
        (try? JSON.encode(value, names: .snakeCase)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension CallInfo {
    /// The call as ended by its gateway's crash: all parties still in it have failed.
    fileprivate var failed: CallInfo {
        var call = self
        call.seq += 1
        call.status = .failed
        call.endedAt = WallClock.milliseconds
        for index in call.members.indices where call.members[index].state != .left { call.members[index].status = .failed }
        return call
    }
}

extension WebhookEvent.Content {
    /// Nil for events that LiveKit's webhooks do not report.
    fileprivate init?(_ event: RoomAuditEvent) {
        guard case .room(let roomEvent) = event.event else { return nil }
        let room = WebhookRoom(event.room.info, participants: event.room.participantCount, publishers: event.room.publisherCount)
        switch roomEvent {
        case .started: self = .roomStarted(room)
        case .finished: self = .roomFinished(room)
        case .joined(let participant, _): self = .participantJoined(room, participant)
        case .left(let participant, _, let reason): self = .participantLeft(room, participant, reason)
        case .aborted(let participant, _, let reason): self = .participantConnectionAborted(room, participant, reason)
        case .published(let track, let participant): self = .trackPublished(room, participant, track)
        case .unpublished(let track, let participant): self = .trackUnpublished(room, participant, track)
        case .held, .transcribed, .typed, .recordingStarted, .recordingStopped: return nil
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
