internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Synchronization
package import Wire

/// The queue through which shards reach `CallService`, from any thread. Messages are handled in the order of posting.
///
/// Every message has a limit:
///
/// | message | limit | beyond it |
/// |---|---|---|
/// | `opened` | `devicesMax` devices whose `closed` is not yet handled | refused: the shard closes the device |
/// | `closed` | one for each accepted `opened` | always accepted |
/// | `request` | `requestsMax` waiting | refused with `limit_exceeded` |
/// | `message` | `messagesMax` waiting | dropped |
/// | room changes | one waiting per call and participant | a newer change replaces the waiting one |
/// | `dedicated`, `dispatched` | one per device; a few per job, whose number is limited | always accepted |
/// | `drain` | one | ignored |
package final class CallInbox: Sendable {
    /// A message from a shard, or from dispatch.
    package enum Message: Sendable {
        case opened(ChannelAddress, ChannelOwner)
        case closed(DeviceID)
        case request(CallRequest, id: UInt64?, from: DeviceID)
        case room(CallID, CallRoomChange)
        /// The process has registered as a worker: it takes jobs instead of calls.
        case dedicated(DeviceID)
        /// The progress of a job that was created for a call.
        case dispatched(assistant: String, to: CallID, DispatchProgress)
        /// From another service, for all devices of an owner.
        case message([UInt8], to: Identity)
        case drain
    }

    package enum DispatchProgress: Sendable {
        /// A worker has accepted.
        case accepted
        case failed(reason: String)
    }

    package struct Limits: Sendable {
        package var devicesMax = 1_000_000
        package var requestsMax = 10_000
        package var messagesMax = 10_000

        package init() {}
    }

    private struct RoomKey: Hashable {
        let call: CallID
        /// Nil for the room's end.
        let identity: Identity?
    }

    private enum Kind {
        case device, request, message, drain
    }

    let rooms: CallRooms
    package let tokens: UserTokens
    private let inbox: ServiceInbox<Message, RoomKey, Kind>

    package init(tokens: UserTokens, rooms: CallRooms = CallRooms(), limits: Limits = Limits()) {
        self.tokens = tokens
        self.rooms = rooms
        inbox = ServiceInbox(
            limits: [.device: limits.devicesMax, .request: limits.requestsMax, .message: limits.messagesMax, .drain: 1]
        ) { message in
            switch message {
            case .closed: .device
            case .request: .request
            case .message: .message
            case .opened, .room, .dedicated, .dispatched, .drain: nil
            }
        }
    }

    /// - Returns: false if the message was refused because of its limit.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        switch message {
        case .room(let call, let change):
            inbox.post(message, newestFor: RoomKey(call: call, identity: change.identity))
            return true
        case .opened: return inbox.post(message, as: .device)
        case .request: return inbox.post(message, as: .request)
        case .message: return inbox.post(message, as: .message)
        case .drain: return inbox.post(message, as: .drain)
        case .closed, .dedicated, .dispatched: return inbox.post(message, as: nil)
        }
    }

    /// Posts an event of a call's room. Called on the thread of the room's shard; events of other rooms are ignored.
    func post(_ event: RoomAuditEvent) {
        guard let id = CallRooms.call(of: event.room.info.name), let change = CallRoomChange(event) else { return }
        post(.room(id, change))
    }

    /// Ends `messages` after the queued ones.
    package func finish() {
        inbox.finish()
    }

    /// Single reader only.
    package var messages: some AsyncSequence<Message, Never> & Sendable { inbox.messages }
}

extension CallRoomChange {
    fileprivate var identity: Identity? {
        switch self {
        case .joined(let identity), .left(let identity): identity
        case .ended: nil
        }
    }
}

/// Rooms of active calls and who may join them. Thread-safe: shards check it before admitting a participant.
package final class CallRooms: Sendable {
    /// By room, the users who have left the call. Their room tokens are no longer accepted.
    private let excluded = Mutex<[String: Set<Identity>]>([:])
    /// The traces of the requests that started calls, for a day: a call's room has events after the call has ended.
    private let traces = Mutex(RecentTable<String, TraceContext>(keeping: 2 * Limits.callsMax, for: .seconds(86_400)))

    package init() {}

    static func isCallRoom(_ room: String) -> Bool { room.hasPrefix(CallInfo.roomPrefix) }

    static func call(of room: String) -> CallID? {
        isCallRoom(room) ? CallID(text: String(room.dropFirst(CallInfo.roomPrefix.count))) : nil
    }

    func setTrace(_ trace: TraceContext, of room: String) {
        traces.withLock { traces in
            _ = traces.advance(to: .now)
            traces[room] = trace
        }
    }

    func trace(of room: String) -> TraceContext? { traces.withLock { $0[room] } }

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
        return isAdmitted ? nil : HTTPError(.callEnded, "the room's call is over, or you have left it")
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
