package import Engine
internal import HTTPTypes
package import Sessions
internal import Synchronization

/// The rooms of sessions, until the last that happened in them is kept, for those who cannot wait for the store: the shard that makes a room, or lets somebody into one.
package final class SessionRooms: Sendable {
    private struct Entry {
        let user: UserID
        let session: SessionID
        let isLogged: Bool
        /// Nil while the session goes on.
        var endedAt: WallTime?
    }

    private let entries = Mutex<[String: Entry]>([:])

    private let recordsLogged: Bool

    /// - Parameter recordsLogged: whether what is heard in logged sessions is recorded.
    package init(recordsLogged: Bool = false) {
        self.recordsLogged = recordsLogged
    }

    package func add(_ session: Session) {
        entries.withLock {
            $0[session.roomName] = Entry(user: session.userID, session: session.id, isLogged: session.loggingEnabledSnapshot)
        }
    }

    /// The session is over: nobody is let in any more. What was said before may still be on its way.
    func end(_ room: String, at now: WallTime) {
        entries.withLock { entries in
            if entries[room]?.endedAt == nil { entries[room]?.endedAt = now }
        }
    }

    /// Nothing comes from the room any more.
    func forget(_ room: String) {
        _ = entries.withLock { $0.removeValue(forKey: room) }
    }

    /// For rooms that nobody ever came to.
    func forgetThoseEnded(before time: WallTime) {
        entries.withLock { entries in
            for (room, entry) in entries where entry.endedAt.map({ $0 < time }) == true { entries[room] = nil }
        }
    }

    /// Whose session a room is, and which.
    package func owner(of room: String) -> (user: UserID, session: SessionID)? {
        entries.withLock { $0[room].map { ($0.user, $0.session) } }
    }

    /// All of a user's, or of everybody.
    package func rooms(of user: UserID? = nil) -> [(room: String, user: UserID, session: SessionID)] {
        entries.withLock { entries in
            entries.filter { user == nil || $0.value.user == user }.map { ($0.key, $0.value.user, $0.value.session) }
        }
    }

    /// What is told of a room. What is said in one leaves it only where a session is logged.
    package func keeping(of room: String) -> RoomKeeping {
        guard room.hasPrefix(Session.roomPrefix) else { return .facts }
        guard entries.withLock({ $0[room]?.isLogged == true }) else { return .facts }
        return RoomKeeping(tellsText: true, records: recordsLogged)
    }

    /// Why a room may not be joined: one of a session that is over, or never was. Nil if it may.
    package func refusal(of room: String) -> Refusal? {
        guard room.hasPrefix(Session.roomPrefix), entries.withLock({ $0[room].map { $0.endedAt == nil } != true }) else { return nil }
        return Refusal(.forbidden, "session_ended", "the room's session is over; start another one")
    }
}
