internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Synchronization
internal import Wire

/// The rooms of calls that go on, for those who cannot wait for an answer: the shard that lets somebody into one.
package final class CallRooms: Sendable {
    /// Of each room, those who have left the call: the tokens that they were given open it no longer.
    private let left = Mutex<[String: Set<Identity>]>([:])

    package init() {}

    static func isOne(_ room: String) -> Bool { room.hasPrefix(CallInfo.roomPrefix) }

    static func call(of room: String) -> CallID? {
        isOne(room) ? CallID(text: String(room.dropFirst(CallInfo.roomPrefix.count))) : nil
    }

    func letIn(_ user: Identity, _ room: String) {
        _ = left.withLock { $0[room, default: []].remove(user) }
    }

    func shutOut(_ user: Identity, _ room: String) {
        _ = left.withLock { $0[room]?.insert(user) }
    }

    func close(_ room: String) {
        _ = left.withLock { $0.removeValue(forKey: room) }
    }

    /// Why somebody with a good token may not come in; nil if it may, or the room is none of a call.
    func refusal(of identity: Identity, in room: String) -> HTTPError? {
        guard Self.isOne(room) else { return nil }
        let mayJoin = left.withLock { $0[room]?.contains(identity) == false }
        return mayJoin ? nil : HTTPError(.forbidden, "call_ended", "the room's call is over, or you have left it")
    }
}
