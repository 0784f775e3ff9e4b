public import Foundation
public import PatchbayClient

/// Keeps the system's call and the assistant's call consistent. A pure value: takes events of the user, the system and the assistant's
/// call, and returns effects.
///
/// Every call is a call of the system (CallKit), so that the car's buttons, the lock screen and other calls work. The assistant's call
/// starts once the system has allowed it; its progress is reported to the system.
public struct SystemCall: Sendable, Hashable {
    public enum Input: Sendable, Hashable {
        /// The user has tapped the button on the phone or the item in the car.
        case callTapped(Sessions.Context, id: UUID)
        case hangUpTapped
        case muteTapped(Bool)
        /// The system performs an action, which may have been started outside the app.
        case startPerformed(UUID)
        case endPerformed(UUID)
        case mutePerformed(UUID, Bool)
        /// The system refused the call, for example because another call cannot be held.
        case startRefused(UUID)
        /// The system has ended all calls.
        case reset
        case phase(AssistantCallState.Phase)
    }

    public enum Effect: Sendable, Hashable {
        /// Requests for the system, which then performs the action.
        case requestStart(UUID)
        case requestEnd(UUID)
        case requestMute(UUID, Bool)
        /// Reports to the system.
        case reportConnecting(UUID)
        case reportConnected(UUID)
        case reportEnded(UUID, hasFailed: Bool)
        /// Commands for the assistant's call.
        case start(Sessions.Context)
        case end
        case setMuted(Bool)
    }

    private enum State: Hashable {
        case idle
        case requested(UUID, Sessions.Context)
        case running(UUID, isConnected: Bool)
    }

    private var state = State.idle

    public init() {}

    /// The id of the call, even if the system has not allowed it yet.
    public var id: UUID? {
        switch state {
        case .idle: nil
        case .requested(let id, _), .running(let id, _): id
        }
    }

    public mutating func handle(_ input: Input) -> [Effect] {
        switch (input, state) {
        case (.callTapped(let context, let id), .idle):
            state = .requested(id, context)
            return [.requestStart(id)]
        case (.startPerformed(let performed), .requested(let id, let context)) where performed == id:
            state = .running(id, isConnected: false)
            return [.reportConnecting(id), .start(context)]
        case (.startRefused(let refused), .requested(let id, _)) where refused == id:
            state = .idle
            return []
        case (.hangUpTapped, .requested(let id, _)), (.hangUpTapped, .running(let id, _)): return [.requestEnd(id)]
        case (.endPerformed(let ended), .requested(let id, _)) where ended == id:
            state = .idle
            return []
        case (.endPerformed(let ended), .running(let id, _)) where ended == id:
            state = .idle
            return [.end]
        case (.reset, .running):
            state = .idle
            return [.end]
        case (.reset, .requested):
            state = .idle
            return []
        case (.muteTapped(let isMuted), .running(let id, _)): return [.requestMute(id, isMuted)]
        case (.mutePerformed(let muted, let isMuted), .running(let id, _)) where muted == id: return [.setMuted(isMuted)]
        case (.phase(.active), .running(let id, false)):
            state = .running(id, isConnected: true)
            return [.reportConnected(id)]
        case (.phase(.ended(let ending)), .running(let id, _)):
            state = .idle
            if case .failed = ending { return [.reportEnded(id, hasFailed: true)] }
            return [.reportEnded(id, hasFailed: false)]
        default: return []
        }
    }
}
