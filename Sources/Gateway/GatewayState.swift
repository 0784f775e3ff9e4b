internal import Synchronization

/// Where the gateway is in its life, for whoever asks from any thread.
package final class GatewayState: Sendable {
    package enum Phase: Int, Sendable, Comparable {
        case starting, serving, draining, stopped

        package static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
    }

    private let phaseValue = Atomic(Phase.starting.rawValue)

    package init() {}

    package var phase: Phase {
        get { Phase(rawValue: phaseValue.load(ordering: .acquiring)) ?? .stopped }
        // Never goes back: a drain may be asked for before a shard says that it serves.
        set { phaseValue.max(newValue.rawValue, ordering: .acquiringAndReleasing) }
    }
}
