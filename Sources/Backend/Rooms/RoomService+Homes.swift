package import HTTPServer

/// Where rooms are: at which shard of this node, or at which node of a cluster.
extension RoomService {
    /// Reads the room directory without asking the shard, so it may lag behind the last participant's departure.
    package func roomIsOpen(named name: String) -> Bool { shards.homeShard(name) != nil }

    /// Whether a room is open.
    ///
    /// - Throws: as `homeShard(of:)`.
    func isOpen(_ room: String) async throws(HTTPError) -> Bool { try await homeShard(of: room) != nil }

    /// The shard of an open room. Like a join, it lets a room whose home has ended, or has handed it over, go on at this node.
    ///
    /// - Returns: nil for a room that is not open.
    /// - Throws: `HTTPError.elsewhere` if another node is the home of the room, so that the request is forwarded to it. Otherwise 503 if the
    ///   cluster cannot say where the room is.
    func homeShard(of room: String) async throws(HTTPError) -> Int? {
        if let home = shards.homeShard(room) { return home }
        switch await shards.cluster?.seek(room) ?? .here {
        case .here: return shards.homeShard(room)
        case .elsewhere(let node): throw .elsewhere(node)
        case .unavailable: throw .homeUnavailable
        case .draining: throw Self.noAnswer
        }
    }

    /// Makes this node the home of a room, unless another one is. Without a cluster it always is.
    ///
    /// - Throws: `HTTPError` with status 503 if the cluster cannot decide, or this node takes no new rooms.
    @discardableResult
    package func claim(_ room: String) async throws(HTTPError) -> RoomClaim {
        switch await shards.cluster?.claim(room) ?? .here {
        case .unavailable: throw .homeUnavailable
        case .draining: throw Self.noAnswer
        case let claim: return claim
        }
    }

    // MARK: Addresses

    /// The port of the shard that hosts an open room; nil with a single shard, and if ports change with each start: whoever connects there
    /// could not return after a restart.
    func homePort(of room: String) -> Int? {
        guard let home = shards.homeShard(room), shards.ports.indices.contains(home) else { return nil }
        return shards.ports[home]
    }

    /// The URL at which clients reach a room's home directly; nil if only a load balancer leads there, and for a gateway that runs alone.
    func url(of claim: RoomClaim) -> String? { shards.cluster?.url(claim) }

    /// Like `url(of:)`, for a room that need not have a home.
    func homeURL(of room: String) async -> String? {
        guard let cluster = shards.cluster else { return nil }
        return cluster.url(await cluster.find(room))
    }

    // MARK: What this node may do

    /// Throws during a drain, when rooms admit nobody.
    func checkNotDraining() throws(HTTPError) {
        guard !shards.isDraining() else { throw Self.noAnswer }
    }

    /// Checks whether this node should open a new room.
    ///
    /// - Parameter room: nil for one whose name is new.
    /// - Throws: `HTTPError.elsewhere` if another node has a clearly lower load, so that the request is forwarded to it.
    func checkLoad(toBegin room: String?) async throws(HTTPError) {
        if let node = await shards.cluster?.lighter(room) { throw .elsewhere(node) }
    }

    /// - Throws: `HTTPError.elsewhere` if another node of the cluster serves channels, calls and dispatch, so that the request is forwarded.
    func checkCoordinates() async throws(HTTPError) {
        switch await shards.cluster?.findCoordinator() ?? .here {
        case .here: return
        case .elsewhere(let node): throw .elsewhere(node)
        case .unavailable: throw .homeUnavailable
        case .draining: throw Self.noAnswer
        }
    }

    // MARK: The cluster

    package var isInCluster: Bool { shards.cluster != nil }

    /// Notifies the other nodes of a cluster. Returns when the notice has taken effect on all of them, or after two seconds.
    package func notifyOtherNodes(_ notice: NodeNotice) async { await shards.cluster?.notify(notice) }
}
