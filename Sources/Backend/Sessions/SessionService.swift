internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
package import Store
internal import Wire

/// Starts and ends users' sessions, each with its own room.
package struct SessionService: Sendable {
    package let store: SessionStore
    let sessionRooms: SessionRooms
    let rooms: RoomService
    let tokens: RoomTokenMinter
    let recordings: SessionRecordings?
    let webhooks: WebhookWriter
    /// Dispatches the assistant that a session asks for; nil without dispatch.
    let dispatch: DispatchInbox?
    let assistants: AssistantDirectory
    var operatorLog = OperatorLog.silent
    /// Sends a message to a user's connected devices.
    let tell: @Sendable (UserID, SessionEvent) -> Void

    /// Starts a session and returns a token for its room. The same idempotency key returns the same session.
    ///
    /// - Parameter host: the request's Host header.
    /// - Throws: `HTTPError`: 503 in a drain or without a signing key, 409 if the key's session has ended. `StoreError`.
    func start(_ request: SessionRequest, of user: UserID, host: String?) async throws -> SessionTicket {
        try rooms.checkNotDraining()
        try tokens.check(host: host)
        var request = request
        request.assistantLanguage = request.assistantID.flatMap { assistants.definition($0)?.language }
        let (session, isNew) = try await store.startSession(request, of: user, at: .now)
        guard session.endedAt == nil else {
            throw HTTPError(.conflict, "session_ended", "the session started with this Idempotency-Key has ended; use a new key")
        }
        if isNew { operatorLog.started(session) }
        sessionRooms.add(session, clientContext: request.clientContext)
        if isNew { tell(user, SessionEvent(.started, session)) }
        await sessionRooms.brief(session.roomName, from: store)
        let ticket = try ticket(to: session, for: SessionDevice.first(of: user), context: session.context, host: host)
        if let assistant = request.assistantID {
            dispatch?.post(.create(JobRequest(room: session.roomName, assistant: assistant, reason: .session)))
        }
        return ticket
    }

    /// A token for another device of the user, which joins the running session as a participant of its own.
    ///
    /// - Parameter context: the kind of device.
    /// - Throws: `HTTPError`: 409 if the session has ended, 503 as `start`. `StoreError`.
    func admitDevice(to id: SessionID, of user: UserID, context: String, host: String?) async throws -> SessionTicket {
        try rooms.checkNotDraining()
        let session = try await store.session(id, of: user)
        guard session.endedAt == nil else {
            throw HTTPError(.conflict, "session_ended", "the session has ended; start a new one")
        }
        return try ticket(to: session, for: SessionDevice.another(of: user), context: context, host: host)
    }

    private func ticket(
        to session: Session, for identity: Identity, context: String, host: String?
    ) throws(HTTPError) -> SessionTicket {
        let ticket = try tokens.ticket(
            to: session.roomName, for: identity, host: host, sessionID: session.id.text, receivesText: Session.showsText(in: context))
        return SessionTicket(sessionId: session.id, livekitUrl: ticket.url, livekitToken: ticket.token, roomName: session.roomName)
    }

    /// Ends a session and closes its room. Idempotent.
    @discardableResult
    package func end(_ id: SessionID, of user: UserID) async throws -> Session {
        let request = RequestID.current
        let (session, isEndedNow) = try await store.endSession(
            id, of: user, webhooks: { webhooks.webhooks(forEndOf: $0, at: .now, request: request) }, at: .now)
        if isEndedNow { operatorLog.ended(session) }
        sessionRooms.end(session.roomName, at: .now)
        if isEndedNow { tell(user, SessionEvent(.ended, session)) }
        // Its room may not be open.
        dispatch?.post(.roomEnded(session.roomName))
        await rooms.closeRoom(named: session.roomName, reason: .roomClosed)
        return session
    }

    func delete(_ id: SessionID, of user: UserID) async throws {
        try await store.deleteSession(id, of: user)
        await close(Session.roomPrefix + id.text)
        await updateBriefings(of: user)
        try await recordings?.removeOrphaned()
    }

    func deleteAll(of user: UserID) async throws {
        _ = try await store.deleteSessions(of: user)
        await closeRooms(of: user)
    }

    /// Closes a user's rooms after its account or sessions have been deleted.
    func closeRooms(of user: UserID) async {
        for room in sessionRooms.rooms(of: user) { await close(room) }
        // `SessionMaintenance` retries failures.
        try? await recordings?.removeOrphaned()
    }

    /// Reloads the briefings of the user's sessions, for assistants that join from now on.
    func updateBriefings(of user: UserID) async {
        for room in sessionRooms.rooms(of: user) { await sessionRooms.brief(room, from: store) }
    }

    private func close(_ room: String) async {
        sessionRooms.end(room, at: .now)
        dispatch?.post(.roomEnded(room))
        await rooms.closeRoom(named: room, reason: .roomDeleted)
    }
}
