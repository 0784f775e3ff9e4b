internal import Synchronization

/// Counts what happens to rooms in the cluster, for `/metrics`.
final class ClusterCounters: Sendable {
    enum Transition: String, CaseIterable, Sendable {
        /// A room began here.
        case claimed
        /// Taken over from a node that has ended.
        case takenOver = "taken_over"
        /// Handed over.
        case moved
        /// Another node has taken it over.
        case lost
        case snapshotUnreadable = "snapshot_unreadable"
    }

    private let transitions = Mutex<[Transition: UInt64]>([:])
    let isConnected = Atomic(false)
    /// Nodes that run, this one included.
    let nodes = Atomic(1)

    func count(_ transition: Transition) { transitions.withLock { $0[transition, default: 0] += 1 } }

    var snapshot: [Transition: UInt64] { transitions.withLock { $0 } }
}
