package import Engine
internal import HTTPTypes
package import Sessions
internal import Synchronization

/// The rooms of sessions that go on, for those who cannot wait for the store: the shard that makes a room, or lets somebody into one.
package final class SessionRooms: Sendable {
    private struct Entry {
        let user: UserID
        let session: SessionID
        let isLogged: Bool
    }

    private let entries = Mutex<[String: Entry]>([:])

    package init() {}

    package func add(_ session: Session) {
        entries.withLock {
            $0[session.roomName] = Entry(user: session.userID, session: session.id, isLogged: session.loggingEnabledSnapshot)
        }
    }

    package func remove(_ room: String) {
        _ = entries.withLock { $0.removeValue(forKey: room) }
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
        return entries.withLock { $0[room]?.isLogged == true } ? .factsAndText : .facts
    }

    /// Why a room may not be joined: one of a session that is over, or never was. Nil if it may.
    package func refusal(of room: String) -> Refusal? {
        guard room.hasPrefix(Session.roomPrefix), entries.withLock({ $0[room] == nil }) else { return nil }
        return Refusal(.forbidden, "session_ended", "the room's session is over; start another one")
    }
}
