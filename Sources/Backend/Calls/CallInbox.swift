internal import Engine
package import Identity
internal import Synchronization
package import Wire

/// The way to the one who keeps the calls (`CallService`), from any thread: what devices and HTTP ask, and what happens in calls' rooms.
///
/// What comes in is dealt with in that order. Requests beyond the limit are refused, so that nobody who asks without end makes others wait
/// long; all else is bounded by the connections and rooms that it comes from, and is never lost.
package final class CallInbox: Sendable {
    /// Whose a channel is.
    package enum Bearer: Sendable {
        /// To be looked up in the store.
        case user(UserTokens.Bearer)
        /// By its name in rooms.
        case assistant(Identity)

        /// Whether two tokens speak for the same one.
        package func isSame(as other: Bearer) -> Bool {
            switch (self, other) {
            case (.user(.user(let one)), .user(.user(let other))): one == other
            case (.user(.outsider(let one)), .user(.outsider(let other))): one.issuer == other.issuer && one.subject == other.subject
            case (.assistant(let one), .assistant(let other)): one == other
            default: false
            }
        }
    }

    package enum Message: Sendable {
        case opened(DeviceAddress, Bearer)
        case closed(DeviceID)
        /// Whose device it is, or why it cannot stay.
        case identified(DeviceID, Result<Identity, DeviceError>)
        case request(CallRequest, id: UInt64?, from: DeviceID)
        case web(CallRequest, of: Identity, host: String?, CallWaiter<CallReply>)
        case calls(of: Identity, CallWaiter<[CallInfo]>)
        case call(CallID, of: Identity, CallWaiter<CallInfo>)
        case room(CallID, CallRoomChange)
        case deadlinePassed
        /// The user's account is deleted.
        case forget(Identity)
        case drain
    }

    /// Requests that may wait.
    private static let requestsMax = 10_000

    private let tokens: UserTokens
    let rooms: CallRooms
    let inbox: AsyncStream<Message>
    private let entrance: AsyncStream<Message>.Continuation
    private let requestsWaiting = Atomic(0)

    init(tokens: UserTokens, rooms: CallRooms) {
        self.tokens = tokens
        self.rooms = rooms
        (inbox, entrance) = AsyncStream.makeStream(of: Message.self)
    }

    /// Whose token this is, and until when, in seconds since 1970.
    ///
    /// - Parameter keys: whose tokens may speak for assistants.
    package func verify(_ token: String, keys: KeyRing) throws(TokenError) -> (bearer: Bearer, expires: Int64) {
        let now = WallClock.seconds
        do throws(TokenError) {
            let (bearer, expires) = try tokens.proof(token, now: now)
            return (.user(bearer), expires)
        } catch .unknownIssuer {
            let claims = try TokenVerifier().verify(token, keys: keys, now: now)
            // What leads into a room only is not enough.
            guard claims.video?.agent == true else { throw .unknownIssuer }
            guard case .assistant? = CallParty(text: claims.identity) else { throw .badIdentity }
            return (.assistant(Identity(text: claims.identity)), claims.expires)
        }
    }

    package func post(_ message: Message) {
        entrance.yield(message)
    }

    /// Posts something that somebody outside may send without end.
    ///
    /// - Returns: false if too many wait.
    package func post(request message: Message) -> Bool {
        guard requestsWaiting.load(ordering: .relaxed) < Self.requestsMax else { return false }
        requestsWaiting.add(1, ordering: .relaxed)
        entrance.yield(message)
        return true
    }

    /// A request has been taken out of the inbox.
    func noteTaken() {
        requestsWaiting.subtract(1, ordering: .relaxed)
    }

    /// What happens in rooms, from the thread of the room's shard. Rooms of no call are passed over.
    func take(_ fact: RoomAuditEvent) {
        guard let id = CallRooms.call(of: fact.room.info.name), let change = CallRoomChange(fact) else { return }
        post(.room(id, change))
    }

    /// No more will come.
    package func finish() {
        entrance.finish()
    }
}

/// Why a device cannot stay that was let in.
package struct DeviceError: Error {
    package let reason: CloseReason
}

/// Where a device's socket is.
package struct DeviceAddress: Sendable {
    package let id: DeviceID
    package let shard: Int
    /// The shard's own for it.
    package let number: Int
    /// What the client calls us.
    package let host: String?
    /// Until when its first token can be believed, in seconds since 1970.
    package let expires: Int64

    package init(id: DeviceID, shard: Int, number: Int, host: String?, expires: Int64) {
        self.id = id
        self.shard = shard
        self.number = number
        self.host = host
        self.expires = expires
    }
}

/// What a call is to know of its room.
package enum CallRoomChange: Sendable {
    case joined(Identity)
    case left(Identity)
    case ended

    /// Nil for what changes nothing.
    init?(_ fact: RoomAuditEvent) {
        switch fact.event {
        case .room(.joined(let who, _)): self = .joined(who.identity)
        // The same identity has taken its own place.
        case .room(.left(_, _, .duplicateIdentity)): return nil
        // All leave with the room, whose end follows.
        case .room(.left(_, _, .roomClosed)), .room(.left(_, _, .roomDeleted)): return nil
        case .room(.left(let who, _, _)): self = .left(who.identity)
        case .room(.finished): self = .ended
        default: return nil
        }
    }
}

/// What the one who keeps the calls wants done with devices of one shard. A device that has gone meanwhile is passed over.
package enum DeviceOrder: Sendable {
    case tell([UInt8], to: [Int])
    /// Counted, and answered where there is a message.
    case refuse(RequestError.Code, [UInt8]?, to: Int)
    case close(Int, CloseReason)
}
