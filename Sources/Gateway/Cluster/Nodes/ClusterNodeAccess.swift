package import Backend
internal import Cluster
internal import Synchronization
internal import Wire

/// This node of the cluster, for the services of the gateway. They are created before the gateway; until it exists, no room is at home here.
package final class ClusterNodeAccess: Sendable {
    let identity: NodeIdentity
    private let rooms = Mutex<ClusterRooms?>(nil)
    private let coordination = Mutex<Coordination?>(nil)

    init(_ name: String) {
        identity = NodeIdentity(name: name, incarnation: .random(in: 0 ... .max))
    }

    func connect(to rooms: ClusterRooms, _ coordination: Coordination) {
        self.rooms.withLock { $0 = rooms }
        self.coordination.withLock { $0 = coordination }
    }

    private var connected: ClusterRooms? { rooms.withLock { $0 } }

    /// All nodes that run, this one included, as announcements in the store name them.
    package var running: [String] { [identity.description] + (connected?.others.map(\.node.description) ?? []) }

    package var homes: RoomHomes {
        RoomHomes(
            node: identity.description, name: identity.name,
            running: { [self] name in connected?.others.first { $0.node.name == name }?.node.description },
            epoch: { [self] in connected?.epoch(of: $0) },
            superseded: { [self] in connected?.superseded($0, byNumber: $1) },
            isAbandoned: { [self] room in await connected?.isAbandoned(room) ?? false },
            relay: { [self] message in coordination.withLock { $0 }?.relay(message) ?? .refused },
            coordinates: { [self] in connected?.isHome(of: RoomHomes.coordinatorRoom) ?? false })
    }
}
