internal import Backend
internal import Engine
internal import HTTPServer
internal import Identity
internal import Sockets
internal import Synchronization
internal import Wire

/// State shared by all shards: immutable values and thread-safe services.
struct GatewayContext: Sendable {
    var settings: GatewaySettings
    var keys: KeyRing
    var metrics: MetricsBoard
    var state: GatewayState
    /// By shard.
    var mailboxes: [Mailbox<ShardMessage>]
    let directory = RoomDirectory()
    let failures = AuthFailures()
    let quota: ConnectionQuota
    let operationsQuota = ConnectionQuota(limit: EdgeSettings.operationsConnectionsMax)
    let keysInUse: KeysInUse
    let origins: AllowedOrigins
    /// Set before the shards are made.
    var router: Router
    /// Of the port for operations.
    var operationsRouter: Router
    /// Of the port for other nodes.
    var nodesRouter: Router
    /// Each shard's own port; empty if there are none.
    var shardPorts: [Int]
    let services: ServiceCounters
    let operatorLog: OperatorLog
    let history = MetricsHistoryBoard()
    // Nil without the service.
    let auditEvents: AuditEventQueue?
    let recorder: Recorder?
    let recordingLog: RecordingLog?
    let calls: CallInbox?
    let dispatch: DispatchInbox?
    /// Nil for a gateway that runs alone.
    var cluster: ClusterRooms?
    var nodes: NodeClient?
    var coordination: Coordination?
    var queries: NodeQueries?
    var joins: JoinChecks?
    private let trunks: [Trunk]

    init(
        settings: GatewaySettings, keys: KeyRing, shardPorts: [Int], auditEvents: AuditEventQueue?, recorder: Recorder?,
        recordingLog: RecordingLog?, calls: CallInbox?, dispatch: DispatchInbox?, services: ServiceCounters, operatorLog: OperatorLog
    ) {
        self.settings = settings
        self.keys = keys
        self.shardPorts = shardPorts
        self.services = services
        self.operatorLog = operatorLog
        self.auditEvents = auditEvents
        self.recorder = recorder
        self.recordingLog = recordingLog
        self.calls = calls
        self.dispatch = dispatch
        quota = ConnectionQuota(limit: settings.connectionsMax)
        keysInUse = KeysInUse(keys)
        origins = AllowedOrigins(
            settings.edge.allowedOrigins, admitsAny: settings.edge.admitsAnyOrigin, admitsOwnPages: settings.edge.servesPages)
        router = Router(routes: [], origins: origins, failures: failures)
        operationsRouter = router
        nodesRouter = router
        metrics = MetricsBoard(shardCount: settings.shardCount)
        state = GatewayState()
        mailboxes = (0..<settings.shardCount).map { _ in Mailbox(limit: settings.mailboxMessagesMax) }
        trunks = (0..<settings.shardCount * settings.shardCount).map { _ in Trunk() }
    }

    func trunk(from source: Int, to destination: Int) -> Trunk {
        trunks[source * mailboxes.count + destination]
    }

    /// The latest counters published by the shards, and all others.
    var metricsSnapshot: MetricsSnapshot {
        MetricsSnapshot(
            shards: metrics.snapshot, services: services,
            gateway: MetricsSnapshot.GatewaySample(
                version: settings.version, draining: state.phase >= .draining, fastPath: settings.fastPath,
                certificateExpiry: state.certificateExpiry, process: ProcessStatistics()),
            dispatch: dispatch?.registry.counters, cluster: cluster?.sample ?? .alone)
    }

    var rooms: RoomService {
        RoomService(
            shards: ShardControl(
                count: mailboxes.count, ports: settings.edge.shardPorts == .free ? [] : shardPorts,
                homeShard: { [directory] in directory.home(of: $0) },
                isDraining: { [state] in state.phase >= .draining },
                send: { [mailboxes] request, shard in mailboxes[shard].send(.request(request)) },
                cluster: clusterControl))
    }
}

/// The gateway's lifecycle phase, readable from any thread.
package final class GatewayState: Sendable {
    package enum Phase: Int, Sendable, Comparable {
        case starting, serving, draining, stopped

        package static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
    }

    private let phaseValue = Atomic(Phase.starting.rawValue)
    private let expiry = Atomic<Int64>(0)

    package init() {}

    package var phase: Phase {
        get { Phase(rawValue: phaseValue.load(ordering: .acquiring)) ?? .stopped }
        // Never decreases: a drain may be requested before a shard reports that it serves.
        set { phaseValue.max(newValue.rawValue, ordering: .acquiringAndReleasing) }
    }

    /// When the certificate in use expires, in seconds since 1970.
    package var certificateExpiry: Int64 {
        get { expiry.load(ordering: .relaxed) }
        set { expiry.store(newValue, ordering: .relaxed) }
    }
}
