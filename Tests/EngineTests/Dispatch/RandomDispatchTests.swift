import Engine
import Testing
import Wire

/// Seeded worlds of workers that answer, decline, say nothing, die and return, and of agents that come and go. `DispatchWorld` checks the
/// invariants at every step.
struct RandomDispatchTests {
    @Test("Whatever happens, no job is on two workers and none is forgotten", arguments: 0..<32 as Range<UInt64>)
    func anything(_ seed: UInt64) {
        let world = RandomDispatchWorld(seed: seed)
        for _ in 0..<2_000 { world.step() }
        world.heal()
        world.comeToRest()
    }

    @Test func sameSeedGivesTheSameHistory() {
        func history() -> [DispatchStateMachine.Effect] {
            let world = RandomDispatchWorld(seed: 7)
            for _ in 0..<300 { world.step() }
            return world.history
        }
        #expect(history() == history())
    }
}

final class RandomDispatchWorld {
    let world: DispatchWorld
    private(set) var history: [DispatchStateMachine.Effect] = []
    private var random: SplitMix64
    private var workers: [DeviceID] = []
    /// The room and the assistant of each agent that is in its room, and whether it is away.
    private var agents: [JobRequest: Bool] = [:]
    /// Jobs that workers have accepted, as they know them.
    private var known: [DeviceID: [JobInfo]] = [:]
    private var count = 0
    private let isDeaf: Bool
    private static let rooms = ["r1", "r2", "r3"]
    private static let assistants = ["a", "b"]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        world = DispatchWorld(seed: seed)
        // Some worlds have no workers that ignore offers.
        isDeaf = seed % 3 == 0
        for _ in 0..<3 { register() }
    }

    func step() {
        switch random.below(40) {
        case 0..<6: world.create(oneOf(Self.rooms), oneOf(Self.assistants))
        case 6..<18: answer()
        case 18..<22: join()
        case 22: leave(oneOf([.clientInitiated, .signalClose, .participantRemoved, .agentError]))
        case 23: setAway(true)
        case 24..<26: setAway(false)
        case 26: register()
        case 27: disconnect()
        case 28: reconnect()
        case 29: if let worker = anyWorker() { world.send(worker, .status(WorkerStatus(load: Double(random.below(11)) / 10))) }
        case 30: if let worker = anyWorker() { world.send(worker, .status(WorkerStatus(load: 0, draining: random.below(2) == 0))) }
        case 31: finish()
        case 32: end(oneOf(Self.rooms))
        case 33:
            let jobs = world.machine.jobs(in: oneOf(Self.rooms))
            if !jobs.isEmpty { world.cancel(oneOf(jobs).id, in: oneOf(Self.rooms)) }
        case 34:
            if let worker = anyWorker() { world.send(worker, .accept("JB_unknown")) }
            world.receive(.attended(oneOf(Self.rooms), random.below(2) == 0))
        case 35: world.pass(.seconds(random.below(5)))
        default: world.pass(.milliseconds(random.below(1_200)))
        }
        history += world.effects
    }

    /// Workers that answer at once: every job must run or end within the time that a round may take.
    func heal() {
        for worker in workers { world.disconnect(worker) }
        workers = []
        for assistant in Self.assistants {
            for _ in 0..<2 {
                count += 1
                workers.append(world.worker("healthy \(count)", of: assistant, capacity: 20).device)
            }
        }
        for _ in 0..<200 {
            for (job, worker) in world.offers.sorted(by: { $0.key.text < $1.key.text }) {
                guard let info = world.accept(worker, job) else { continue }
                world.receive(.agent(info.assistant, in: info.room, .present))
            }
            world.pass(.milliseconds(500))
        }
        for room in Self.rooms {
            for job in world.machine.jobs(in: room) where !job.status.isOver {
                #expect(job.status == .running, "\(job) is not running")
            }
        }
    }

    /// All rooms end and all workers leave: no state remains.
    func comeToRest() {
        for room in Self.rooms { world.receive(.roomEnded(room)) }
        #expect(world.machine.sizes.pending == 0 && world.machine.sizes.running == 0)
        for worker in workers { world.disconnect(worker) }
        world.pass(.seconds(300))
        #expect(world.machine.isEmpty && world.machine.deadline == nil)
        #expect(world.offers.isEmpty)
    }

    // MARK: Actions

    private func register() {
        guard workers.count < 6 else { return }
        count += 1
        workers.append(world.worker("w\(count)", of: oneOf(Self.assistants), capacity: 1 + random.below(3)).device)
    }

    private func disconnect() {
        guard !workers.isEmpty else { return }
        world.disconnect(workers.remove(at: random.below(workers.count)))
    }

    /// A worker loses its channel and comes back with what it believes to have.
    private func reconnect() {
        guard let old = anyWorker(), let assistant = world.assistants[old] else { return }
        world.disconnect(old)
        workers.removeAll { $0 == old }
        if random.below(2) == 0 { world.pass(.milliseconds(random.below(3_000))) }
        count += 1
        let (device, kept) = world.worker("w\(count)", of: assistant, capacity: 3, keeping: known[old] ?? [])
        known[device] = (known[old] ?? []).filter { kept.contains($0.id) }
        workers.append(device)
    }

    /// A worker answers its offer.
    private func answer() {
        guard let (job, worker) = world.offers.sorted(by: { $0.key.text < $1.key.text }).first else { return }
        switch random.below(isDeaf ? 6 : 4) {
        case 0: world.send(worker, .decline(job))
        case 1..<4: if let info = world.accept(worker, job) { known[worker, default: []].append(info) }
        default: break
        }
    }

    private func join() {
        guard let job = anyJob() else { return }
        note(job.assistant, job.room, isAway: false)
        world.receive(.agent(job.assistant, in: job.room, .present))
    }

    private func setAway(_ isAway: Bool) {
        guard let agent = anyAgent() else { return }
        note(agent.assistant, agent.room, isAway: isAway)
        world.receive(.agent(agent.assistant, in: agent.room, isAway ? .away : .present))
    }

    private func leave(_ reason: DisconnectReason) {
        guard let agent = anyAgent() else { return }
        agents[agent] = nil
        world.receive(.agent(agent.assistant, in: agent.room, .left(reason)))
    }

    private func finish() {
        guard let worker = anyWorker(), let job = known[worker]?.first else { return }
        known[worker]?.removeFirst()
        world.send(worker, .finish(job.id, error: random.below(2) == 0 ? "broken" : nil))
    }

    private func end(_ room: String) {
        agents = agents.filter { $0.key.room != room }
        world.receive(.roomEnded(room))
    }

    private func note(_ assistant: String, _ room: String, isAway: Bool) {
        agents[JobRequest(room: room, assistant: assistant, reason: .rule)] = isAway
    }

    // MARK: Choices

    private func oneOf<Value>(_ values: [Value]) -> Value { values[random.below(values.count)] }

    private func anyWorker() -> DeviceID? { workers.isEmpty ? nil : oneOf(workers) }

    private func anyJob() -> JobInfo? {
        let jobs = Self.rooms.flatMap { world.machine.jobs(in: $0) }.filter { $0.status == .accepted || $0.status == .running }
        return jobs.isEmpty ? nil : oneOf(jobs)
    }

    private func anyAgent() -> JobRequest? {
        let present = agents.keys.sorted { ($0.room, $0.assistant) < ($1.room, $1.assistant) }
        return present.isEmpty ? nil : oneOf(present)
    }
}
