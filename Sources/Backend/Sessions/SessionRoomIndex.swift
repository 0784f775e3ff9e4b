internal import DequeModule
internal import Store
internal import Wire

/// The sessions of rooms, with their ends and briefing notes. A pure value.
struct SessionRoomIndex {
    /// Only the newest active sessions of a user, up to this number, have full briefings.
    private static let briefedPerUserMax = 16

    struct Entry {
        let session: Session
        /// Nil: the briefing contains only the session's context.
        fileprivate(set) var notes: BriefingNotes?
        /// Nil while the session is active.
        fileprivate(set) var endedAt: WallTime?
        /// The HTTP request that ended the session.
        fileprivate(set) var endingRequest: RequestContext?
    }

    /// A start in progress: from before the session's row is written or read until the session is added.
    struct Start: Sendable {
        fileprivate let number: UInt64
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

    private var entries: [String: Entry] = [:]
    /// Rooms of each user's active sessions, oldest first.
    private var roomsOfUser: [UserID: [String]] = [:]
    /// Starts that have not finished. Ordered with `endings` by their numbers.
    private var starts: Set<UInt64> = []
    /// Kept as long as a start that began before is in progress.
    private var endings: Deque<(number: UInt64, ending: Ending)> = []
    private var lastNumber: UInt64 = 0

    subscript(room: String) -> Entry? { entries[room] }

    /// Rooms of a user's active sessions.
    func rooms(of user: UserID) -> [String] { roomsOfUser[user] ?? [] }

    /// Users with active sessions.
    var users: [UserID] { Array(roomsOfUser.keys) }

    // MARK: Starts

    mutating func beginStart() -> Start {
        let start = Start(number: nextNumber())
        starts.insert(start.number)
        return start
    }

    mutating func finish(_ start: Start) {
        starts.remove(start.number)
        let oldest = starts.min() ?? .max
        while let first = endings.first, first.number < oldest { endings.removeFirst() }
    }

    /// Adds a session, unless it has ended since the start began. A known session keeps its state, except that a missing client context is
    /// filled in.
    ///
    /// - Returns: whether the session is active.
    mutating func add(_ session: Session, clientContext: String?, _ start: Start) -> Bool {
        guard !endings.contains(where: { $0.number > start.number && $0.ending.concerns(session) }) else { return false }
        if let entry = entries[session.roomName] {
            entries[session.roomName]?.notes?.fill(clientContext)
            return entry.endedAt == nil
        }
        add(session, clientContext)
        return true
    }

    mutating func restore(_ session: Session) { add(session, nil) }

    private mutating func add(_ session: Session, _ clientContext: String?) {
        entries[session.roomName] = Entry(session: session, notes: BriefingNotes(clientContext: clientContext))
        roomsOfUser[session.userID, default: []].append(session.roomName)
        guard let rooms = roomsOfUser[session.userID], rooms.count > Self.briefedPerUserMax else { return }
        entries[rooms[rooms.count - Self.briefedPerUserMax - 1]]?.notes = nil
    }

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Ends

    /// Marks a session as ended. Its entry is kept for its last events.
    mutating func end(_ room: String, at now: WallTime, by request: RequestContext? = nil) {
        note(.room(room))
        guard let user = entries[room]?.session.userID, entries[room]?.endedAt == nil else { return }
        entries[room]?.notes = nil
        entries[room]?.endedAt = now
        entries[room]?.endingRequest = request
        removeActive(room, of: user)
    }

    /// Marks all sessions of a user as ended.
    ///
    /// - Returns: the rooms of those that were active.
    mutating func endAll(of user: UserID, at now: WallTime) -> [String] {
        note(.rooms(of: user))
        let rooms = rooms(of: user)
        for room in rooms { end(room, at: now) }
        return rooms
    }

    /// Marks a session as ended and removes it.
    mutating func remove(_ room: String, at now: WallTime) {
        end(room, at: now)
        entries[room] = nil
    }

    mutating func removeEnded(before time: WallTime) {
        for (room, entry) in entries where entry.endedAt.map({ $0 < time }) == true { entries[room] = nil }
    }

    /// Removes a session without ending it.
    mutating func forget(_ room: String) {
        guard let entry = entries.removeValue(forKey: room) else { return }
        removeActive(room, of: entry.session.userID)
    }

    private mutating func note(_ ending: Ending) {
        if !starts.isEmpty { endings.append((nextNumber(), ending)) }
    }

    private mutating func removeActive(_ room: String, of user: UserID) {
        roomsOfUser[user]?.removeAll { $0 == room }
        if roomsOfUser[user]?.isEmpty == true { roomsOfUser[user] = nil }
    }

    // MARK: Briefings

    mutating func beginLookup(_ room: String) -> BriefingNotes.Lookup? { entries[room]?.notes?.beginLookup() }

    mutating func finish(_ lookup: BriefingNotes.Lookup, of room: String, with background: SessionBackground) {
        entries[room]?.notes?.take(background, of: lookup)
    }
}
