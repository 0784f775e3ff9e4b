package import Engine
package import HTTPServer
internal import Logging
package import Store
internal import Synchronization
package import Wire

/// An in-memory index of session rooms for shards, which cannot wait for the store when they create a room or admit a participant. An entry
/// is kept until the room's last event is stored.
package final class SessionRooms: Sendable {
    private let state = Mutex(SessionRoomIndex())
    private let recordsLogged: Bool
    private let log = Logger(label: "patchbay.sessions")

    /// - Parameter recordsLogged: whether logged sessions are recorded.
    package init(recordsLogged: Bool = false) {
        self.recordsLogged = recordsLogged
    }

    func beginStart() -> SessionRoomIndex.Start { state.withLock { $0.beginStart() } }

    func finish(_ start: SessionRoomIndex.Start) { state.withLock { $0.finish(start) } }

    /// Adds a session of the previous process. Call before any session can end.
    func restore(_ session: Session) {
        state.withLock { $0.restore(session) }
    }

    /// Loads the session of a room that this node takes over, with its briefing notes. Idempotent: a known session keeps its state, unless
    /// it has ended.
    ///
    /// - Returns: whether the session is active.
    func load(_ id: SessionID, from store: Sessions) async throws(StoreError) -> Bool {
        let room = Session.roomName(of: id)
        let start = beginStart()
        defer { finish(start) }
        let session: Session
        do throws(StoreError) {
            session = try await store.session(id)
        } catch .notFound {
            end(room, at: .now)
            return false
        }
        if let endedAt = session.endedAt {
            end(room, at: endedAt)
            return false
        }
        guard add(session, start) else { return false }
        await brief(room, from: store)
        return true
    }

    /// Forgets the session of a room that is no longer this node's, without ending it.
    func forget(_ room: String) { state.withLock { $0.forget(room) } }

    /// Adds a session, unless it has ended since the start began. A known session keeps its state, except that a missing client context is
    /// filled in.
    ///
    /// - Returns: whether the session is active.
    func add(_ session: Session, clientContext: String? = nil, _ start: SessionRoomIndex.Start) -> Bool {
        state.withLock { $0.add(session, clientContext: clientContext, start) }
    }

    /// Marks the session as ended: its room admits nobody. Earlier events may still arrive.
    ///
    /// - Parameter request: the HTTP request that ended it.
    func end(_ room: String, at now: WallTime, by request: RequestContext? = nil) {
        state.withLock { $0.end(room, at: now, by: request) }
    }

    /// Marks all sessions of a user as ended.
    ///
    /// - Returns: the rooms of those that were active.
    func endAll(of user: UserID, at now: WallTime) -> [String] {
        state.withLock { $0.endAll(of: user, at: now) }
    }

    /// The HTTP request that ended a room's session, if any.
    func endingRequest(of room: String) -> RequestContext? {
        state.withLock { $0[room]?.endingRequest }
    }

    /// Removes a room after its last event.
    func remove(_ room: String) {
        state.withLock { $0.remove(room, at: .now) }
    }

    /// Removes ended sessions whose room was never opened.
    func removeEnded(before time: WallTime) {
        state.withLock { $0.removeEnded(before: time) }
    }

    /// The user and session that a room belongs to.
    package func owner(of room: String) -> (user: UserID, session: SessionID)? {
        session(of: room).map { ($0.userID, $0.id) }
    }

    /// The session that a room belongs to, as it was at its start.
    func session(of room: String) -> Session? { state.withLock { $0[room]?.session } }

    /// Rooms of a user's active sessions.
    func rooms(of user: UserID) -> [String] { state.withLock { $0.rooms(of: user) } }

    /// Users with active sessions.
    var users: [UserID] { state.withLock { $0.users } }

    /// The reporting settings of a room. Only rooms of logged sessions report transcripts.
    package func reporting(of room: String) -> RoomReporting {
        guard room.hasPrefix(Session.roomPrefix) else { return .events }
        guard state.withLock({ $0[room]?.session.loggingEnabledSnapshot == true }) else { return .events }
        return RoomReporting(reportsText: true, records: recordsLogged)
    }

    /// Why a room may not be joined: its session has ended or never existed. Nil if it may.
    package func joinError(for room: String) -> HTTPError? {
        guard room.hasPrefix(Session.roomPrefix), state.withLock({ $0[room].map { $0.endedAt == nil } != true }) else { return nil }
        return HTTPError(.sessionEnded, "the room's session has ended; start a new one")
    }
}

// MARK: - Briefings

extension SessionRooms {
    /// The briefing for assistants in a room. Nil if the room has no active session.
    package func briefing(of room: String) -> SessionBriefing? {
        guard room.hasPrefix(Session.roomPrefix) else { return nil }
        return state.withLock { state in
            guard let entry = state[room], entry.endedAt == nil else { return nil }
            let past = entry.notes?.past ?? []
            return SessionBriefing(
                sessionId: entry.session.id.text, context: entry.session.context, clientContext: entry.notes?.clientContext,
                voice: entry.notes?.voice, language: entry.notes?.language, pastSummaries: past.isEmpty ? nil : past)
        }
    }

    /// Reloads the briefing notes of a room's session from the store. On failure the briefing stays without them.
    func brief(_ room: String, from store: Sessions) async {
        guard let (session, lookup) = beginLookup(room) else { return }
        var background = SessionBackground()
        do {
            background = try await store.background(of: session.id, of: session.userID, limit: ProtocolLimits.pastSummariesMax)
        } catch StoreError.notFound {
            // The session was deleted meanwhile.
        } catch {
            log.error("briefings lack earlier sessions: the store failed", metadata: ["error": "\(error)"])
        }
        finish(lookup, of: room, with: background)
    }

    private func beginLookup(_ room: String) -> (Session, BriefingNotes.Lookup)? {
        state.withLock { state in
            guard let session = state[room]?.session, let lookup = state.beginLookup(room) else { return nil }
            return (session, lookup)
        }
    }

    private func finish(_ lookup: BriefingNotes.Lookup, of room: String, with background: SessionBackground) {
        state.withLock { $0.finish(lookup, of: room, with: background) }
    }
}
