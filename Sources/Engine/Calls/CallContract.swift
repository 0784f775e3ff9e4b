package import Wire

extension CallStateMachine {
    /// Inputs, each passed with the time at which it occurred.
    package enum Input: Sendable {
        /// A device has opened its user's channel, or a process its assistant's. Answered by `greet`.
        case connected(DeviceID, of: Identity)
        /// The channel is closed or lost; optional after a `close` effect. Calls continue: the call's room knows who is present.
        case disconnected(DeviceID)
        /// An assistant's process takes jobs instead of calls from now on: calls reach it by `dispatch`.
        case dedicated(DeviceID)
        /// - Parameter unknown: users that the request names and that do not exist.
        case request(CallRequest, from: Requester, unknown: Set<CallParty> = [])
        /// An assistant was found and is joining the call's room.
        case ringing(CallID, CallParty)
        /// A member joined the call's room. For an assistant this answers the call.
        ///
        /// `media` is how the room has a member that may have joined long ago, because the room's home or this state machine is another one
        /// since; nil for a participant that has just joined.
        case joinedRoom(CallID, CallParty, media: CallMediaState? = nil)
        /// A member left the call's room for good. Not sent if the same identity replaced it (`DUPLICATE_IDENTITY`).
        case leftRoom(CallID, CallParty)
        /// A member cannot be reached or admitted to the room. `reason` is reported to the others.
        case failed(CallID, CallParty, reason: String)
        case roomEnded(CallID)
        /// The time given by `deadline` has come.
        case deadlinePassed
    }

    /// The sender of a request.
    package enum Requester: Sendable, Hashable {
        case device(DeviceID, id: UInt64?)
        /// By HTTP, with the user's token. `number` identifies the request to the shell.
        case web(Identity, number: UInt64)
    }

    /// Effects, to be performed in this order.
    package enum Effect: Sendable, Hashable {
        /// The first message on a device's channel.
        case greet(DeviceID, of: Identity, calls: [CallInfo])
        case send(CallEvent, to: [DeviceID])
        case reply(CallReply, to: Requester)
        /// A reply with a token for the call's room, bound to this user.
        case admit(Identity, to: CallInfo, reply: Requester)
        /// An error: always counted, and sent if the requester wants an answer.
        case reject(CallError, to: Requester)
        /// The user has too many devices: close this channel. The device is removed already.
        case close(DeviceID)
        /// Dispatch an assistant without a device to the call's room, or cancel that.
        case dispatch(assistant: String, CallInfo)
        case recall(assistant: String, CallID)
        /// For a participant of the call's room, now or as soon as it joins. May repeat what the room has already.
        case hold(CallParty, in: CallID, Bool)
        case mute(CallParty, in: CallID, Bool)
        /// Remove a member that has left the call from the room.
        case remove(CallParty, from: CallID)
        case endRoom(CallID)
        /// For webhooks.
        case record(CallRecord)
    }
}

/// Whether a participant of a call's room is on hold, and whether it is muted as a whole.
package struct CallMediaState: Sendable, Hashable, Codable {
    package var held: Bool
    package var muted: Bool

    package init(held: Bool, muted: Bool) { (self.held, self.muted) = (held, muted) }
}

extension CallInfo {
    /// Name prefix of call rooms.
    package static let roomPrefix = "call-"

    package static func room(of id: CallID) -> String { roomPrefix + id.text }
}

/// A change of a call, for webhooks.
package struct CallRecord: Sendable, Hashable {
    package enum Change: Sendable, Hashable {
        case call(CallStatus)
        case member(CallParty, CallMemberState)
    }

    package var change: Change
    /// The call after this change.
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

/// Configuration of all calls.
package struct CallSettings: Sendable, Hashable {
    package enum Waiting: String, Sendable, Hashable {
        /// A user in a call is busy for other callers.
        case busy
        /// Devices ring during a call; answering requires putting the other call on hold.
        case ring
    }

    package var waiting: Waiting
    /// Time until an unanswered call is missed.
    package var ringTime: Duration
    /// Time to join the room after answering; for the caller, after the first answer. Nil disables the check.
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
