internal import DequeModule
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
        /// The HTTP request that ended the session.
        var endingRequest: RequestContext?
    }

    /// An end that came while sessions were being started.
    private enum Ending {
        case room(String)
        case rooms(of: UserID)

        func concerns(_ session: Session) -> Bool {
            switch self {
            case .room(let room): session.roomName == room
            case .rooms(let user): session.userID == user
            }
        }
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// Rooms of each user's active sessions, oldest first.
        var roomsOfUser: [UserID: [String]] = [:]
        /// Starts that have not finished. Ordered with `endings` by their numbers.
        var starts: Set<UInt64> = []
        /// Kept as long as a start that began before is in progress.
        var endings: Deque<(number: UInt64, ending: Ending)> = []
        var lastNumber: UInt64 = 0

        mutating func add(_ entry: Entry) {
            let (room, user) = (entry.session.roomName, entry.session.userID)
            entries[room] = entry
            roomsOfUser[user, default: []].append(room)
            guard let rooms = roomsOfUser[user], rooms.count > SessionRooms.briefedPerUserMax else { return }
            entries[rooms[rooms.count - SessionRooms.briefedPerUserMax - 1]]?.notes = nil
        }

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        mutating func note(_ ending: Ending) {
            if !starts.isEmpty { endings.append((nextNumber(), ending)) }
        }

        mutating func end(_ room: String, at now: WallTime, by request: RequestContext? = nil) {
            note(.room(room))
            guard let user = entries[room]?.session.userID, entries[room]?.endedAt == nil else { return }
            entries[room]?.notes = nil
            entries[room]?.endedAt = now
            entries[room]?.endingRequest = request
            removeActive(room, of: user)
        }

        mutating func forget(_ room: String) {
            guard let entry = entries.removeValue(forKey: room) else { return }
            removeActive(room, of: entry.session.userID)
        }

        private mutating func removeActive(_ room: String, of user: UserID) {
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

    /// A start in progress: from before the session's row is written or read until the session is added.
    struct Start: Sendable {
        fileprivate let number: UInt64
    }

    func beginStart() -> Start {
        state.withLock { state in
            let start = Start(number: state.nextNumber())
            state.starts.insert(start.number)
            return start
        }
    }

    func finish(_ start: Start) {
        state.withLock { state in
            state.starts.remove(start.number)
            let oldest = state.starts.min() ?? .max
            while let first = state.endings.first, first.number < oldest { state.endings.removeFirst() }
        }
    }

    /// Adds a session of the previous process. Call before any session can end.
    func restore(_ session: Session) {
        state.withLock { $0.add(Entry(session: session, notes: BriefingNotes(clientContext: nil))) }
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
    func add(_ session: Session, clientContext: String? = nil, _ start: Start) -> Bool {
        let room = session.roomName
        return state.withLock { state in
            guard !state.endings.contains(where: { $0.number > start.number && $0.ending.concerns(session) }) else { return false }
            if let entry = state.entries[room] {
                state.entries[room]?.notes?.fill(clientContext)
                return entry.endedAt == nil
            }
            state.add(Entry(session: session, notes: BriefingNotes(clientContext: clientContext)))
            return true
        }
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
        state.withLock { state in
            state.note(.rooms(of: user))
            let rooms = state.roomsOfUser[user] ?? []
            for room in rooms { state.end(room, at: now) }
            return rooms
        }
    }

    /// The HTTP request that ended a room's session, if any.
    func endingRequest(of room: String) -> RequestContext? {
        state.withLock { $0.entries[room]?.endingRequest }
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
        session(of: room).map { ($0.userID, $0.id) }
    }

    /// The session that a room belongs to, as it was at its start.
    func session(of room: String) -> Session? { state.withLock { $0.entries[room]?.session } }

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
        return HTTPError(.sessionEnded, "the room's session has ended; start a new one")
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
            guard let session = state.entries[room]?.session, let lookup = state.entries[room]?.notes?.beginLookup() else { return nil }
            return (session, lookup)
        }
    }

    private func finish(_ lookup: BriefingNotes.Lookup, of room: String, with background: SessionBackground) {
        state.withLock { $0.entries[room]?.notes?.take(background, of: lookup) }
    }
}
