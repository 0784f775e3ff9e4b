package import Engine
package import HTTPServer
internal import HTTPTypes
internal import Logging
package import Store
internal import Synchronization
package import Wire

/// The rooms of sessions, until the last that happened in them is kept, for those who cannot wait for the store: the shard that makes a room, or lets somebody into one.
package final class SessionRooms: Sendable {
    /// Sessions of one user that go on and of which assistants are told more than what they are called: the newest.
    private static let briefedPerUserMax = 16

    private struct Entry {
        let session: Session
        /// Nil: assistants are told no more than what the session is called.
        var notes: BriefingNotes?
        /// Nil while the session goes on.
        var endedAt: WallTime?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// Those of sessions that go on, of each user, in the order in which they began.
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

    /// - Parameter recordsLogged: whether what is heard in logged sessions is recorded.
    package init(recordsLogged: Bool = false) {
        self.recordsLogged = recordsLogged
    }

    /// A session that is known stays as it is, but for what the app says: where it had said nothing, it has now.
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

    /// The session is over: nobody is let in any more. What was said before may still be on its way.
    func end(_ room: String, at now: WallTime) {
        state.withLock { $0.end(room, at: now) }
    }

    /// Nothing comes from the room any more.
    func forget(_ room: String) {
        state.withLock { state in
            state.end(room, at: .now)
            state.entries[room] = nil
        }
    }

    /// For rooms that nobody ever came to.
    func forgetEnded(before time: WallTime) {
        state.withLock { state in
            for (room, entry) in state.entries where entry.endedAt.map({ $0 < time }) == true { state.entries[room] = nil }
        }
    }

    /// Whose session a room is, and which.
    package func owner(of room: String) -> (user: UserID, session: SessionID)? {
        state.withLock { $0.entries[room].map { ($0.session.userID, $0.session.id) } }
    }

    /// Those of a user's sessions that go on.
    func rooms(of user: UserID) -> [String] {
        state.withLock { $0.roomsOfUser[user] ?? [] }
    }

    /// Whose sessions go on.
    var users: [UserID] { state.withLock { Array($0.roomsOfUser.keys) } }

    /// What is told of a room. What is said in one leaves it only where a session is logged.
    package func reporting(of room: String) -> RoomReporting {
        guard room.hasPrefix(Session.roomPrefix) else { return .events }
        guard state.withLock({ $0.entries[room]?.session.loggingEnabledSnapshot == true }) else { return .events }
        return RoomReporting(reportsText: true, records: recordsLogged)
    }

    /// Why a room may not be joined: one of a session that is over, or never was. Nil if it may.
    package func joinError(for room: String) -> HTTPError? {
        guard room.hasPrefix(Session.roomPrefix), state.withLock({ $0.entries[room].map { $0.endedAt == nil } != true }) else { return nil }
        return HTTPError(.forbidden, "session_ended", "the room's session is over; start another one")
    }
}

// MARK: - Briefings

extension SessionRooms {
    /// What assistants in a room are told of its session. Nil for a room that is no session's, or whose session is over.
    package func briefing(of room: String) -> SessionBriefing? {
        guard room.hasPrefix(Session.roomPrefix) else { return nil }
        return state.withLock { state in
            guard let entry = state.entries[room], entry.endedAt == nil else { return nil }
            let past = entry.notes?.past ?? []
            return SessionBriefing(
                sessionId: entry.session.id.text, context: entry.session.context, clientContext: entry.notes?.clientContext,
                pastSummaries: past.isEmpty ? nil : past)
        }
    }

    /// Looks up what is to be told of a room's session, as it is now. What cannot be read is not told, and is nobody's reason to wait.
    func brief(_ room: String, from store: SessionStore) async {
        guard let (session, lookup) = beginLookup(room) else { return }
        var background = SessionBackground()
        do {
            background = try await store.background(of: session.id, of: session.userID, limit: ProtocolLimits.pastSummariesMax)
        } catch StoreError.notFound {
            // It was deleted meanwhile.
        } catch {
            log.error("assistants are told nothing of earlier sessions", metadata: ["error": "\(error)"])
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
