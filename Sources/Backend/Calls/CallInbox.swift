internal import Engine
package import Identity
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
/// | room changes | one waiting per call and participant | a newer change replaces the waiting one |
/// | `drain` | one | ignored |
package final class CallInbox: Sendable {
    /// The owner of a channel.
    package enum Owner: Sendable {
        /// Still to be looked up in the store.
        case user(UserTokens.Subject)
        /// Identified as in rooms.
        case assistant(Identity)

        /// Whether two tokens have the same owner.
        package func isSame(as other: Owner) -> Bool {
            switch (self, other) {
            case (.user(.user(let one)), .user(.user(let other))): one == other
            case (.user(.external(let one)), .user(.external(let other))): one.issuer == other.issuer && one.subject == other.subject
            case (.assistant(let one), .assistant(let other)): one == other
            default: false
            }
        }
    }

    /// A message from a shard.
    package enum Message: Sendable {
        case opened(DeviceAddress, Owner)
        case closed(DeviceID)
        case request(CallRequest, id: UInt64?, from: DeviceID)
        case room(CallID, CallRoomChange)
        case drain
    }

    package struct Limits: Sendable {
        package var devicesMax = 1_000_000
        package var requestsMax = 10_000

        package init() {}
    }

    private struct RoomKey: Hashable {
        let call: CallID
        /// Nil for the room's end.
        let identity: Identity?
    }

    private enum Item: Sendable {
        case message(Message)
        case room(RoomKey)
    }

    private struct State {
        var devices = 0
        var requests = 0
        var roomChanges: [RoomKey: CallRoomChange] = [:]
        var isDraining = false
    }

    let rooms: CallRooms
    private let tokens: UserTokens
    private let limits: Limits
    private let items: AsyncStream<Item>
    private let continuation: AsyncStream<Item>.Continuation
    private let state = Mutex(State())

    package init(tokens: UserTokens, rooms: CallRooms = CallRooms(), limits: Limits = Limits()) {
        self.tokens = tokens
        self.rooms = rooms
        self.limits = limits
        // Bounded by `post`.
        (items, continuation) = AsyncStream.makeStream(of: Item.self)
    }

    /// Verifies a token and returns its owner and expiry, in seconds since 1970.
    ///
    /// - Parameter keys: keys that may issue assistants' tokens.
    package func verify(_ token: String, keys: KeyRing) throws(TokenError) -> (owner: Owner, expires: Int64) {
        let now = WallClock.seconds
        do throws(TokenError) {
            let (subject, expires) = try tokens.verify(token, now: now)
            return (.user(subject), expires)
        } catch .unknownIssuer {
            let claims = try TokenVerifier().verify(token, keys: keys, now: now)
            // A room token without agent rights is not enough.
            guard claims.video?.agent == true else { throw .unknownIssuer }
            guard case .assistant? = CallParty(text: claims.identity) else { throw .badIdentity }
            return (.assistant(Identity(text: claims.identity)), claims.expires)
        }
    }

    /// - Returns: false if the message was refused because of its limit.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        let item: Item? = state.withLock { state in
            switch message {
            case .opened:
                guard state.devices < limits.devicesMax else { return nil }
                state.devices += 1
            case .closed: break
            case .request:
                guard state.requests < limits.requestsMax else { return nil }
                state.requests += 1
            case .room(let call, let change):
                let key = RoomKey(call: call, identity: change.identity)
                return state.roomChanges.updateValue(change, forKey: key) == nil ? .room(key) : nil
            case .drain:
                guard !state.isDraining else { return nil }
                state.isDraining = true
            }
            return .message(message)
        }
        guard let item else {
            if case .room = message { return true }
            return false
        }
        continuation.yield(item)
        return true
    }

    /// Posts an event of a call's room. Called on the thread of the room's shard; events of other rooms are ignored.
    func post(_ event: RoomAuditEvent) {
        guard let id = CallRooms.call(of: event.room.info.name), let change = CallRoomChange(event) else { return }
        post(.room(id, change))
    }

    /// Ends `messages` after the queued ones.
    package func finish() {
        continuation.finish()
    }

    // MARK: Reader

    /// Single reader only.
    package var messages: some AsyncSequence<Message, Never> & Sendable { items.map { [self] in take($0) } }

    private func take(_ item: Item) -> Message {
        state.withLock { state in
            switch item {
            case .room(let key):
                guard let change = state.roomChanges.removeValue(forKey: key) else {
                    preconditionFailure("a queued room change has a value")
                }
                return .room(key.call, change)
            case .message(let message):
                switch message {
                case .closed: state.devices -= 1
                case .request: state.requests -= 1
                case .opened, .room, .drain: break
                }
                return message
            }
        }
    }
}

extension CallRoomChange {
    fileprivate var identity: Identity? {
        switch self {
        case .joined(let identity), .left(let identity): identity
        case .ended: nil
        }
    }
}

/// The address of a device's connection.
package struct DeviceAddress: Sendable {
    package let id: DeviceID
    package let shard: Int
    /// The shard's number for the connection.
    package let number: Int
    /// The Host header of its request.
    package let host: String?
    /// Expiry of its first token, in seconds since 1970.
    package let expires: Int64

    package init(id: DeviceID, shard: Int, number: Int, host: String?, expires: Int64) {
        self.id = id
        self.shard = shard
        self.number = number
        self.host = host
        self.expires = expires
    }
}

/// A command from `CallService` to a shard about its devices. Disconnected devices are skipped.
package enum DeviceCommand: Sendable {
    case send([UInt8], to: [Int])
    /// Counts a handled request and sends the reply, if any.
    case refuse(RequestError.Code, [UInt8]?, to: Int)
    case close(Int, CloseReason)
}
