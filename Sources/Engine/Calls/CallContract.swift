package import Wire

extension CallStateMachine {
    /// What happens to calls. Each comes with the instant at which it happened.
    package enum Input: Sendable {
        /// A device has opened its user's own channel, or a process its assistant's. Answered by `greet`.
        case connected(DeviceID, of: Identity)
        /// The channel is closed or lost; after a `close` effect it need not be told. Calls go on: whether somebody is still there, the
        /// call's room knows.
        case disconnected(DeviceID)
        case request(CallRequest, from: Requester)
        /// An assistant has been found and is on its way to the call's room.
        case ringing(CallID, CallParty)
        /// Somebody is in the call's room. An assistant answers by that.
        case joinedRoom(CallID, CallParty)
        /// Somebody left the call's room for good. Not told where the same identity took its own index (`DUPLICATE_IDENTITY`).
        case leftRoom(CallID, CallParty)
        /// Somebody cannot be reached, or not be let into the room. `reason` is told to the others.
        case failed(CallID, CallParty, reason: String)
        case roomEnded(CallID)
        /// The instant that `deadline` asked for has come.
        case deadlinePassed
    }

    /// Who wants an answer.
    package enum Requester: Sendable, Hashable {
        case device(DeviceID, id: UInt64?)
        /// By HTTP, with the user's token. `ticket` is the shell's own, to find who waits.
        case web(Identity, ticket: UInt64)
    }

    /// What the desk wants done, in this order.
    package enum Effect: Sendable, Hashable {
        /// The first message on a device's channel.
        case greet(DeviceID, of: Identity, calls: [CallInfo])
        case send(CallEvent, to: [DeviceID])
        case reply(CallReply, to: Requester)
        /// A reply too, with a token for the call's room, bound to this user.
        case admit(Identity, to: CallInfo, reply: Requester)
        /// Counted in any case, and answered where the requester wants an answer.
        case reject(CallError, to: Requester)
        /// The user has too many devices: close this one's channel. It is forgotten already.
        case close(DeviceID)
        /// Send an assistant that has no device to the call's room, or tell it that it need not come.
        case dispatch(assistant: String, CallInfo)
        case recall(assistant: String, CallID)
        /// For a participant of the call's room, if it is there or as soon as it is.
        case hold(CallParty, in: CallID, Bool)
        case mute(CallParty, in: CallID, Bool)
        /// Out of the room, for it has left the call.
        case remove(CallParty, from: CallID)
        case endRoom(CallID)
        /// For webhooks.
        case record(CallRecord)
    }
}

extension CallInfo {
    /// Rooms of calls begin so.
    package static let roomPrefix = "call-"

    package static func room(of id: CallID) -> String { roomPrefix + id.text }
}

/// Something that a backend wants to know of a call.
package struct CallRecord: Sendable, Hashable {
    package enum Change: Sendable, Hashable {
        case call(CallStatus)
        case member(CallParty, CallMemberState)
    }

    package var change: Change
    /// The call after the event that this belongs to.
    package var call: CallInfo

    package init(_ change: Change, _ call: CallInfo) {
        self.change = change
        self.call = call
    }

    /// `call_started`, `call_answered`, `call_timeout`, …; `call_member_invited`, `call_member_joined`, `call_member_left`.
    package var name: String {
        switch change {
        case .call(let status): "call_\(status.rawValue)"
        case .member(_, let state): "call_member_\(state.rawValue)"
        }
    }
}

/// What a configuration may set for all calls.
package struct CallSettings: Sendable, Hashable {
    package enum Waiting: Sendable, Hashable {
        /// Who talks to somebody is busy for everybody else.
        case busy
        /// Its devices ring all the same; it answers once it has put the other call on hold.
        case ring
    }

    package var waiting: Waiting
    /// How long a call rings before it is missed.
    package var ringTime: Duration
    /// How long whoever has answered may take to be in the room; the caller's runs from the first answer. Nil does not look.
    package var arrivalTime: Duration?

    package init(
        waiting: Waiting = .busy, ringTime: Duration = .milliseconds(ProtocolLimits.callRingMilliseconds),
        arrivalTime: Duration? = .seconds(30)
    ) {
        self.waiting = waiting
        self.ringTime = ringTime
        self.arrivalTime = arrivalTime
    }
}
