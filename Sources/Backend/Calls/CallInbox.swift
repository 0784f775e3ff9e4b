internal import Engine
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
        case opened(DeviceAddress, ChannelOwner)
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

    private struct Counts {
        var devices = 0
        var requests = 0
        var messages = 0
        var isDraining = false
    }

    let rooms: CallRooms
    package let tokens: UserTokens
    private let limits: Limits
    private let inbox: ServiceInbox<Message, RoomKey, Counts>

    package init(tokens: UserTokens, rooms: CallRooms = CallRooms(), limits: Limits = Limits()) {
        self.tokens = tokens
        self.rooms = rooms
        self.limits = limits
        inbox = ServiceInbox(counts: Counts()) { message, counts in
            switch message {
            case .closed: counts.devices -= 1
            case .request: counts.requests -= 1
            case .message: counts.messages -= 1
            case .opened, .room, .dedicated, .dispatched, .drain: break
            }
        }
    }

    /// - Returns: false if the message was refused because of its limit.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        if case .room(let call, let change) = message {
            inbox.post(message, newestFor: RoomKey(call: call, identity: change.identity))
            return true
        }
        return inbox.post(message) { [limits] counts in
            switch message {
            case .opened:
                guard counts.devices < limits.devicesMax else { return false }
                counts.devices += 1
            case .request:
                guard counts.requests < limits.requestsMax else { return false }
                counts.requests += 1
            case .message:
                guard counts.messages < limits.messagesMax else { return false }
                counts.messages += 1
            case .drain:
                guard !counts.isDraining else { return false }
                counts.isDraining = true
            case .closed, .room, .dedicated, .dispatched: break
            }
            return true
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
