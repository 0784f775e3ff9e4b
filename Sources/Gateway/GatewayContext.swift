internal import Backend
internal import Engine
internal import HTTPServer
internal import Identity
internal import Sockets
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
    let failures = AuthFailureLimiter()
    let quota: ConnectionQuota
    let operationsQuota = ConnectionQuota(limit: EdgeSettings.operationsConnectionsMax)
    let keysInUse: KeysInUse
    let origins: AllowedOrigins
    /// Set before the shards are made.
    var router: Router
    /// Of the port for operations.
    var operationsRouter: Router
    /// Each shard's own port; empty if there are none.
    var shardPorts: [Int]
    /// The operator's log.
    let operatorLog: OperatorLog
    /// Receives audit events; nil if unused.
    let auditEvents: AuditEventQueue?
    /// Writes recordings; nil if recording is disabled.
    let recorder: Recorder?
    /// The call service's inbox; nil without calls.
    let calls: CallInbox?
    /// The dispatch service's inbox; nil without dispatch.
    let dispatch: DispatchInbox?
    private let trunks: [Trunk]

    init(
        settings: GatewaySettings, keys: KeyRing, shardPorts: [Int], auditEvents: AuditEventQueue?, recorder: Recorder?, calls: CallInbox?,
        dispatch: DispatchInbox?, operatorLog: OperatorLog
    ) {
        self.settings = settings
        self.keys = keys
        self.shardPorts = shardPorts
        self.operatorLog = operatorLog
        self.auditEvents = auditEvents
        self.recorder = recorder
        self.calls = calls
        self.dispatch = dispatch
        quota = ConnectionQuota(limit: settings.connectionsMax)
        keysInUse = KeysInUse(keys)
        origins = AllowedOrigins(
            settings.edge.allowedOrigins, admitsAny: settings.edge.admitsAnyOrigin, admitsOwnPages: settings.edge.servesPages)
        router = Router(routes: [], origins: origins, failures: failures)
        operationsRouter = router
        metrics = MetricsBoard(shardCount: settings.shardCount)
        state = GatewayState()
        mailboxes = (0..<settings.shardCount).map { _ in Mailbox() }
        trunks = (0..<settings.shardCount * settings.shardCount).map { _ in Trunk() }
    }

    /// The frame path from one shard to another.
    func trunk(from source: Int, to destination: Int) -> Trunk {
        trunks[source * mailboxes.count + destination]
    }

    var rooms: RoomService {
        RoomService(
            shards: ShardControl(
                count: mailboxes.count, ports: settings.edge.shardPorts == .free ? [] : shardPorts,
                homeShard: { [directory] in directory.home(of: $0) },
                isDraining: { [state] in state.phase >= .draining },
                send: { [mailboxes] request, shard in mailboxes[shard].post(.request(request)) }))
    }

    var serverInfo: ServerInfo { settings.serverInfo }
}
