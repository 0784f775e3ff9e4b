internal import Engine
internal import Wire

/// Somebody with an identity, who comes again when its connection is lost. What it knows and does on one connection is its `Stay`.
final class SimulatedPeer {
    let number: Int
    unowned let world: World
    let room: Int
    let identity: Identity
    let kind: ParticipantKind
    let isAdmin: Bool
    let isChoosy: Bool
    var permission: Permission
    /// The newest one; an older one may still be there until the gateway ends it.
    private(set) var stay: Stay?
    /// The last one, be it over.
    private var lastStay: Stay?
    private var isComing = false

    init(number: Int, world: World) {
        self.number = number
        self.world = world
        let swarm = world.swarm
        room = world.chance.below(swarm.roomCount)
        kind = world.chance.chance(swarm.agents) ? .agent : .standard
        identity = Identity(text: "\(kind == .agent ? "agent" : "user")-\(number)")
        isAdmin = world.chance.chance(swarm.admins)
        isChoosy = world.chance.chance(swarm.choosy)
        permission = Permission(
            canPublish: !world.chance.chance(swarm.dumb), canSubscribe: !world.chance.chance(swarm.deaf), canUpdateMetadata: true,
            hidden: world.chance.chance(swarm.hidden))
        scheduleAct()
    }

    /// What an administrator may make of it.
    func drawPermission() -> Permission {
        Permission(
            canPublish: world.chance.chance(0.7), canSubscribe: world.chance.chance(0.7), canPublishData: world.chance.chance(0.7),
            canUpdateMetadata: true, hidden: permission.hidden)
    }

    func connectIfAway() {
        if stay == nil { connect() }
    }

    /// Opens a connection, to any shard; an older one stays as it is.
    func connect() {
        isComing = false
        guard !world.isEnding else { return }
        // Whoever has been here may want to go on from there; now and then with a token that is an old one.
        let past = world.chance.chance(world.swarm.resuming) ? lastStay.flatMap { Inheritance(from: $0) ?? $0.inheritance } : nil
        let token = past.map { world.chance.chance(0.05) ? "RT_old" : $0.hello.resumeToken }
        let admission = Admission(
            identity: identity, name: identity.text, kind: kind, permission: permission, isRoomAdmin: isAdmin, autoSubscribe: !isChoosy,
            resumeToken: "RT_\(world.stays.count)", resuming: token)
        let ticket = JoinTicket(admission: admission, lastSeq: past?.lastSeq, room: world.roomName(room), settings: world.roomSettings)
        let stay = Stay(number: world.stays.count, peer: self, ticket: ticket, shard: world.chance.below(world.shards.count))
        stay.inheritance = past
        self.stay = stay
        lastStay = stay
        world.stays.append(stay)
        world.lines.append(stay.line)
        world.agenda.add(.upgraded(line: stay.line.number), at: world.now + stay.line.latency * 2)
    }

    /// Its connection is gone, or it was not let in.
    func lost(_ stay: Stay) {
        guard stay === self.stay else { return }
        self.stay = nil
        switch world.phase {
        case .chaos: comeBack(after: world.chance.exponential(mean: .milliseconds(500)))
        case .healed, .audible: comeBack(after: .milliseconds(20))
        case .hushed, .leaving, .over: break
        }
    }

    private func comeBack(after pause: Duration) {
        guard !isComing else { return }
        isComing = true
        world.agenda.add(.connects(peer: number), at: world.now + pause)
    }

    /// Faults are over: it comes back if it is away, and asks for what it wants.
    func settle() {
        if let stay { stay.settle() } else { connect() }
    }

    func leaveForGood() {
        guard let stay else { return }
        switch world.chance.below(3) {
        case 0: stay.leave()
        case 1: stay.hangUp()
        default: stay.breakOff(isTold: false)
        }
    }

    // MARK: Of its own accord

    private func scheduleAct() {
        let rate = world.swarm.doings.reduce(0, +)
        guard rate > 0 else { return }
        world.agenda.add(.acts(peer: number), at: world.now + world.chance.exponential(mean: .nanoseconds(Int64(1e9 / rate))))
    }

    func act() {
        guard case .chaos = world.phase else { return }
        defer { scheduleAct() }
        var place = world.chance.unit() * world.swarm.doings.reduce(0, +)
        for doing in Doing.allCases {
            place -= world.swarm.doings[doing.rawValue]
            if place < 0, world.swarm.doings[doing.rawValue] > 0 {
                stay?.act(doing)
                return
            }
        }
    }
}
