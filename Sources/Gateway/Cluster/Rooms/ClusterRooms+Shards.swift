internal import Backend
internal import Cluster
internal import Engine
internal import Identity
internal import Logging
internal import Sockets
internal import Synchronization
internal import Wire

/// Requests and reports of shards and services.
extension ClusterRooms {
    /// Whether this node is the room's home and has restored it.
    func isHome(of room: String) -> Bool { state.withLock { $0.homes[room]?.isReady ?? false } }

    /// Whether this node is the home of any room that is open here.
    var hasRooms: Bool { state.withLock { $0.homes.keys.contains { directory.home(of: $0) != nil } } }

    /// The present term as the room's home; nil if there is none.
    func epoch(of room: String) -> RoomEpoch? { state.withLock { $0.homes[room]?.epoch } }

    /// The other nodes that run, by name.
    var others: [NodeBeat] { state.withLock { $0.others.values.sorted { $0.node.name < $1.node.name } } }

    /// Whether this node knows which others run. If the broker has just come back, this waits until their beats must have come, too.
    func knowsOthers() async -> Bool {
        guard let node = state.withLock({ $0.node }), node.hearsItself else { return false }
        let rest = ClusterLimits.beatInterval * 2 - node.hearingSpan
        if rest > .zero { try? await Task.sleep(for: rest) }
        return node.hearsItself
    }

    /// Where clients reach the other nodes that run and do not drain; nil if there is no such node, or none of them has a URL.
    ///
    /// In random order, so that the clients of a node that ends spread over the others.
    ///
    /// - Parameter isForwarded: another node forwards the client's connection, so that this node is one of the others.
    func nodes(forwarded isForwarded: Bool) -> [String]? {
        let others = state.withLock { $0.others.values.filter { !$0.isDraining }.compactMap(\.url) }
        let urls = (isForwarded ? [beat.url].compactMap(\.self) : []) + others.shuffled()
        return urls.isEmpty ? nil : Array(urls.prefix(ProtocolLimits.helloNodesMax))
    }

    /// Finds a room's home, which becomes this node if the room has none.
    ///
    /// - Parameters:
    ///   - ifOpen: only if the room can go on from a snapshot: no room begins. It is `here` also if it is open nowhere.
    ///   - completion: called on any thread.
    func locate(_ room: String, ifOpen: Bool = false, completion: @escaping @Sendable (Place) -> Void) {
        guard !isHome(of: room) else { return completion(.here) }
        guard let node = state.withLock({ $0.node }) else { return completion(.unavailable) }
        node.findHome(of: room, ifOpen: ifOpen) { [self] answer in
            switch answer {
            case .local: whenReady(room, completion)
            case .elsewhere(let home):
                let beat = state.withLock { $0.others[home] }
                completion(beat.map(Place.elsewhere) ?? .unavailable)
            case .unavailable: completion(.unavailable)
            case .draining: completion(.draining)
            case .notOpen: completion(.here)
            }
        }
    }

    func locate(_ room: String, ifOpen: Bool = false) async -> Place {
        await withCheckedContinuation { continuation in locate(room, ifOpen: ifOpen) { continuation.resume(returning: $0) } }
    }

    /// Where an open room is. One without a home that runs goes on at this node; at another one if this node drains. It is `here` also if it is
    /// open nowhere.
    func seek(_ room: String) async -> RoomClaim {
        let claim = RoomClaim(await locate(room, ifOpen: true))
        guard claim == .draining, !ForwardedRequest.isCurrent, let substitute else { return claim }
        return .elsewhere(node: substitute.node.description)
    }

    /// Where a room is, without claiming it: `here` also if it has no home that runs.
    func find(_ room: String) async -> RoomClaim {
        if isHome(of: room) { return .here }
        guard let broker = state.withLock({ $0.broker }) else { return .unavailable }
        let stored = await withCheckedContinuation { continuation in
            broker.read(ClusterNode.key(of: room)) { continuation.resume(returning: $0) }
        }
        switch stored {
        case .failure: return .unavailable
        case .success(let found):
            guard let home = found.flatMap({ RoomRecord($0.value)?.home }), state.withLock({ $0.others[home] != nil }) else { return .here }
            return .elsewhere(node: home.description)
        }
    }

    // MARK: New rooms

