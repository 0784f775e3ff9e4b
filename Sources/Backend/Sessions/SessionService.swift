internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
package import Store
internal import Wire

/// Starts and ends users' sessions, each with its own room.
package struct SessionService: Sendable {
    package let store: Sessions
    let sessionRooms: SessionRooms
    let rooms: RoomService
    let tokens: RoomTokenMinter
    let recordings: SessionRecordings?
    let webhooks: WebhookWriter
    let auditEvents: AuditEventQueue
    /// Dispatches the assistant that a session asks for; nil without dispatch.
    let dispatch: DispatchInbox?
    let assistants: AssistantDirectory
    var operatorLog = OperatorLog.silent
    /// Sends a message to a user's connected devices.
    let tell: @Sendable (UserID, SessionEvent) -> Void
    /// Wakes a user's devices if none is connected.
    let push: @Sendable (PushRequest) -> Void

    /// Starts a session and returns a token for its room. The same idempotency key returns the same session.
    ///
    /// - Parameter host: the request's Host header.
    /// - Throws: `HTTPError`: 503 in a drain or without a signing key, 409 if the key's session has ended. `StoreError`.
    func start(_ request: SessionRequest, of user: UserID, host: String?) async throws -> SessionToken {
        try rooms.checkNotDraining()
        try await rooms.checkLoad(toBegin: nil)
        try tokens.check(host: host)
        var request = request
        request.assistantLanguage = request.assistantID.flatMap { assistants.definition($0)?.language }
        let start = sessionRooms.beginStart()
        defer { sessionRooms.finish(start) }
        let (session, isNew) = try await store.start(request, of: user, at: .now)
        let home = try await rooms.claim(session.roomName)
        if isNew { operatorLog.started(session) }
        guard session.endedAt == nil, sessionRooms.add(session, clientContext: request.clientContext, start) else {
            throw HTTPError(.sessionEnded, status: .conflict, "the session started with this Idempotency-Key has ended; use a new key")
        }
        if isNew { tell(user, SessionEvent(.started, session)) }
        await sessionRooms.brief(session.roomName, from: store)
        let token = try token(
            to: session, for: SessionDevice.first(of: user), context: session.context, host: host, homeURL: rooms.url(of: home))
        if let assistant = request.assistantID {
            let job = JobRequest(
                room: session.roomName, assistant: assistant, reason: .session, trace: session.trace?.withNewSpan)
            dispatch?.post(.create(job))
        }
        return token
    }

    /// A token for another device of the user, which joins the running session as a participant of its own.
    ///
    /// - Parameter context: the kind of device.
    /// - Throws: `HTTPError`: 409 if the session has ended, 503 as `start`. `StoreError`.
    func admitDevice(to id: SessionID, of user: UserID, context: String, host: String?) async throws -> SessionToken {
        try rooms.checkNotDraining()
        let session = try await store.session(id, of: user)
        guard session.endedAt == nil else {
            throw HTTPError(.sessionEnded, status: .conflict, "the session has ended; start a new one")
        }
        let homeURL = await rooms.homeURL(of: session.roomName)
        return try token(to: session, for: SessionDevice.another(of: user), context: context, host: host, homeURL: homeURL)
    }

    private func token(
        to session: Session, for identity: Identity, context: String, host: String?, homeURL: String?
    ) throws(HTTPError) -> SessionToken {
        let showsText = Session.showsText(in: context)
        let token = try tokens.roomToken(
            to: session.roomName, for: identity, host: host, homeURL: homeURL, sessionID: session.id.text, receivesText: showsText)
        return SessionToken(
            sessionId: session.id, livekitUrl: token.url, livekitToken: token.text, roomName: session.roomName,
            logged: session.loggingEnabledSnapshot && showsText)
    }

    /// Ends a session: closes its room, and stores the end after the room's last event, at the room's home. Idempotent.
    ///
    /// - Throws: `HTTPError`: 503 if the cluster cannot say where the room is; nothing has changed.
    ///   `StoreError`: `full` or `busy` if the end cannot be stored now. The room is closed nevertheless, and `SessionMaintenance`
    ///   stores the end later. `superseded` if the room goes on at another node.
    @discardableResult
    package func end(_ id: SessionID, of user: UserID) async throws -> Session {
        let session = try await store.session(id, of: user)
        // Throws unless the room's home is here.
        if session.endedAt == nil { _ = try await rooms.isOpen(session.roomName) }
        sessionRooms.end(session.roomName, at: .now, by: RequestContext.current)
        // Its room may not be open.
        dispatch?.post(.roomEnded(session.roomName))
        await rooms.attempt(.close(.roomClosed), in: session.roomName)
        guard session.endedAt == nil else { return session }
        let request = RequestContext.current
        return try await auditEvents.performing(session.roomName) { fence in
            try await storeEnd(of: id, of: user, request: request, fencedBy: fence)
        }
    }

    /// Stores a session's end. Called when the last event of its room is stored. Idempotent.
    ///
    /// - Parameters:
    ///   - request: the HTTP request that ended it.
    ///   - fence: of its room, in a cluster.
    /// - Throws: `StoreError`.
    @discardableResult
    func storeEnd(of id: SessionID, of user: UserID, request: RequestContext?, fencedBy fence: RoomFence?) async throws -> Session {
        let (session, isEndedNow) = try await store.end(
            id, of: user, webhooks: { webhooks.webhooks(forEndOf: $0, at: .now, request: request) }, fencedBy: fence, at: .now)
        // Also if `end` has done so: a start may have read the session's row in between.
        sessionRooms.end(session.roomName, at: .now)
        if isEndedNow {
            // The end may be stored on another task than the request's.
            RequestContext.$current.withValue(request) { operatorLog.ended(session) }
            tell(user, SessionEvent(.ended, session))
        }
        return session
    }

    func delete(_ id: SessionID, of user: UserID) async throws {
        try await store.delete(id, of: user)
        await close(Session.roomName(of: id))
        await updateBriefings(of: user)
        try await recordings?.removeOrphaned()
    }

    func deleteAll(of user: UserID) async throws {
        _ = try await store.deleteAll(of: user)
        await closeRooms(of: user)
    }

    /// Closes a user's rooms after its account or sessions have been deleted.
    func closeRooms(of user: UserID) async {
        for room in sessionRooms.endAll(of: user, at: .now) { await close(room) }
        await rooms.notifyOtherNodes(.sessions(of: user))
        // `SessionMaintenance` retries failures.
        try? await recordings?.removeOrphaned()
    }

    /// Reloads the briefings of the user's sessions, for assistants that join from now on.
    func updateBriefings(of user: UserID) async {
        await updateBriefingsHere(of: user)
        await rooms.notifyOtherNodes(.sessions(of: user))
    }

    func updateBriefingsHere(of user: UserID) async {
        for room in sessionRooms.rooms(of: user) { await sessionRooms.brief(room, from: store) }
    }

    /// Reloads the user's sessions after a change on another node: closes the rooms of sessions that have ended, and reloads the briefings of the
    /// others.
    func reloadSessions(of user: UserID) async {
        for room in sessionRooms.rooms(of: user) {
            guard let session = Session.id(ofRoom: room) else { continue }
            // A failure of the store is logged where it occurs.
            if (try? await sessionRooms.load(session, from: store)) == false { await close(room) }
        }
        try? await recordings?.removeOrphaned()
    }

    private func close(_ room: String) async {
        sessionRooms.end(room, at: .now)
        dispatch?.post(.roomEnded(room))
        await rooms.attempt(.close(.roomDeleted), in: room)
    }
}

