package import Backend
internal import Engine
internal import Foundation
package import HTTPServer
package import Identity
internal import Logging
internal import ServiceLifecycle
package import Sockets
internal import Wire

/// Runs the gateway as a service: each shard on its own thread, drained on graceful shutdown.
package final class Gateway: Service {
    let context: GatewayContext
    /// By shard: a listener on the shared port and, with several shards, one on the shard's own port.
    private let listeners: [[Listener]]
    private let log = Logger(label: "patchbay.gateway")
    /// The bound port.
    package let port: Int

    package var state: GatewayState { context.state }
    package var metrics: MetricsBoard { context.metrics }
    /// Each shard's own port; empty with a single shard.
    package var shardPorts: [Int] { context.shardPorts }

    /// Queries and commands to rooms, from any thread.
    package var rooms: RoomService { context.rooms }
    /// All HTTP routes.
    package var routes: [Route] { context.router.routes }

    /// Binds the ports, so that configuration errors surface before anything runs.
    ///
    /// - Throws: `ListenError` if a port cannot be bound, `TLSFileError` if the certificate cannot be used.
    /// - Parameters:
    ///   - auditEvents: receives audit events of rooms; nil reports none.
    ///   - recordings: stores recordings of rooms; nil records nothing.
    ///   - calls: the call service's inbox; nil serves no calls.
    ///   - dispatch: the dispatch service's inbox; nil dispatches no assistants.
    ///   - services: counters of services for `/metrics`.
    ///   - routes: makes additional HTTP routes from the room service and the token verification keys.
    package init(
        settings: GatewaySettings, keys: KeyRing, auditEvents: AuditEventQueue? = nil, recordings: (any RecordingStore)? = nil,
        calls: CallInbox? = nil, dispatch: DispatchInbox? = nil, services: ServiceCounters = ServiceCounters(),
        routes: (RoomService, KeysInUse) throws -> [Route] = { _, _ in [] }
    ) throws {
        try settings.tls.check()
        var settings = settings
        let isAlone = settings.shardCount == 1
        var listeners: [[Listener]] = []
        // Shards share the port among themselves (SO_REUSEPORT), but not with another gateway: bind it exclusively first.
        let first = try Listener(host: settings.host, port: settings.port, shared: false)
        settings.port = first.port
        if isAlone { listeners.append([first]) } else { first.close() }
        for _ in listeners.count..<settings.shardCount {
            let listener = try Listener(host: settings.host, port: settings.port, shared: true)
            settings.port = listener.port
            listeners.append([listener])
        }
        if !isAlone {
            for index in 0..<settings.shardCount {
                let port = settings.shardPortsFrom == 0 ? 0 : settings.shardPortsFrom + index
                listeners[index].append(try Listener(host: settings.host, port: port, shared: false))
            }
        }
        self.listeners = listeners
        port = settings.port
        var context = GatewayContext(
            settings: settings, keys: keys, shardPorts: isAlone ? [] : listeners.map { $0[1].port }, auditEvents: auditEvents,
            recorder: recordings.map { Recorder(store: $0, auditEvents: auditEvents) }, calls: calls, dispatch: dispatch)
        context.serve(try routes(context.rooms, context.keysInUse), services)
        self.context = context
    }

    /// Runs until all shards have stopped: after a graceful shutdown, once the rooms are empty or the drain timeout has passed.
    package func run() async throws {
        let fastPath = context.settings.recordLayer?.state ?? .notLinked
        log.info("TLS fast path \(fastPath.isActive ? "on" : "off")", metadata: ["reason": "\(fastPath.reason)"])
        startRecorder()
        defer {
            context.calls?.finish()
            context.dispatch?.finish()
            context.auditEvents?.finish()
        }
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in context.mailboxes.indices { group.addTask { try await self.runShard(index) } }
                try await group.waitForAll()
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
        context.state.phase = .draining
        let span = context.settings.drainTimeout
        let wallClock = WallClock.seconds + span.components.seconds
        context.calls?.post(.drain)
        context.dispatch?.post(.drain)
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
    package func reload(certificate: TLSFiles) throws {
        try certificate.check()
        for mailbox in context.mailboxes { mailbox.post(.reloadCertificate(certificate)) }
    }

    private func runShard(_ index: Int) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let thread = Thread { [context, listeners] in
                let shard = Shard(index: index, gateway: context, mailbox: context.mailboxes[index])
                var error: (any Error)?
                shard.run(listeners: listeners[index]) { problem in
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
    /// Makes the router from the gateway's own and additional routes.
    mutating func serve(_ others: [Route], _ services: ServiceCounters) {
        let routes =
            OperationRoutes.routes(
                rooms, state, metrics, services: services, dispatch: dispatch?.registry, fastPath: settings.recordLayer?.state ?? .notLinked
            )
            + RoomRoutes.routes(rooms, keys: keysInUse) + others
        let document = OperationRoutes.document(of: routes, version: settings.version)
        router = Router(routes: routes + [document], origins: origins, failures: failures)
    }
}

extension Gateway {
    /// A failed recording is stopped by its room, which notifies its participants.
    private func startRecorder() {
        context.recorder?.start { [rooms = context.rooms] order in
            rooms.send(.stopRecording(order.recording, .failed), to: order.room.info.name)
        }
    }
}
