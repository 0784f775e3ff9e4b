internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Synchronization
package import Wire

/// Rooms of active calls and who may join them. Thread-safe: shards check it before admitting a participant.
package final class CallRooms: Sendable {
    /// By room, the users who have left the call. Their room tokens are no longer accepted.
    private let excluded = Mutex<[String: Set<Identity>]>([:])

    package init() {}

    static func isCallRoom(_ room: String) -> Bool { room.hasPrefix(CallInfo.roomPrefix) }

    static func call(of room: String) -> CallID? {
        isCallRoom(room) ? CallID(text: String(room.dropFirst(CallInfo.roomPrefix.count))) : nil
    }

    func admit(_ user: Identity, to room: String) {
        _ = excluded.withLock { $0[room, default: []].remove(user) }
    }

    func exclude(_ user: Identity, from room: String) {
        _ = excluded.withLock { $0[room]?.insert(user) }
    }

    func close(_ room: String) {
        _ = excluded.withLock { $0.removeValue(forKey: room) }
    }

    /// Why a participant with a valid token may not join; nil if it may, or if the room belongs to no call.
    func joinError(for identity: Identity, in room: String) -> HTTPError? {
        guard Self.isCallRoom(room) else { return nil }
        let isAdmitted = excluded.withLock { $0[room]?.contains(identity) == false }
        return isAdmitted ? nil : HTTPError(.forbidden, "call_ended", "the room's call is over, or you have left it")
    }
}

/// A room change that affects its call.
package enum CallRoomChange: Sendable {
    case joined(Identity)
    case left(Identity)
    case ended

    /// Nil for an event that does not affect the call.
    init?(_ event: RoomAuditEvent) {
        switch event.event {
        case .room(.joined(let participant, _)): self = .joined(participant.identity)
        // The same identity has joined again.
        case .room(.left(_, _, .duplicateIdentity)): return nil
        // The room's end follows.
        case .room(.left(_, _, .roomClosed)), .room(.left(_, _, .roomDeleted)): return nil
        case .room(.left(let participant, _, _)): self = .left(participant.identity)
        case .room(.finished): self = .ended
        default: return nil
        }
    }
}
