internal import Synchronization

/// The gateway's lifecycle phase, readable from any thread.
package final class GatewayState: Sendable {
    package enum Phase: Int, Sendable, Comparable {
        case starting, serving, draining, stopped

        package static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
    }

    private let phaseValue = Atomic(Phase.starting.rawValue)

    package init() {}

    package var phase: Phase {
        get { Phase(rawValue: phaseValue.load(ordering: .acquiring)) ?? .stopped }
        // Never decreases: a drain may be requested before a shard reports that it serves.
        set { phaseValue.max(newValue.rawValue, ordering: .acquiringAndReleasing) }
    }
}
