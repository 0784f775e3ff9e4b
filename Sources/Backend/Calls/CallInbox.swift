package import Engine
package import HTTPServer
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
/// | `deleted`, `revoked`, `drain`, `begin`, `resign` | few | always accepted |
///
/// In a cluster, messages of rooms and services go to the coordinator.
package final class CallInbox: Sendable {
    /// A message from a shard, or from dispatch.
    package enum Message: Sendable {
        case opened(ChannelAddress, ChannelOwner)
        case closed(DeviceID)
        case request(CallRequest, id: UInt64?, from: DeviceID)
        /// From a room or another service.
        case service(CallServiceMessage)
        /// The process has registered as a worker: it takes jobs instead of calls.
        case dedicated(DeviceID)
        /// The progress of a job that was created for a call.
        case dispatched(assistant: String, to: CallID, DispatchProgress)
        case drain
        /// This node serves calls from now on, and continues these.
        case begin([CallInfo], QueryReply<Void>)
        /// Another node serves calls from now on.
        case resign
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

    package let rooms: CallRooms
    package let tokens: UserTokens
    private let inbox: ServiceInbox<Message, RoomKey, Kind>
    private let relay: NodeRelay?
    private let isReplacing: @Sendable (Identity, _ room: String) -> Bool

    /// - Parameters:
    ///   - relay: to the node that serves calls for a cluster; nil for a gateway that runs alone.
    ///   - isReplacing: whether a participant is an agent that is being replaced if it was lost; its call goes on.
    package init(
        tokens: UserTokens, rooms: CallRooms = CallRooms(), limits: Limits = Limits(), relay: NodeRelay? = nil,
        isReplacing: @escaping @Sendable (Identity, _ room: String) -> Bool = { _, _ in false }
    ) {
        self.tokens = tokens
        self.rooms = rooms
        self.relay = relay
        self.isReplacing = isReplacing
        inbox = ServiceInbox(
            limits: [.device: limits.devicesMax, .request: limits.requestsMax, .message: limits.messagesMax, .drain: 1]
        ) { message in
            switch message {
            case .closed: .device
            case .request: .request
            case .service(.notice): .message
            case .opened, .service, .dedicated, .dispatched, .drain, .begin, .resign: nil
            }
        }
    }

    /// - Returns: false if the message was refused because of its limit.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        switch message {
        case .service(.room(let call, let change, _, _)):
            inbox.post(message, newestFor: RoomKey(call: call, identity: change.identity))
            return true
        case .opened: return inbox.post(message, as: .device)
        case .request: return inbox.post(message, as: .request)
        case .service(.notice): return inbox.post(message, as: .message)
        case .drain: return inbox.post(message, as: .drain)
        case .closed, .dedicated, .dispatched, .service, .begin, .resign: return inbox.post(message, as: nil)
        }
    }

    /// Posts a message to the node that serves calls.
    ///
    /// - Returns: false if the message was refused because of a limit.
    @discardableResult
    package func post(_ message: CallServiceMessage) -> Bool {
        switch relay?(.calls(message)) ?? .here {
        case .here: accept(message)
        case .taken, .outdated: true
        case .refused: false
        }
    }

    /// Posts a message of this node or of another one to the call service of this node.
    @discardableResult
    package func accept(_ message: CallServiceMessage) -> Bool {
        if case .room(let call, .left(let identity), isLoss: true, _) = message, isReplacing(identity, CallInfo.room(of: call)) {
            return true
        }
        return post(.service(message))
    }

    /// Posts an event of a call's room. Called on the thread of the room's shard; events of other rooms are ignored.
    func post(_ event: RoomAuditEvent) {
        guard let id = CallRooms.call(of: event.room.info.name), let change = CallRoomChange(event) else { return }
        var isLoss = false
        if case .room(.left(_, _, let reason)) = event.event { isLoss = !reason.isIntended }
        post(.room(id, change, isLoss: isLoss, epoch: event.epoch))
    }

    /// Makes the service of this node serve calls, beginning with those that another node has left. Returns once it has them.
    package func begin(with calls: [CallInfo]) async {
        let (answers, reply) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        post(.begin(calls, QueryReply(reply)))
        for await _ in answers { return }
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
        case .joined(let identity, _), .left(let identity): identity
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

    package static func isCallRoom(_ room: String) -> Bool { room.hasPrefix(CallInfo.roomPrefix) }

    package static func call(of room: String) -> CallID? {
        isCallRoom(room) ? CallID(text: String(room.dropFirst(CallInfo.roomPrefix.count))) : nil
    }

    func setTrace(_ trace: TraceContext, of room: String) {
        traces.withLock { traces in
            _ = traces.advance(to: .now)
            traces[room] = trace
        }
    }

    func trace(of room: String) -> TraceContext? { traces.withLock { $0[room] } }

    /// Replaces all rooms by those of calls that another node has left: members who have left a call may not join.
    func begin(with calls: [CallInfo]) {
        let rooms = calls.map { call in
            (call.room, Set(call.members.filter { $0.state == .left }.map { $0.party.identity }))
        }
        excluded.withLock { $0 = Dictionary(rooms) { first, _ in first } }
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
    package func joinError(for identity: Identity, in room: String) -> HTTPError? {
        guard Self.isCallRoom(room) else { return nil }
        let isAdmitted = excluded.withLock { $0[room]?.contains(identity) == false }
        return isAdmitted ? nil : HTTPError(.callEnded, "the room's call is over, or you have left it")
    }
}

/// A room change that affects its call.
package enum CallRoomChange: Sendable, Hashable, Codable {
    /// `media` is how a room that was open before has this participant; nil for one that has just joined, and from a node of an earlier
    /// version.
    case joined(Identity, media: CallMediaState? = nil)
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
