internal import Backend
internal import Sockets
internal import Synchronization

/// A gateway's view of its cluster.
struct ClusterSample {
    var isConnected: Bool
    var nodes: Int
    var rooms: Int
    var isCoordinator: Bool
    var messagesLost: UInt64
    var transitions: [ClusterCounters.Transition: UInt64]

    /// The sample of a gateway that runs alone, for which no alert fires.
    static let alone = ClusterSample(isConnected: true, nodes: 1, rooms: 0, isCoordinator: true, messagesLost: 0, transitions: [:])
}

/// Counts the transitions of rooms in the cluster, on any thread.
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
        /// The broker refuses a room's snapshots. Counted once, and again only after it has accepted one.
        case snapshotRefused = "snapshot_refused"
    }

    private let transitions = Mutex<[Transition: UInt64]>([:])
    let isConnected = Atomic(false)
    /// Nodes that run, this one included.
    let nodes = Atomic(1)
    let messagesLost = Atomic<UInt64>(0)

    func count(_ transition: Transition) { transitions.withLock { $0[transition, default: 0] += 1 } }

    var snapshot: [Transition: UInt64] { transitions.withLock { $0 } }
}

/// The metrics of a gateway in a cluster.
extension ExportedMetric {
    static let cluster = [
        perShard(.counter, "patchbay_upgrades_forwarded_total", "Connections that were passed on to the node of their room.") {
            $0.loop.upgradesForwarded
        },
        perShard(
            .counter, "patchbay_forwards_failed_total", "Attempts to pass on a connection that failed; others may have followed."
        ) { $0.loop.forwardsFailed },
        perShard(.gauge, "patchbay_tunnels", "Connections that are passed on to other nodes.") { $0.loop.tunnelsOpen },
        perShard(.counter, "patchbay_tunnel_in_bytes_total", "Bytes from clients that were passed on to other nodes.") {
            $0.loop.tunnelBytesIn
        },
        perShard(.counter, "patchbay_tunnel_out_bytes_total", "Bytes from other nodes that were passed on to clients.") {
            $0.loop.tunnelBytesOut
        },
        single(.gauge, "patchbay_cluster_connected", "1 while the gateway is connected to the cluster's broker, or runs alone.") {
            $0.cluster.isConnected ? 1 : 0
        },
        single(.gauge, "patchbay_cluster_nodes", "Nodes that run, as this gateway sees it, itself included.") {
            Double($0.cluster.nodes)
        },
        single(.gauge, "patchbay_cluster_rooms", "Rooms whose home is this gateway.") { Double($0.cluster.rooms) },
        single(.gauge, "patchbay_cluster_coordinator", "1 at the node that serves users' channels, calls and dispatch, or runs alone.") {
            $0.cluster.isCoordinator ? 1 : 0
        },
        single(.counter, "patchbay_cluster_messages_lost_total", "Messages to other nodes that were dropped because too many waited.") {
            Double($0.cluster.messagesLost)
        },
        ExportedMetric(
            metric: Metric(
                .counter, "patchbay_cluster_room_transitions_total", "Rooms that have got this gateway as their home, or have lost it.",
                .init("transition", ClusterCounters.Transition.allCases.map(\.rawValue)))
        ) { snapshot in
            ClusterCounters.Transition.allCases.map {
                Sample(labels: [$0.rawValue], value: .number(Double(snapshot.cluster.transitions[$0] ?? 0)))
            }
        },
    ]
}