    /// Like `locate`, but leaves a room without a home to another node whose load is clearly lower, if there is one.
    ///
    /// - Parameter completion: called on any thread.
    func place(_ room: String, completion: @escaping @Sendable (Place) -> Void) {
        guard !isHome(of: room), placement(isDraining: false) != nil else { return locate(room, completion: completion) }
        Task { [self] in
            if let lighter = await lighterNode(for: room) { completion(.elsewhere(lighter)) } else { locate(room, completion: completion) }
        }
    }

    /// Another node that takes a new room because its load is clearly lower; nil if this node takes it, or the room has a home.
    ///
    /// - Parameter room: nil for one whose name is new.
    func lighterNode(for room: String?) async -> NodeBeat? {
        guard let lighter = placement(isDraining: false) else { return nil }
        guard let room else { return lighter }
        guard room != RoomHomes.coordinatorRoom, directory.home(of: room) == nil, await find(room) == .here,
            state.withLock({ $0.homes[room] == nil })
        else { return nil }
        return lighter
    }

    /// The node to which a draining node forwards connections and requests for rooms without a home; nil if there is none.
    var substitute: NodeBeat? { placement(isDraining: true) }

    /// The other node that takes new rooms in place of this one; nil if this one takes them.
    private func placement(isDraining: Bool) -> NodeBeat? {
        let others = others
        return Placement.home(local: ownBeat(isDraining: isDraining), others: others).flatMap { home in others.first { $0.node == home } }
    }

    /// The current beat of this node.
    func ownBeat(isDraining: Bool) -> NodeBeat {
        var own = beat
        (own.isDraining, own.load) = (isDraining, state.withLock(\.load))
        return own
    }

    /// Whether a room has no running home and is not open here. If so, this node has become its home, so that others leave it alone.
    func isAbandoned(_ room: String) async -> Bool {
        guard directory.home(of: room) == nil, await find(room) == .here, case .here = await locate(room) else { return false }
        return directory.home(of: room) == nil
    }

    /// A node that runs, by its name in the cluster.
    func other(named name: String) -> NodeBeat? {
        state.withLock { state in state.others.first { $0.key.description == name }?.value }
    }

    func whenReady(_ room: String, _ completion: @escaping @Sendable (Place) -> Void) {
        let place = state.withLock { state -> Place? in
            guard let home = state.homes[room] else { return .unavailable }
            if home.isReady { return .here }
            if home.isOverdue { return .storeUnavailable }
            state.homes[room]?.waiting.append(completion)
            return nil
        }
        if let place { completion(place) }
    }

    /// A room has opened here. Nearly always this node is its home already; a join that was on its way when the room ended may open it again.
    func confirm(_ room: String) {
        guard !isHome(of: room) else { return }
        locate(room) { [self] place in
            if case .here = place { return changed(room) }
            if let shard = directory.home(of: room) { mailboxes[shard].send(.cluster(.endTerm(room: room))) }
        }
    }

    /// The room's state has changed.
    func changed(_ room: String) { state.withLock { $0.node }?.changed(room) }

    /// Calls back once the record has the room's present state, after `ClusterLimits.promiseMax` at the latest, and at once if the broker has been away
    /// for that time, so that calls do not stall. By then, others have told this node to give its rooms up if it alone is cut off.
    ///
    /// - Parameter completion: gets false if this node is not the room's home any more. Called on any thread.
    func promise(_ room: String, completion: @escaping @Sendable (Bool) -> Void) {
        guard let node = state.withLock({ $0.node }), node.echoAge < ClusterLimits.promiseMax else {
            changed(room)
            return completion(true)
        }
        node.promise(room, completion: completion)
    }

    /// The room is over.
    func closed(_ room: String) {
        let node = state.withLock { state in
            state.homes[room] = nil
            return state.node
        }
        node?.post(.closed(room: room))
    }

    /// Another node says that this one has ended.
    func takenForEnded() {
        log.warning("other nodes take this one for ended; it gives its rooms up if it is cut off from the cluster")
        state.withLock { $0.node }?.post(.takenForEnded)
    }

    /// - Parameter body: called on any thread.
    func onEndedNode(_ body: @escaping @Sendable (NodeBeat) -> Void) { state.withLock { $0.onEndedNode = body } }

    /// The store refuses this node's writes about the room.
    func superseded(_ room: String, byNumber number: UInt64) { state.withLock { $0.node }?.post(.superseded(room: room, byNumber: number)) }
}

extension RoomClaim {
    init(_ place: ClusterRooms.Place) {
        self =
            switch place {
            case .here: .here
            case .elsewhere(let home): .elsewhere(node: home.node.description)
            case .unavailable, .storeUnavailable: .unavailable
            case .draining: .draining
            }
    }
}