extension SessionService {
    /// Adds a turn to the session that it names.
    ///
    /// An assistant serves a session that was started with it, and one in whose room its agent is. Assistants and services may add turns until
    /// `StoreLimits.lateTurnsSpan` after the session's end.
    ///
    /// - Parameter isKeyed: the turn's id comes from an idempotency key.
    /// - Throws: `StoreError.notFound` also for a session that the author does not serve.
    func append(_ turn: Turn, by author: Requester, isKeyed: Bool) async throws -> TurnOutcome {
        switch author {
        case .user(let user): return try await store.append(turn, of: user, isKeyed: isKeyed)
        case .assistant(let assistant):
            let session = try await store.session(turn.sessionID)
            guard try await serves(assistant, session) else { throw StoreError.notFound }
            return try await append(turn, to: session, isKeyed: isKeyed)
        case .service: return try await append(turn, to: try await store.session(turn.sessionID), isKeyed: isKeyed)
        }
    }

    private func serves(_ assistant: String, _ session: Session) async throws(HTTPError) -> Bool {
        if session.assistantID == assistant { return true }
        return try await rooms.participant(of: assistant, in: session.roomName)?.kind == .agent
    }

    private func append(_ turn: Turn, to session: Session, isKeyed: Bool) async throws -> TurnOutcome {
        if let end = session.endedAt, end + StoreLimits.lateTurnsSpan < .now {
            throw HTTPError(.sessionEnded, status: .conflict, "the session has ended more than a minute ago; only its user may add turns")
        }
        return try await store.append(turn, of: session.userID, isKeyed: isKeyed)
    }
}

/// Identities of a user's devices in the room of its session: the first one's is the user's id, further ones have a random suffix, so that they
/// are participants of their own.
enum SessionDevice {
    private static let separator = "."
    private static let suffixBytes = 4

    static func first(of user: UserID) -> Identity { Identity(text: user.text) }

    static func another(of user: UserID) -> Identity {
        Identity(text: user.text + separator + Hex.encode(randomBytes(suffixBytes)))
    }

    static func belongs(_ identity: Identity, to user: UserID) -> Bool {
        identity == first(of: user) || identity.text.hasPrefix(user.text + separator)
    }
}
