import Engine
import Testing
import Wire

/// Seeded worlds of five users with two devices each, acting at random.
struct RandomCallTests {
    @Test("Whatever happens, no two devices disagree", arguments: 0..<24 as Range<UInt64>)
    func anything(_ seed: UInt64) {
        var world = RandomCallWorld(seed: seed)
        for _ in 0..<1_500 { world.step() }
        world.comeToRest()
    }

    @Test func fiveHundredRoundsOfRacingAnswersCancelsAndHangUps() {
        var random = SplitMix64(seed: 500)
        var outcomes: [CallStatus: Int] = [:]
        for round in 0..<500 {
            var world = CallWorld(seed: UInt64(round))
            let callers = [world.connect("ann.phone"), world.connect("ann.tablet")]
            let callees = [world.connect("bob.phone"), world.connect("bob.car")]
            let call = world.call(callers[0], "bob")
            var requests: [(DeviceID, CallRequest)] =
                callers.flatMap { [($0, .cancel(call)), ($0, .hangUp(call))] }
                + callees.flatMap { [($0, .answer(call)), ($0, .hangUp(call)), ($0, .reject(call, CallRejection()))] }
            var admitted: [DeviceID] = []
            while !requests.isEmpty {
                let (device, request) = requests.remove(at: random.below(requests.count))
                let answer = world.send(device, request)
                if answer?.isAdmission == true { admitted.append(device) }
            }
            let devices = callers + callees
            let ends = devices.compactMap { world.received[$0]?.last }
            #expect(ends.count == 4 && ends.allSatisfy { $0 == ends[0] && $0.kind == .ended }, "round \(round)")
            #expect(Set(devices.map { world.received[$0]?.count }).count == 1, "round \(round)")
            #expect(admitted.count <= 1, "round \(round)")
            #expect((ends[0].call.status == .completed) == (admitted.count == 1), "round \(round)")
            outcomes[ends[0].call.status, default: 0] += 1
        }
        #expect(Set(outcomes.keys) == [.completed, .cancelled, .rejected], "each side must win every race sometimes: \(outcomes)")
    }
}

struct RandomCallWorld {
    var world: CallWorld
    private var random: SplitMix64
    private var devices: [DeviceID] = []
    /// The latest calls, which requests refer to.
    private var calls: [CallID] = []
    private var made: [CallID] = []
    private static let names = ["ann", "bob", "cid", "dan", "eve"]
    private static let assistants = ["helper", "expert"]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        world = CallWorld(CallSettings(waiting: seed % 2 == 0 ? .busy : .ring), seed: seed)
        for name in Self.names { for position in ["phone", "car"] { devices.append(world.connect("\(name).\(position)")) } }
        for process in 1...2 { devices.append(world.connect("assistant:expert.\(process)")) }
    }

    mutating func step() {
        switch random.below(40) {
        case 0: devices.append(world.connect(oneOf(Self.names) + ".new"))
        case 1: if devices.count > 4 { world.disconnect(devices.remove(at: random.below(devices.count))) }
        case 2..<7: start()
        case 7: world.pass(.seconds(random.below(50)))
        case 8..<11: world.pass(.milliseconds(random.below(3_000)))
        case 11..<16: if let call = anyCall() { world.receive(.joinedRoom(call, anyParty())) }
        case 16: if let call = anyCall() { world.receive(.leftRoom(call, anyParty())) }
        case 17: if let call = anyCall() { world.receive(.failed(call, anyParty(), reason: "lost")) }
        case 18: if random.below(4) == 0, let call = anyCall() { world.receive(.roomEnded(call)) }
        case 19: if let call = anyCall() { world.receive(.ringing(call, anyParty())) }
        default: if let call = anyCall() { send(about: call) }
        }
        checkUsers()
    }

    /// Everybody hangs up, time passes, and no state remains.
    mutating func comeToRest() {
        for call in made { world.receive(.roomEnded(call)) }
        #expect(world.machine.count == 0)
        world.pass(.seconds(600))
        #expect(world.machine.deadline == nil)
        for device in devices { world.disconnect(device) }
        #expect(world.machine.isEmpty, "users without devices and calls must be removed")
    }

    private mutating func start() {
        var to: [CallParty] = []
        for _ in 0...random.below(3) {
            let party = anyParty()
            if !to.contains(party) { to.append(party) }
        }
        let key = random.below(4) == 0 ? "key \(random.below(3))" : nil
        let answer = world.send(anyDevice(), .start(CallStart(to: to, idempotencyKey: key)))
        if case .admitted(let call) = answer, !calls.contains(call.id) {
            calls.append(call.id)
            made.append(call.id)
            if calls.count > 12 { calls.removeFirst() }
        }
    }

    private mutating func send(about call: CallID) {
        let request: CallRequest =
            switch random.below(14) {
            case 0..<5: .answer(call)
            case 5: .reject(call, CallRejection(isBusy: random.below(2) == 0))
            case 6: .cancel(call)
            case 7, 8: .hangUp(call)
            case 9, 10: .hold(call, held: random.below(2) == 0)
            case 11: .mute(call, muted: random.below(2) == 0)
            case 12: .invite(call, [anyParty()])
            default: .join(call)
            }
        let before = world.machine.snapshot(of: "ann")
        let answer = world.send(anyDevice(), request)
        if case .rejected = answer {
            #expect(world.machine.snapshot(of: "ann") == before, "a rejected request leaves no trace")
            #expect(world.effects.count == 1)
        }
    }

    /// No user is active in two calls, no member stays alone in an answered call, and no two users ring each other.
    private func checkUsers() {
        var offers: Set<[CallParty]> = []
        for name in Self.names {
            let user = Identity(text: name)
            let joined = world.machine.snapshot(of: user).filter { $0.member(.user(user))?.state == .joined }
            if joined.count(where: { $0.member(.user(user))?.held == false }) > 1 { Issue.record("\(name) talks in two calls") }
            for call in joined where call.status == .answered {
                if call.members.count(where: { $0.state != .left }) < 2 { Issue.record("\(name) is alone in \(call.id)") }
            }
            for call in joined where call.status != .answered && call.members.count == 2 {
                let parties = call.members.map(\.party)
                if offers.contains(parties.reversed()) { Issue.record("\(parties) ring each other") }
                offers.insert(parties)
            }
        }
    }

    private mutating func anyDevice() -> DeviceID { devices[random.below(devices.count)] }
    private mutating func anyCall() -> CallID? { calls.isEmpty ? nil : calls[random.below(calls.count)] }
    private mutating func oneOf(_ names: [String]) -> String { names[random.below(names.count)] }

    private mutating func anyParty() -> CallParty {
        random.below(5) == 0 ? .assistant(oneOf(Self.assistants)) : .user(Identity(text: oneOf(Self.names)))
    }
}
