internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
package import Store
internal import Wire

/// Sessions: begun and ended for a user, each with a room of its own.
package struct SessionService: Sendable {
    package let store: SessionStore
    let rooms: SessionRooms
    let desk: RoomService
    let keys: KeysInUse
    /// How clients reach the gateway; nil: as the request that asks did.
    let publicURL: String?
    let recordings: SessionRecordings?
    let webhooks: SessionWebhooks

    /// LiveKit's own lifetime of a token, in seconds: a call whose line breaks comes back with the same one.
    static let tokenLifetimeSeconds: Int64 = 6 * 3_600

    func start(_ request: SessionRequest, of user: UserID, _ question: HTTPServerRequest) async throws -> SessionTicket {
        try desk.checkThatRoomsAreOpen()
        guard let signer = keys.current.signer else {
            throw HTTPError(
                .serviceUnavailable, "no_signing_key",
                "the gateway has no HS256 key to sign room tokens with; see `keys` in its configuration")
        }
        guard let url = publicURL ?? question.host.map({ "wss://" + $0 }) else {
            throw HTTPError(.badRequest, "host_missing", "send a Host header, by which the room is reached, too")
        }
        let (session, _) = try await store.startSession(request, of: user, at: .now)
        guard session.endedAt == nil else {
            throw HTTPError(.conflict, "session_ended", "the session that was started with this Idempotency-Key has ended; take a new key")
        }
        rooms.add(session, clientContext: request.clientContext)
        await rooms.brief(session.roomName, from: store)
        let now = WallClock.seconds
        let claims = AccessToken(
            identity: user.text, notBefore: now, expires: now + Self.tokenLifetimeSeconds, video: .joining(session.roomName),
            sessionID: session.id.text, receivesText: !session.isWithoutText)
        return SessionTicket(
            sessionId: session.id, livekitUrl: url, livekitToken: try TokenMinter.mint(claims, with: signer), roomName: session.roomName)
    }

    /// Ends a session, with its room and everybody who is still in it. Ending it again changes nothing.
    @discardableResult
    package func end(_ id: SessionID, of user: UserID) async throws -> Session {
        let (session, _) = try await store.endSession(id, of: user, telling: webhooks.ended, at: .now)
        rooms.end(session.roomName, at: .now)
        await desk.closeRoom(named: session.roomName, reason: .roomClosed)
        return session
    }

    func delete(_ id: SessionID, of user: UserID) async throws {
        try await store.deleteSession(id, of: user)
        await close(Session.roomPrefix + id.text)
        await brief(user)
        try await recordings?.removeUnwanted()
    }

    func deleteAll(of user: UserID) async throws {
        _ = try await store.deleteSessions(of: user)
        await forget(user)
    }

    /// Of a user that is no more, or has no sessions any more.
    func forget(_ user: UserID) async {
        for room in rooms.rooms(of: user) { await close(room) }
        // What fails now the keeper does again.
        try? await recordings?.removeUnwanted()
    }

    /// What assistants in a user's sessions are told is not what it was. Whoever has been told keeps it.
    func brief(_ user: UserID) async {
        for room in rooms.rooms(of: user) { await rooms.brief(room, from: store) }
    }

    private func close(_ room: String) async {
        rooms.end(room, at: .now)
        await desk.closeRoom(named: room, reason: .roomDeleted)
    }
}

/// What is told to other servers of sessions, in the transaction in which it becomes true.
struct SessionWebhooks: Sendable {
    var ended: @Sendable (Session) -> [OutgoingWebhook]
    var summaryReady: @Sendable (Session, Summary) -> [OutgoingWebhook]
}
