package import Backend
internal import Engine
internal import Foundation
package import HTTPServer
package import Identity
internal import Logging
internal import ServiceLifecycle
internal import Sockets
internal import Wire

/// The whole server as one service: shards on threads of their own, a drain at a graceful shutdown.
package final class Gateway: Service {
    let context: GatewayContext
    /// Of each shard: its share of the port, and the port of its own.
    private let listeners: [[Listener]]
    private let log = Logger(label: "patchbay.gateway")
    /// The port that is really bound.
    package let port: Int

    package var state: GatewayState { context.state }
    package var metrics: MetricsBoard { context.metrics }
    /// The ports that lead to one shard each, in their order; empty where there is one shard only.
    package var shardPorts: [Int] { context.shardPorts }

    /// The door to the rooms, from any thread.
    package var rooms: RoomService { context.rooms }
    /// All that is served by HTTP.
    package var routes: [Route] { context.router.routes }

    /// Binds the ports, so that what is wrong is known before anything runs.
    ///
    /// - Throws: `ListenError` if a port cannot be had, `TLSFileError` if the certificate cannot be used.
    ///
    /// - Parameters:
    ///   - facts: where to tell what happens in rooms; nil tells nobody.
    ///   - recordings: where to write recordings of rooms; nil records nothing.
    ///   - calls: the way to who keeps the calls; nil has none.
    ///   - routes: what is served by HTTP besides the gateway's own routes. Given the door to the rooms and the keys by which tokens are believed.
    package init(
        settings: GatewaySettings, keys: KeyRing, facts: AuditEventQueue? = nil, recordings: (any RecordingStore)? = nil, calls: CallInbox? = nil,
        routes: (RoomService, KeysInUse) throws -> [Route] = { _, _ in [] }
    ) throws {
        try settings.tls.check()
        var settings = settings
        let isAlone = settings.shardCount == 1
        var listeners: [[Listener]] = []
        // Shards share the port among themselves, not with another gateway: first it must be ours alone.
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
            settings: settings, keys: keys, shardPorts: isAlone ? [] : listeners.map { $0[1].port }, facts: facts,
            recorder: recordings.map { Recorder(store: $0, facts: facts) }, calls: calls)
        context.serve(try routes(context.rooms, context.keysInUse))
        self.context = context
    }

    /// Serves until all shards have ended: after a graceful shutdown, when the rooms are empty or the drain's time is over.
    package func run() async throws {
        let fastPath = context.settings.recordLayer?.state ?? .notLinked
        log.info("TLS fast path \(fastPath.isActive ? "on" : "off")", metadata: ["reason": "\(fastPath.reason)"])
        startRecorder()
        defer {
            context.calls?.finish()
            context.facts?.finish()
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

    /// Lets nobody in any more and ends when all have left. A second call sends everybody away at once.
    package func drain() {
        context.state.phase = .draining
        let span = context.settings.drainTimeout
        let wallClock = WallClock.seconds + span.components.seconds
        context.calls?.post(.drain)
        for mailbox in context.mailboxes { mailbox.post(.drain(deadline: span, wallClock: wallClock)) }
    }

    /// Takes new keys and reads the certificate again. Calls go on; an unusable certificate is logged and the old one stays.
    package func reload(keys: KeyRing?) {
        if let keys { context.keysInUse.replace(with: keys) }
        for mailbox in context.mailboxes { mailbox.post(.reload(keys, context.settings.tls)) }
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
    /// Makes the router, from the gateway's own routes and others.
    mutating func serve(_ others: [Route]) {
        let routes = OperationRoutes.routes(rooms, state, metrics, fastPath: settings.recordLayer?.state ?? .notLinked) + RoomRoutes.routes(rooms, keys: keysInUse) + others
        let document = OperationRoutes.document(of: routes, version: settings.version)
        router = Router(routes: routes + [document], origins: origins, failures: failures)
    }
}

extension Gateway {
    /// A recording that fails is stopped by its room, which tells its participants.
    private func startRecorder() {
        context.recorder?.start { [rooms = context.rooms] order in
            rooms.order(.stopRecording(order.recording, .failed), in: order.room.info.name)
        }
    }
}
