package import Engine
package import HTTPServer
internal import HTTPTypes
internal import Logging
package import Store
internal import Synchronization
package import Wire

/// An in-memory index of session rooms for shards, which cannot wait for the store when they create a room or admit a participant. An entry
/// is kept until the room's last event is stored.
package final class SessionRooms: Sendable {
    /// Only the newest active sessions of a user, up to this number, have full briefings.
    private static let briefedPerUserMax = 16

    private struct Entry {
        let session: Session
        /// Nil: the briefing contains only the session's context.
        var notes: BriefingNotes?
        /// Nil while the session is active.
        var endedAt: WallTime?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// Rooms of each user's active sessions, oldest first.
        var roomsOfUser: [UserID: [String]] = [:]

        mutating func add(_ entry: Entry) {
            let (room, user) = (entry.session.roomName, entry.session.userID)
            entries[room] = entry
            roomsOfUser[user, default: []].append(room)
            guard let rooms = roomsOfUser[user], rooms.count > SessionRooms.briefedPerUserMax else { return }
            entries[rooms[rooms.count - SessionRooms.briefedPerUserMax - 1]]?.notes = nil
        }

        mutating func end(_ room: String, at now: WallTime) {
            guard let user = entries[room]?.session.userID, entries[room]?.endedAt == nil else { return }
            entries[room]?.notes = nil
            entries[room]?.endedAt = now
            roomsOfUser[user]?.removeAll { $0 == room }
            if roomsOfUser[user]?.isEmpty == true { roomsOfUser[user] = nil }
        }
    }

    private let state = Mutex(State())

    private let recordsLogged: Bool
    private let log = Logger(label: "patchbay.sessions")

    /// - Parameter recordsLogged: whether logged sessions are recorded.
    package init(recordsLogged: Bool = false) {
        self.recordsLogged = recordsLogged
    }

    /// Adds a session. A known session keeps its state, except that a missing client context is filled in.
    func add(_ session: Session, clientContext: String? = nil) {
        let room = session.roomName
        state.withLock { state in
            if state.entries[room] != nil {
                state.entries[room]?.notes?.fill(clientContext)
                return
            }
            state.add(Entry(session: session, notes: BriefingNotes(clientContext: clientContext)))
        }
    }

    /// Marks the session as ended: its room admits nobody. Earlier events may still arrive.
    func end(_ room: String, at now: WallTime) {
        state.withLock { $0.end(room, at: now) }
    }

    /// Removes a room after its last event.
    func remove(_ room: String) {
        state.withLock { state in
            state.end(room, at: .now)
            state.entries[room] = nil
        }
    }

    /// Removes ended sessions whose room was never opened.
    func removeEnded(before time: WallTime) {
        state.withLock { state in
            for (room, entry) in state.entries where entry.endedAt.map({ $0 < time }) == true { state.entries[room] = nil }
        }
    }

    /// The user and session that a room belongs to.
    package func owner(of room: String) -> (user: UserID, session: SessionID)? {
        state.withLock { $0.entries[room].map { ($0.session.userID, $0.session.id) } }
    }

    /// Rooms of a user's active sessions.
    func rooms(of user: UserID) -> [String] {
        state.withLock { $0.roomsOfUser[user] ?? [] }
    }

    /// Users with active sessions.
    var users: [UserID] { state.withLock { Array($0.roomsOfUser.keys) } }

    /// The reporting settings of a room. Only rooms of logged sessions report transcripts.
    package func reporting(of room: String) -> RoomReporting {
        guard room.hasPrefix(Session.roomPrefix) else { return .events }
        guard state.withLock({ $0.entries[room]?.session.loggingEnabledSnapshot == true }) else { return .events }
        return RoomReporting(reportsText: true, records: recordsLogged)
    }

    /// Why a room may not be joined: its session has ended or never existed. Nil if it may.
    package func joinError(for room: String) -> HTTPError? {
        guard room.hasPrefix(Session.roomPrefix), state.withLock({ $0.entries[room].map { $0.endedAt == nil } != true }) else { return nil }
        return HTTPError(.forbidden, "session_ended", "the room's session has ended; start a new one")
    }
}

// MARK: - Briefings

extension SessionRooms {
    /// The briefing for assistants in a room. Nil if the room has no active session.
    package func briefing(of room: String) -> SessionBriefing? {
        guard room.hasPrefix(Session.roomPrefix) else { return nil }
        return state.withLock { state in
            guard let entry = state.entries[room], entry.endedAt == nil else { return nil }
            let past = entry.notes?.past ?? []
            return SessionBriefing(
                sessionId: entry.session.id.text, context: entry.session.context, clientContext: entry.notes?.clientContext,
                voice: entry.notes?.voice, language: entry.notes?.language, pastSummaries: past.isEmpty ? nil : past)
        }
    }

    /// Reloads the briefing notes of a room's session from the store. On failure the briefing stays without them.
    func brief(_ room: String, from store: SessionStore) async {
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
            guard let session = state.entries[room]?.session, let lookup = state.entries[room]?.notes?.beginLookup() else { return nil }
            return (session, lookup)
        }
    }

    private func finish(_ lookup: BriefingNotes.Lookup, of room: String, with background: SessionBackground) {
        state.withLock { $0.entries[room]?.notes?.take(background, of: lookup) }
    }
}
