public import Foundation
public import Wire

/// An action of a system's call screen: CallKit's `CXStartCallAction`, `CXAnswerCallAction`, `CXEndCallAction`, `CXSetHeldCallAction`,
/// `CXSetMutedCallAction` and `CXPlayDTMFCallAction`.
public enum SystemCallAction: Sendable, Hashable {
    case start(UUID, [CallParty], callerName: String)
    case answer(UUID)
    case end(UUID)
    case setHeld(UUID, Bool)
    case setMuted(UUID, Bool)
    case playDTMF(UUID, String)
}

/// The way to complete an action of the system.
public enum SystemCallOutcome: Sendable, Hashable {
    /// Send the request; then fulfill the action, or fail it if the request fails.
    case request(SystemCallRequest)
    /// Fulfill the action: there is nothing to send.
    case done
    /// Fail the action: there is no such call, or its state does not allow the action.
    case refused
}

/// A request about a call, to be sent with a `Channel`, a `Call` or, for tones, the call's `RoomConnection`.
public enum SystemCallRequest: Sendable, Hashable {
    /// Use the system's UUID as idempotency key, so that a repeated action starts only one call.
    case start(UUID, [CallParty], callerName: String)
    case answer(CallID)
    case reject(CallID)
    case hangUp(CallID)
    case hold(CallID, Bool)
    case mute(CallID, Bool)
    case sendDTMF(CallID, String)
}

/// A report to the system (`CXProvider`).
public enum SystemCallReport: Sendable, Hashable {
    case incoming(UUID, SystemCallDisplay)
    /// The call is ringing on the other side.
    case connecting(UUID, at: Date?)
    case connected(UUID, at: Date?)
    case updated(UUID, SystemCallDisplay)
    /// The call has ended. Not reported for calls that the user ended with an action.
    case ended(UUID, SystemCallEnding)
}

/// The details that the system displays of a call (`CXCallUpdate`).
public struct SystemCallDisplay: Sendable, Hashable {
    /// The id of the other party, which identifies it in lists of calls.
    public var handle: String
    /// The other party's name; empty if the caller gave none.
    public var name: String

    public init(handle: String, name: String) {
        self.handle = handle
        self.name = name
    }

    /// The details of a call that a push announces.
    public init(_ push: CallPush) {
        handle = push.caller.text
        name = push.callerName
    }

    public init(_ call: Call) {
        let others = call.info.members.map(\.party).filter { $0 != call.party }
        handle = call.direction == .incoming ? call.info.caller.text : others.first?.text ?? ""
        name = call.direction == .incoming ? call.info.callerName : ""
    }
}

/// CallKit's reasons why a call has ended (`CXCallEndedReason`).
public enum SystemCallEnding: Sendable, Hashable {
    case failed, remoteEnded, unanswered, answeredElsewhere, declinedElsewhere

    /// - Parameter ending: the ending of a call that the user has not ended on this device.
    public init(_ ending: CallEnding, _ direction: Call.Direction) {
        self =
            switch ending {
            case .completed, .cancelled, .whileAway: .remoteEnded
            case .unanswered: .unanswered
            case .rejected, .busy: direction == .incoming ? .declinedElsewhere : .remoteEnded
            case .answeredElsewhere, .movedElsewhere: .answeredElsewhere
            case .failed: .failed
            }
    }
}

/// The payload of a VoIP push (docs/protocol/calls.md, "Sleeping phones").
public struct CallPush: Sendable, Hashable {
    public var id: CallID
    public var caller: CallParty
    public var callerName: String
    public var metadata: String

    public var uuid: UUID { Call.uuid(of: id) }

    /// - Parameter payload: the dictionary `PKPushPayload.dictionaryPayload`.
    /// - Returns: nil if the push announces no call.
    public init?(payload: [AnyHashable: Any]) {
        guard let call = payload["call"] as? [AnyHashable: Any], let id = call["id"] as? String, !id.isEmpty,
            let caller = (call["caller"] as? String).flatMap(CallParty.init(text:))
        else { return nil }
        self.id = CallID(text: id)
        self.caller = caller
        callerName = call["caller_name"] as? String ?? ""
        metadata = call["metadata"] as? String ?? ""
    }
}

extension Call {
    /// The UUID for APIs such as CallKit. It never changes and is the same on every device.
    public var uuid: UUID { Self.uuid(of: id) }

    /// The times of the start, the first answer and the end, by the gateway's clock. Nil until then, and with older gateways.
    public var startedAt: Date? { info.startedAt.map(Self.date) }
    public var answeredAt: Date? { info.answeredAt.map(Self.date) }
    public var endedAt: Date? { info.endedAt.map(Self.date) }

    static func uuid(of id: CallID) -> UUID {
        guard let uuid = UUID(uuidString: id.uuid) else { preconditionFailure("`CallID.uuid` is the text of a UUID") }
        return uuid
    }

    private static func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
