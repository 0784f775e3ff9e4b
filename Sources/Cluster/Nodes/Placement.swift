/// The choice of the home of a new room.
///
/// The node that is asked takes the room itself unless another one has clearly less to do, so that rooms of a small cluster are created without
/// a message between nodes, and all participants of a room are sent to its home.
package enum Placement {
    /// The local node takes rooms up to this load whatever others have to do.
    static let loadAlwaysTaken = 0.5
    /// Beyond it, another node is chosen only if its load is lower by this much.
    static let loadDifferenceMin = 0.1

    /// - Parameters:
    ///   - local: the node that is asked.
    ///   - others: the other nodes that are running.
    /// - Returns: nil if all nodes are draining.
    package static func home(local: NodeBeat, others: [NodeBeat]) -> NodeIdentity? {
        let least = others.filter { !$0.isDraining }.min {
            ($0.load.busiest, $0.node.name, $0.node.incarnation) < ($1.load.busiest, $1.node.name, $1.node.incarnation)
        }
        guard !local.isDraining else { return least?.node }
        guard let least, local.load.busiest > loadAlwaysTaken, least.load.busiest <= local.load.busiest - loadDifferenceMin else {
            return local.node
        }
        return least.node
    }
}
