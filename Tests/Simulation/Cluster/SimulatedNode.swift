internal import Cluster
internal import Wire

/// A node: the real decisions, a room of few words, and a shell that may be killed or suspended at any time.
final class SimulatedNode {
    private enum State {
        case running, suspended, down
    }

    let index: Int
    private unowned let world: ClusterWorld
    private(set) var machine: ClusterStateMachine
    private var state = State.down
    /// What arrives during a suspension, in order.
    private var held: [() -> Void] = []
    /// Differs after each start, so that callbacks of an earlier process do nothing.
    private(set) var run = 0
    private(set) var rooms: [String: SimulatedRoom] = [:]
    private var promises: [PromiseID: (room: String, client: Int, request: UInt64, since: Instant)] = [:]
    private var requesters: [RequesterID: (client: Int, attempt: Int, since: Instant)] = [:]
    private(set) var isDraining = false
    private var lastID: UInt64 = 0
    private var pendingRequests: [Int: (ClusterStateMachine.Input)] = [:]
    private var isConnected = false
    private let clockRate: Double
    private var wakeAt: Instant?
    /// The latest time at which others may have missed its beats.
    private(set) var disturbedAt = ClusterWorld.start
    var linkLatency: Duration = .zero { didSet { disturbedAt = world.now } }
    var isCutFromBroker = false { didSet { linkChanged() } }
    var isMuted = false { didSet { disturbedAt = world.now } }
    var isCutFromClients = false
    var isCutFromStore = false

    init(_ index: Int, _ world: ClusterWorld) {
        self.index = index
        self.world = world
        clockRate = 1 + (world.random.unit() * 2 - 1) * world.swarm.clockDrift
        machine = ClusterStateMachine(NodeBeat(node: Self.identity(index, world), number: 0, build: "1"), seed: 0, at: ClusterWorld.start)
    }

    private static func identity(_ index: Int, _ world: ClusterWorld) -> NodeIdentity {
        let name = world.swarm.sharesName && index == 1 ? 0 : index
        return NodeIdentity(name: "node-\(name)", incarnation: world.random.next())
    }

    var isRunning: Bool { state == .running }
    var isUp: Bool { state != .down }
    var isLinked: Bool { state != .down && world.broker.isUp && !isCutFromBroker }
    var latency: Duration { world.draw(upTo: world.swarm.latencyMax) + linkLatency }

    /// The node's monotonic clock.
    var clock: Instant {
        ClusterWorld.start + .nanoseconds(Int64(Double((world.now - ClusterWorld.start).inNanoseconds) * clockRate))
    }

    // MARK: The process

    func start() {
        guard state == .down else { return }
        run += 1
        state = .running
        (rooms, promises, requesters, pendingRequests, held) = ([:], [:], [:], [:], [])
        (isConnected, isDraining, wakeAt) = (false, false, nil)
        let beat = NodeBeat(node: Self.identity(index, world), number: 0, build: "1")
        machine = ClusterStateMachine(beat, seed: world.random.next(), at: clock)
        world.log("\(machine.local) starts")
        wake(at: clock)
        linkChanged()
    }

    func kill() {
        guard state != .down else { return }
        world.log("\(machine.local) is killed")
        state = .down
        world.connectionsBroke(to: self)
    }

    func suspend(for span: Duration) {
        guard state == .running else { return }
        world.log("\(machine.local) is suspended for \(span)")
        state = .suspended
        disturbedAt = world.now
        let run = run
        world.after(span) { [self] in if self.run == run { resume() } }
    }

    func resume() {
        guard state == .suspended else { return }
        world.log("\(machine.local) goes on")
        state = .running
        disturbedAt = world.now
        while state == .running, !held.isEmpty { held.removeFirst()() }
    }

    /// Runs what reaches this process, once it is not suspended any more.
    func receive(_ body: @escaping () -> Void) {
        switch state {
        case .running where held.isEmpty: body()
        case .running, .suspended: held.append(body)
        case .down: break
        }
    }

    // MARK: The broker

    /// The library notices a lost or a new connection after a while, and ends the requests under way.
    func linkChanged() {
        let (run, isLinked) = (run, isLinked)
        disturbedAt = world.now
        world.after(world.draw(upTo: isLinked ? .milliseconds(300) : .milliseconds(800))) { [self] in
            guard self.run == run, self.isLinked == isLinked else { return }
            receive { [self] in
                guard self.run == run, isConnected != isLinked else { return }
                isConnected = isLinked
                guard isLinked else {
                    handle(.disconnected)
                    let pending = pendingRequests.sorted { $0.key < $1.key }
                    pendingRequests = [:]
                    for request in pending { handle(request.value) }
                    return
                }
                handle(.connected)
            }
        }
    }

