internal import Cluster
internal import Wire

/// A participant: finds its room's home, makes requests, and checks what it is sent.
final class SimulatedClient {
    let index: Int
    let room: String
    private unowned let world: ClusterWorld
    /// The process that it is connected to.
    private var connection: (node: SimulatedNode, run: Int)?
    /// Of the search for the home; counts all, so that answers to earlier ones are recognized.
    private var attempt = 0
    private(set) var lastNumber: UInt64 = 0
    private var lastPosition: (epoch: RoomEpoch, position: UInt64)?
    private var heardAt = ClusterWorld.start
    private var requests: UInt64 = 0
    private(set) var acknowledgedAt = ClusterWorld.start

    init(_ index: Int, room: String, _ world: ClusterWorld) {
        (self.index, self.room, self.world) = (index, room, world)
    }

    var home: SimulatedNode? { connection?.node }

    func isConnected(to node: SimulatedNode) -> Bool {
        guard let connection else { return false }
        return connection.node === node && connection.run == node.run
    }

    // MARK: Finding the home

    func seek(at hint: SimulatedNode? = nil) {
        connection = nil
        attempt += 1
        let attempt = attempt
        let reachable = world.nodes.filter { $0.isUp && !$0.isCutFromClients }
        // As through a load balancer, which notices a drain after a while.
        let ready = world.random.chance(0.3) ? reachable : reachable.filter { !$0.isDraining }
        let target = hint.flatMap { hint in reachable.first { $0 === hint } } ?? world.random.pick(ready.isEmpty ? reachable : ready)
        world.after(.seconds(2)) { [self] in if self.attempt == attempt, connection == nil { seek() } }
        guard let target else { return }
        let run = target.run
        // As requests about a room do.
        let ifOpen = world.random.chance(0.2)
        world.after(world.draw(upTo: world.swarm.latencyMax)) { [self] in
            target.receive { [self] in if target.run == run { target.want(room, for: index, attempt: attempt, ifOpen: ifOpen) } }
        }
    }

    private func seekLater() {
        let attempt = attempt
        world.after(world.draw(upTo: .milliseconds(300))) { [self] in if self.attempt == attempt { seek() } }
    }

    func answered(_ attempt: Int, _ answer: ClusterStateMachine.Answer, by node: SimulatedNode) {
        guard attempt == self.attempt, connection == nil else { return }
        switch answer {
        case .local:
            guard node.join(self) else { return seekLater() }
            connection = (node, node.run)
            heardAt = world.now
        case .elsewhere(let identity):
            guard let other = world.nodes.first(where: { $0.isUp && $0.machine.local == identity }), other !== node else {
                return seekLater()
            }
            seek(at: other)
        case .unavailable, .draining, .notOpen: seekLater()
        }
    }

    func sentAway(by node: SimulatedNode, to hint: NodeIdentity?) {
        guard isConnected(to: node) else { return }
        seek(at: world.nodes.first { $0.isUp && $0.machine.local == hint })
    }

    /// The socket has broken.
    func lostConnection(to node: SimulatedNode) {
        guard let connection, connection.node === node else { return }
        let attempt = attempt
        world.after(world.draw(upTo: .milliseconds(500))) { [self] in if self.attempt == attempt { seek() } }
    }

    // MARK: In the room

    func act() {
        world.after(world.random.between(.milliseconds(100), .milliseconds(400))) { [self] in act() }
        guard let (node, run) = connection else { return }
        // As a keepalive that is not answered.
        if world.now - heardAt > .seconds(3) {
            node.receive { [self] in if node.run == run { node.leave(self) } }
            return seek()
        }
        guard !node.isCutFromClients else { return }
        requests += 1
        let number = UInt64(index) << 32 | requests
        world.after(world.draw(upTo: world.swarm.latencyMax)) { [self] in
            node.receive { [self] in if node.run == run { node.request(number, from: self) } }
        }
    }

    func received(_ number: UInt64, _ epoch: RoomEpoch, _ position: UInt64) {
        heardAt = world.now
        world.expect(number > lastNumber, "client \(index) gets event \(number) after \(lastNumber)")
        lastNumber = number
        if let last = lastPosition, last.epoch == epoch {
            world.expect(position >= last.position, "client \(index): playout goes back from \(last.position) to \(position)")
        }
        lastPosition = (epoch, position)
    }

    /// - Parameter isSafe: the request outlives the node.
    func acknowledged(_ request: UInt64, isSafe: Bool) {
        heardAt = world.now
        acknowledgedAt = world.now
        if isSafe { world.noteAcknowledged(request, in: room) }
    }
}
