internal import Backend
internal import Cluster
internal import Logging
internal import Synchronization

/// Knows which node is the coordinator: asks every second where the room without a name is, which makes this node its home if it has none.
final class CoordinatorWatch: Sendable {
    private static let interval = Duration.seconds(1)

    private let cluster: ClusterRooms
    /// By its name in the cluster; nil while it is not known.
    private let coordinator = Mutex<String?>(nil)

    init(_ cluster: ClusterRooms) { self.cluster = cluster }

    var isHere: Bool { cluster.isHome(of: RoomHomes.coordinatorRoom) }

    /// The coordinator's name in the cluster; nil if it is not known, or does not run any more.
    var known: String? {
        if isHere { return cluster.identity.description }
        let known = coordinator.withLock { $0 }
        return known.flatMap { cluster.other(named: $0) == nil ? nil : $0 }
    }

    /// Runs until the task is cancelled.
    func run() async {
        repeat { await lookUp() } while (try? await Task.sleep(for: Self.interval)) != nil
    }

    func lookUp() async {
        let found: String
        switch await cluster.locate(RoomHomes.coordinatorRoom) {
        case .here: found = cluster.identity.description
        case .elsewhere(let beat): found = beat.node.description
        case .unavailable, .storeUnavailable, .draining: return
        }
        let former = coordinator.withLock { coordinator in
            defer { coordinator = found }
            return coordinator
        }
        guard found != former else { return }
        cluster.log.notice("the cluster has a coordinator", metadata: ["coordinator": "\(found)"])
        // It does not know the rooms that are open here.
        for mailbox in cluster.mailboxes { mailbox.send(.cluster(.announceRooms)) }
    }

    /// Finds the coordinator, which becomes this node if there is none; without the broker, the last known one.
    func find() async -> RoomClaim {
        switch await cluster.locate(RoomHomes.coordinatorRoom) {
        case .here: return .here
        case .elsewhere(let beat): return .elsewhere(node: beat.node.description)
        case .draining: return .draining
        case .unavailable, .storeUnavailable: return known.map(RoomClaim.elsewhere) ?? .unavailable
        }
    }
}