    /// - Parameter failed: the input if there is no answer.
    private func ask(_ failed: ClusterStateMachine.Input, _ perform: @escaping () -> ClusterStateMachine.Input) {
        lastID += 1
        let (run, number) = (run, Int(lastID))
        pendingRequests[number] = failed
        let conclude = { [self] (input: ClusterStateMachine.Input) in
            receive { [self] in
                guard self.run == run, pendingRequests.removeValue(forKey: number) != nil else { return }
                handle(input)
            }
        }
        world.after(.seconds(2)) { conclude(failed) }
        world.after(latency) { [self] in
            world.broker.take { [self] in
                guard isLinked, self.run == run else { return }
                let answer = perform()
                world.after(latency) { [self] in if isLinked { conclude(answer) } }
            }
        }
    }

    // MARK: Decisions

    func handle(_ input: ClusterStateMachine.Input) {
        let run = run
        receive { [self] in
            guard self.run == run else { return }
            var effects: [ClusterStateMachine.Effect] = []
            if case .written(let room, .success) = input { rooms[room]?.isRefused = false }
            machine.handle(input, at: clock, into: &effects)
            for effect in effects where state != .down { execute(effect) }
            if state != .down { wake(at: machine.deadline) }
        }
    }

    private func wake(at deadline: Instant) {
        guard wakeAt.map({ deadline < $0 }) ?? true else { return }
        wakeAt = deadline
        let run = run
        let wait = max(.zero, deadline - clock)
        world.after(.nanoseconds(Int64(Double(wait.inNanoseconds) / clockRate) + 1)) { [self] in
            receive { [self] in
                guard self.run == run, wakeAt == deadline else { return }
                wakeAt = nil
                handle(.deadlinePassed)
            }
        }
    }

    private func execute(_ effect: ClusterStateMachine.Effect) {
        if case .publish = effect {} else { world.log("\(machine.local): \(effect)") }
        switch effect {
        case .publish(let beat):
            guard isLinked else { return }
            world.broker.publish(world.encoded(beat, by: self), from: self)
        case .read(let room):
            ask(.read(room: room, .failure(.unavailable))) { [world] in .read(room: room, .success(world.broker.read(room))) }
        case .write(let room, let record, let revision):
            let bytes = world.encoded(record, by: self)
            let isLast = rooms[room]?.isClosed == true && record.home == nil && record.snapshot.isEmpty
            let accepted = rooms[room]?.accepted ?? []
            ask(.written(room: room, .failure(.unavailable))) { [self] in
                let result = world.broker.write(bytes, of: room, after: revision)
                // The room is over, whether or not this node learns of it, or has given it up meanwhile.
                if case .success = result, isLast { world.noteClosed(room, accepted) }
                return .written(room: room, result)
            }
        case .collect(let room, let isLast):
            // A shard answers on its own thread, and its answer is encoded on another one.
            let run = run
            world.after(world.draw(upTo: .milliseconds(5))) { [self] in
                receive { [self] in
                    guard self.run == run else { return }
                    rooms[room]?.isFrozen = isLast
                    let snapshot = rooms[room]?.snapshot ?? []
                    world.after(world.draw(upTo: .milliseconds(5))) { [self] in
                        receive { [self] in if self.run == run { handle(.collected(room: room, snapshot: snapshot)) } }
                    }
                }
            }
        case .resumed(let room): rooms[room]?.isFrozen = false
        case .answer(let id, let answer):
            guard let (client, attempt, _) = requesters.removeValue(forKey: id) else { return world.fail("\(machine.local) answers twice") }
            world.answer(client, attempt, answer, from: self)
        case .began(let room, let epoch, let snapshot, let former):
            world.expect(rooms[room] == nil, "\(machine.local) begins \(room) twice")
            if let former { world.checkEnded(former, by: self) }
            world.noteHome(of: room, epoch, self)
            let restored = SimulatedRoom(epoch, snapshot: snapshot)
            world.checkRestored(room, restored.accepted, by: self)
            rooms[room] = restored
        case .raised(let room, let epoch):
            world.noteHome(of: room, epoch, self)
            rooms[room]?.epoch = epoch
        case .ended(let room, let reason):
            world.expect(rooms[room] != nil, "\(machine.local) ends \(room), which it does not have")
            if reason == .closed { noteClosed(room) }
            let members = rooms.removeValue(forKey: room)?.members ?? []
            var hint: NodeIdentity?
            if case .lost(let home) = reason { hint = home }
            for client in members.sorted() { world.tell(client, from: self) { $0.sentAway(by: self, to: hint) } }
        case .kept(let id):
            guard let (room, client, request, _) = promises.removeValue(forKey: id) else {
                return world.fail("a promise is concluded twice")
            }
            let isSafe = rooms[room]?.isRefused == false
            world.tell(client, from: self) { $0.acknowledged(request, isSafe: isSafe) }
        case .broken(let id):
            if promises.removeValue(forKey: id) == nil { world.fail("a promise is concluded twice") }
        case .refused(let room, _): rooms[room]?.isRefused = true
        case .nameTaken: kill()
        }
    }

