internal import Synchronization

/// The gateway's lifecycle phase, readable from any thread.
package final class GatewayState: Sendable {
    package enum Phase: Int, Sendable, Comparable {
        case starting, serving, draining, stopped

        package static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
    }

    private let phaseValue = Atomic(Phase.starting.rawValue)
    private let expiry = Atomic<Int64>(0)

    package init() {}

    package var phase: Phase {
        get { Phase(rawValue: phaseValue.load(ordering: .acquiring)) ?? .stopped }
        // Never decreases: a drain may be requested before a shard reports that it serves.
        set { phaseValue.max(newValue.rawValue, ordering: .acquiringAndReleasing) }
    }

    /// When the certificate in use expires, in seconds since 1970.
    package var certificateExpiry: Int64 {
        get { expiry.load(ordering: .relaxed) }
        set { expiry.store(newValue, ordering: .relaxed) }
    }
}
