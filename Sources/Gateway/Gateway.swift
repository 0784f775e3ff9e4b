package import Backend
internal import Engine
internal import Foundation
package import HTTPServer
package import Identity
internal import Logging
internal import ServiceLifecycle
package import Sockets
internal import TLSRecords
internal import WebPages
internal import Wire

/// Runs the gateway as a service: each shard on its own thread, drained on graceful shutdown.
package final class Gateway: Service {
    let context: GatewayContext
    private let listeners: GatewayListeners
    private let log = Logger(label: "patchbay.gateway")
    package var port: Int { listeners.port }
    /// The bound port for proxies, and that for operations; nil if there is none.
    package var plainPort: Int? { listeners.plainPort }
    package var operationsPort: Int? { listeners.operationsPort }
    /// The bound port for other nodes; nil without a cluster.
    package var nodesPort: Int? { listeners.nodesPort }

    package var state: GatewayState { context.state }
    package var metrics: MetricsBoard { context.metrics }
    /// The keys that verify and sign tokens; `reload(keys:)` replaces them.
    package var keys: KeysInUse { context.keysInUse }
    /// Each shard's own port; empty if there are none.
    package var shardPorts: [Int] { context.shardPorts }

    /// Queries and commands to rooms, from any thread.
    package var rooms: RoomService { context.rooms }
    package var routes: [Route] { context.router.routes }

    /// Binds the ports, so that configuration errors surface before anything runs.
    ///
    /// - Parameters:
    ///   - recordingLog: is told of recordings that end because their room has another home.
    ///   - routes: makes additional HTTP routes from the room service and the token verification keys.
    /// - Throws: `ListenError` if a port cannot be bound, `TLSFileError` if the certificate cannot be used.
    package init(
        settings: GatewaySettings, keys: KeyRing, auditEvents: AuditEventQueue? = nil, recordings: (any RecordingStore)? = nil,
        recordingLog: RecordingLog? = nil, calls: CallInbox? = nil, dispatch: DispatchInbox? = nil,
        services: ServiceCounters = ServiceCounters(), operatorLog: OperatorLog = .silent,
        routes: (RoomService, KeysInUse) throws -> [Route] = { _, _ in [] }
    ) throws {
        let certificate = try settings.tls.check()
        let listeners = try GatewayListeners(settings)
        self.listeners = listeners
        var context = GatewayContext(
            settings: settings, keys: keys, shardPorts: listeners.shardPorts, auditEvents: auditEvents,
            recorder: recordings.map { Recorder(store: $0, auditEvents: auditEvents) }, recordingLog: recordingLog, calls: calls,
            dispatch: dispatch, services: services, operatorLog: operatorLog)
        if let cluster = settings.cluster {
            let rooms = ClusterRooms(
                cluster, build: settings.version, directory: context.directory, mailboxes: context.mailboxes,
                metrics: context.metrics)
            let client = try NodeClient(trust: cluster.trust, serverName: cluster.serverName)
            (context.cluster, context.nodes) = (rooms, client)
            context.queries = NodeQueries(rooms, client, key: cluster.key, rooms: context.rooms, recordings: recordingLog)
            let coordination = Coordination(rooms, client, key: cluster.key, rooms: context.rooms, calls: calls, dispatch: dispatch)
            context.coordination = coordination
            context.joins = JoinChecks(rooms, client, key: cluster.key, coordinator: { coordination.knownCoordinator }) { check in
                calls?.rooms.joinError(for: check.identity, in: check.room) ?? dispatch?.registry.joinError(job: check.job)
            }
            cluster.node.connect(to: rooms, coordination)
        }
        context.serve(try routes(context.rooms, context.keysInUse))
        self.context = context
        context.state.certificateExpiry = certificate.expires
    }

    /// Runs until all shards have stopped: after a graceful shutdown, once the rooms are empty or the drain timeout has passed.
    package func run() async throws {
        let fastPath = context.settings.fastPath
        log.info("TLS fast path \(fastPath.isActive ? "on" : "off")", metadata: ["reason": "\(fastPath.reason)"])
        // A failed recording is stopped by its room, which notifies its participants.
        context.recorder?.start { [rooms = context.rooms] order in
            rooms.sendHere(.stopRecording(order.recording, .failed), to: order.room.info.name)
        }
        defer {
            context.calls?.finish()
            context.dispatch?.finish()
            context.auditEvents?.finish()
        }
        try await withGracefulShutdownHandler {
            async let _: Void = HeapTrimmer.run()
            async let _: Void = context.history.run { [context] in context.metricsSnapshot }
            async let _: Void? = context.cluster?.run()
            async let _: Void? = context.coordination?.run()
            try await Self.runAll(context.mailboxes.indices) { index in
                do {
                    try await self.runShard(index)
                } catch {
                    self.log.error("a shard could not start", metadata: ["shard": "\(index)", "reason": "\(error)"])
                    throw error
                }
            } stop: {
                // Twice: at once.
                for _ in 1...2 { self.drain() }
            }
            context.state.phase = .stopped
            await context.recorder?.finish()
            log.info("stopped")
        } onGracefulShutdown: {
            self.drain()
        }
    }

    /// Stops admitting connections and ends once all have closed. A second call closes all connections at once.
    package func drain() {
        let isRepeated = context.state.phase >= .draining
        context.state.phase = .draining
        let span = context.settings.drainTimeout
        let wallClock = WallClock.seconds + span.components.seconds
        if let cluster = context.cluster {
            // Another node becomes the coordinator, if this one is.
            cluster.drain(within: isRepeated ? .zero : span)
        } else {
            context.calls?.post(.drain)
            context.dispatch?.post(.drain)
        }
        for mailbox in context.mailboxes { mailbox.post(.drain(deadline: span, wallClock: wallClock)) }
    }

    /// Replaces the keys. Connections stay open.
    package func reload(keys: KeyRing) {
        context.keysInUse.replace(with: keys)
        for mailbox in context.mailboxes { mailbox.post(.reloadKeys(keys)) }
    }

    /// Uses a certificate for new connections.
    ///
    /// - Throws: `TLSFileError` for an unusable one; the previous one stays in use.
    package func reload(certificate files: TLSFiles) throws {
        context.state.certificateExpiry = try files.check().expires
        for mailbox in context.mailboxes { mailbox.post(.reloadCertificate(files)) }
    }

    /// Runs all shards until they have ended. If one fails, the others are stopped.
    ///
    /// - Throws: the first shard's error, after all have ended.
    static func runAll(
        _ indices: Range<Int>, run: @escaping @Sendable (Int) async throws -> Void, stop: () -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in indices { group.addTask { try await run(index) } }
            do {
                while try await group.next() != nil {}
            } catch {
                // The group waits for the others.
                stop()
                throw error
            }
        }
    }

    private func runShard(_ index: Int) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let thread = Thread { [context, listeners] in
                let shard = Shard(index: index, gateway: context, mailbox: context.mailboxes[index])
                var error: (any Error)?
                shard.run(listeners: listeners.ofShards[index]) { problem in
                    error = problem
                    if problem == nil { context.state.phase = .serving }
                }
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
            thread.name = "shard-\(index)"
            thread.stackSize = 2 << 20
            thread.start()
        }
    }
}

extension GatewayContext {
    mutating func serve(_ others: [Route]) {
        let context = self
        let operations = OperationRoutes.routes(rooms, state) { context.metricsSnapshot }
        let isPublic = settings.edge.publishesOperations
        let published = operations.filter { isPublic || !OperationRoutes.sensitivePaths.contains($0.path.description) }
        let pages = settings.edge.servesPages ? WebPages.routes(release: settings.release) : []
        let joins = [OperationRoutes.webSocket, OperationRoutes.validation(mailboxes, rooms, keysInUse, self.joins)]
        let administration = RoomRoutes.routes(rooms, keys: keysInUse) + OperatorRoutes.routes(context)
        let routes = published + joins + pages + administration + others
        let document = OperationRoutes.document(of: routes, version: settings.version)
        router = Router(routes: routes + [document], origins: origins, failures: failures)
        operationsRouter = Router(routes: operations, origins: origins, failures: failures)
        nodesRouter = Router(routes: routes + [document] + routesOfNodes, origins: origins, failures: failures)
    }
}
