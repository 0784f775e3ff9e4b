internal import Engine
internal import Wire

/// A client with an identity that reconnects when its connection is lost. `Stay` is its state on one connection.
final class SimulatedPeer {
    let number: Int
    unowned let world: World
    let room: Int
    let identity: Identity
    let kind: ParticipantKind
    let isAdmin: Bool
    let isManualSubscriber: Bool
    var permission: Permission
    /// The newest connection; an older one may stay open until the gateway closes it.
    private(set) var session: PeerSession?
    /// The last connection, open or closed.
    private var lastSession: PeerSession?
    private var isReconnecting = false

    init(number: Int, world: World) {
        self.number = number
        self.world = world
        let swarm = world.swarm
        room = world.random.below(swarm.roomCount)
        kind = world.random.chance(swarm.agents) ? .agent : .standard
        identity = Identity(text: "\(kind == .agent ? "agent" : "user")-\(number)")
        isAdmin = world.random.chance(swarm.admins)
        isManualSubscriber = world.random.chance(swarm.manualSubscribers)
        permission = Permission(
            canPublish: !world.random.chance(swarm.nonPublishers), canSubscribe: !world.random.chance(swarm.nonSubscribers),
            canUpdateMetadata: true,
            hidden: world.random.chance(swarm.hidden))
        scheduleAct()
    }

    /// A random permission for an administrative update.
    func drawPermission() -> Permission {
        Permission(
            canPublish: world.random.chance(0.7), canSubscribe: world.random.chance(0.7), canPublishData: world.random.chance(0.7),
            canUpdateMetadata: true, hidden: permission.hidden)
    }

    func connectIfAway() {
        if session == nil { connect() }
    }

    /// Opens a connection to a random shard; an older one stays open.
    func connect() {
        isReconnecting = false
        guard !world.isEnding else { return }
        // May resume, sometimes with an outdated token.
        let past = world.random.chance(world.swarm.resuming) ? lastSession.flatMap { ResumeState(from: $0) ?? $0.resumeState } : nil
        let token = past.map { world.random.chance(0.05) ? "RT_old" : $0.hello.resumeToken }
        let admission = Admission(
            identity: identity, name: identity.text, kind: kind, permission: permission, isRoomAdmin: isAdmin,
            autoSubscribe: !isManualSubscriber,
            resumeToken: "RT_\(world.sessions.count)", resumeSecret: ResumeSecret("\(world.sessions.count)"), resuming: token)
        let ticket = JoinTicket(admission: admission, lastSeq: past?.lastSeq, room: world.roomName(room), settings: world.roomSettings)
        let session = PeerSession(number: world.sessions.count, peer: self, ticket: ticket, shard: world.random.below(world.shards.count))
        session.resumeState = past
        self.session = session
        lastSession = session
        world.sessions.append(session)
        world.connections.append(session.connection)
        world.schedule.add(.upgraded(connection: session.connection.number), at: world.now + session.connection.latency * 2)
    }

    /// The connection was lost or rejected.
    func lost(_ session: PeerSession) {
        guard session === self.session else { return }
        self.session = nil
        switch world.phase {
        case .chaos: reconnect(after: world.random.exponential(mean: .milliseconds(500)))
        case .recovery, .liveness: reconnect(after: .milliseconds(20))
        case .draining, .leaving, .over: break
        }
    }

    private func reconnect(after pause: Duration) {
        guard !isReconnecting else { return }
        isReconnecting = true
        world.schedule.add(.connects(peer: number), at: world.now + pause)
    }

    /// After the faults: reconnects if necessary and subscribes to everything.
    func settle() {
        if let session { session.settle() } else { connect() }
    }

    func leaveForGood() {
        guard let session else { return }
        switch world.random.below(3) {
        case 0: session.leave()
        case 1: session.closeNormally()
        default: session.disconnect(isReset: false)
        }
    }

    // MARK: Actions

    private func scheduleAct() {
        let rate = world.swarm.actions.reduce(0, +)
        guard rate > 0 else { return }
        world.schedule.add(.acts(peer: number), at: world.now + world.random.exponential(mean: .nanoseconds(Int64(1e9 / rate))))
    }

    func act() {
        guard case .chaos = world.phase else { return }
        defer { scheduleAct() }
        var target = world.random.unit() * world.swarm.actions.reduce(0, +)
        for action in PeerAction.allCases {
            target -= world.swarm.actions[action.rawValue]
            if target < 0, world.swarm.actions[action.rawValue] > 0 {
                session?.act(action)
                return
            }
        }
    }
}
