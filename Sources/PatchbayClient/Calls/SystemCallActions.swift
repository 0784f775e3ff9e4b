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

/// What an action of the system needs.
public enum SystemCallOutcome: Sendable, Hashable {
    /// Send it; then fulfill the action, or fail it if the request fails.
    case request(SystemCallRequest)
    /// Fulfill the action: there is nothing to do.
    case done
    /// Fail the action: there is no such call, or it is in another state.
    case refused
}

/// A request about a call, to be sent with a `Channel`, a `Call` or, for tones, the call's `RoomConnection`.
public enum SystemCallRequest: Sendable, Hashable {
    /// With the system's UUID as idempotency key, so that a repeated action starts one call.
    case start(UUID, [CallParty], callerName: String)
    case answer(CallID)
    case reject(CallID)
    case hangUp(CallID)
    case hold(CallID, Bool)
    case mute(CallID, Bool)
    case sendDTMF(CallID, String)
}

/// What the system is told (`CXProvider`).
public enum SystemCallReport: Sendable, Hashable {
    case incoming(UUID, SystemCallDisplay)
    /// It rings on the other side.
    case connecting(UUID, at: Date?)
    case connected(UUID, at: Date?)
    case updated(UUID, SystemCallDisplay)
    /// Not for a call that the user has ended with an action.
    case ended(UUID, SystemCallEnding)
}

/// What the system shows of a call (`CXCallUpdate`).
public struct SystemCallDisplay: Sendable, Hashable {
    /// Identifies the other side in lists of calls: the party's id.
    public var handle: String
    /// Empty if the caller gave no name.
    public var name: String

    public init(handle: String, name: String) {
        self.handle = handle
        self.name = name
    }

    /// What a push says of a call.
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

    /// - Parameter ending: of a call that the user has not ended on this device.
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

    /// - Parameter payload: the push's dictionary, `PKPushPayload.dictionaryPayload`.
    /// - Returns: nil if it announces no call.
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
    /// For APIs that name calls by UUIDs: always the same for a call.
    public var uuid: UUID { Self.uuid(of: id) }

    /// When the call was started, first answered, and ended, by the gateway's clock; nil before, or from an older gateway.
    public var startedAt: Date? { info.startedAt.map(Self.date) }
    public var answeredAt: Date? { info.answeredAt.map(Self.date) }
    public var endedAt: Date? { info.endedAt.map(Self.date) }

    static func uuid(of id: CallID) -> UUID {
        guard let uuid = UUID(uuidString: id.uuid) else { preconditionFailure("`CallID.uuid` is the text of a UUID") }
        return uuid
    }

    private static func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
