package import Wire

/// The cluster as a node's services see it: several nodes share a store, and one of them, the coordinator, serves users' channels, calls
/// and dispatch for all. The closures must not block, and must not append to the `AuditEventQueue`.
package struct RoomHomes: Sendable {
    /// Identifies this process among all that have ever been nodes of the cluster.
    package var node: String
    /// The node's configured name, which stays the same after a restart.
    package var name: String
    /// The node with a configured name, by its name in the cluster; nil if none runs.
    package var running: @Sendable (_ name: String) -> String?
    /// The epoch in which this node hosts a room; nil if it is not the room's home. Events without an epoch are refused.
    package var epoch: @Sendable (_ room: String) -> RoomEpoch?
    /// The store has refused what this node wrote about a room: a home with a higher epoch, which has this number, has written. The number
    /// may be that of this node's own epoch. Called once for each epoch that is refused.
    package var superseded: @Sendable (_ room: String, _ byNumber: UInt64) -> Void
    /// Whether a session's room is open at no node, and this node is the one that ends the session. Asked every 30 s for each session that
    /// is older than two minutes and has not ended.
    package var isAbandoned: @Sendable (_ room: String) async -> Bool

    /// Carries messages to the coordinator.
    package var relay: NodeRelay
    /// Whether this node is the coordinator.
    package var coordinates: @Sendable () -> Bool

    /// The coordinator is the home of a room with this name, which no real room has.
    package static let coordinatorRoom = ""

    package init(
        node: String, name: String, running: @escaping @Sendable (_ name: String) -> String? = { _ in nil },
        epoch: @escaping @Sendable (_ room: String) -> RoomEpoch?,
        superseded: @escaping @Sendable (_ room: String, _ byNumber: UInt64) -> Void = { _, _ in },
        isAbandoned: @escaping @Sendable (_ room: String) async -> Bool = { _ in false },
        relay: @escaping NodeRelay = { _ in .here }, coordinates: @escaping @Sendable () -> Bool = { true }
    ) {
        self.node = node
        (self.name, self.running) = (name, running)
        self.epoch = epoch
        self.superseded = superseded
        self.isAbandoned = isAbandoned
        (self.relay, self.coordinates) = (relay, coordinates)
    }
}