    // MARK: Clients and the store

    /// - Parameter ifOpen: the room is not to begin.
    func want(_ room: String, for client: Int, attempt: Int, ifOpen: Bool) {
        lastID += 1
        let requester = RequesterID(lastID)
        requesters[requester] = (client, attempt, world.now)
        handle(ifOpen ? .sought(room: room, by: requester) : .wanted(room: room, by: requester))
    }

    /// - Returns: false if this node is not the room's home.
    func join(_ client: SimulatedClient) -> Bool {
        guard let room = rooms[client.room], room.takesRequests else { return false }
        rooms[client.room]?.join(client.index, lastNumber: client.lastNumber)
        handle(.changed(room: client.room))
        return true
    }

    func leave(_ client: SimulatedClient) { rooms[client.room]?.members.remove(client.index) }

    func request(_ number: UInt64, from client: SimulatedClient) {
        guard let room = rooms[client.room], room.takesRequests, room.members.contains(client.index) else { return }
        rooms[client.room]?.accepted.insert(number)
        rooms[client.room]?.position += 1
        sendEvents(to: client.room)
        lastID += 1
        promises[PromiseID(lastID)] = (client.room, client.index, number, world.now)
        handle(.promised(room: client.room, PromiseID(lastID)))
    }

    private func sendEvents(to room: String) {
        for member in (rooms[room]?.members ?? []).sorted() {
            guard let number = rooms[room]?.nextNumber(for: member), let (epoch, position) = rooms[room].map({ ($0.epoch, $0.position) })
            else { continue }
            world.tell(member, from: self) { $0.received(number, epoch, position) }
        }
        handle(.changed(room: room))
    }

    /// Twice a second: durable effects of each room, and the end of some, mostly of those that nobody is in.
    func work() {
        for room in rooms.keys.sorted() {
            guard let members = rooms[room]?.members, rooms[room]?.isClosed == false else { continue }
            let share = members.isEmpty ? 0.05 : world.swarm.closesFullRooms ? 0.02 : 0
            if world.phase == .chaos, world.random.chance(share) {
                close(room)
                continue
            }
            // A home that has lost its clients has nothing to write.
            guard !members.isEmpty else { continue }
            guard world.store.isUp, !isCutFromStore, let epoch = rooms[room]?.epoch else { continue }
            if let highest = world.store.write(room, epoch) {
                let run = run
                world.after(world.draw(upTo: .milliseconds(20))) { [self] in
                    if self.run == run { handle(.superseded(room: room, byNumber: highest.number)) }
                }
            }
        }
    }

    private func close(_ room: String) {
        let members = rooms[room]?.members ?? []
        rooms[room]?.isClosed = true
        rooms[room]?.members = []
        for client in members.sorted() { world.tell(client, from: self) { $0.sentAway(by: self, to: nil) } }
        handle(.closed(room: room))
    }

    private func noteClosed(_ room: String) { world.noteClosed(room, rooms[room]?.accepted ?? []) }

    /// Hands over all rooms, and ends after a while.
    func drain() {
        guard state == .running else { return }
        isDraining = true
        handle(.drain)
        for room in rooms.keys.sorted() { handle(.moved(room: room)) }
        let run = run
        world.after(world.random.between(.seconds(2), .seconds(15))) { [self] in if self.run == run { kill() } }
    }

    /// When the oldest request was made that has not been answered, or the oldest promise given that has not been concluded.
    var waitsSince: Instant? { (promises.values.map(\.since) + requesters.values.map(\.since)).min() }
}
