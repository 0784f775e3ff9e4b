import Engine
import Testing
import Wire

/// One room, one assistant, two workers, and every order of what may happen.
struct SmallDispatchWorldTests {
    enum Action: CaseIterable {
        case create, firstAccepts, secondAccepts, firstDeclines, agentJoins, agentIsAway, agentLeaves, firstDies, firstReturns, secondDrains
        case timePasses, roomEnds, userComes, userLeaves
    }

    private final class Sides {
        let world = DispatchWorld()
        private var first: DeviceID
        private let second: DeviceID
        private var generation = 1
        /// What the first worker has accepted.
        private var accepted: [JobInfo] = []
        private var isAlive = true

        init() {
            first = world.worker("first 1", capacity: 1).device
            second = world.worker("second", capacity: 1).device
        }

        private var job: JobInfo? { world.machine.jobs(in: "r").last }

        func take(_ action: Action) {
            switch action {
            case .create: world.create()
            case .firstAccepts:
                guard isAlive, let job, let info = world.accept(first, job.id) else { return }
                accepted.append(info)
            case .secondAccepts: if let job { world.accept(second, job.id) }
            case .firstDeclines: if isAlive, let job { world.send(first, .decline(job.id)) }
            case .agentJoins: if job?.status == .accepted || job?.status == .running { world.receive(.agent("a", in: "r", .present)) }
            case .agentIsAway: if job?.status == .running { world.receive(.agent("a", in: "r", .away)) }
            case .agentLeaves: world.receive(.agent("a", in: "r", .left(.clientInitiated)))
            case .firstDies:
                guard isAlive else { return }
                isAlive = false
                world.disconnect(first)
            case .firstReturns:
                guard !isAlive else { return }
                isAlive = true
                generation += 1
                let (device, kept) = world.worker("first \(generation)", capacity: 1, keeping: accepted)
                first = device
                accepted = accepted.filter { kept.contains($0.id) }
            case .secondDrains: world.send(second, .status(WorkerStatus(load: 0, draining: true)))
            case .timePasses: world.pass(.milliseconds(1_500))
            case .roomEnds: world.receive(.roomEnded("r"))
            case .userComes: world.receive(.attended("r", true))
            case .userLeaves: world.receive(.attended("r", false))
            }
        }

        /// Everything ends.
        func comeToRest() {
            world.receive(.roomEnded("r"))
            if isAlive { world.disconnect(first) }
            world.disconnect(second)
            world.pass(.seconds(200))
        }
    }

    @Test("Every sequence of four keeps the invariants and comes to rest", arguments: Action.allCases)
    func sequences(_ first: Action) {
        var count = 0
        func go(_ chosen: [Action]) {
            if chosen.count == 4 {
                let sides = Sides()
                // Without a job little can happen.
                sides.take(.create)
                for action in chosen { sides.take(action) }
                sides.comeToRest()
                if !sides.world.machine.isEmpty || sides.world.machine.deadline != nil { Issue.record("\(chosen): state remains") }
                count += 1
            } else {
                for action in Action.allCases { go(chosen + [action]) }
            }
        }
        go([first])
        #expect(count == 2_744)
    }
}
