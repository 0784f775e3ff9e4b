internal import Engine
internal import Foundation
package import Identity
internal import Logging
internal import ServiceLifecycle
internal import Sockets
internal import Wire

/// The whole server as one service: shards on threads of their own, a drain at a graceful shutdown.
package final class Gateway: Service {
    private let context: GatewayContext
    private let listeners: [[Listener]]
    private let mailboxes: [Mailbox<ShardMessage>]
    private let log = Logger(label: "patchbay.gateway")
    /// The port that is really bound.
    package let port: Int

    package var state: GatewayState { context.state }
    package var metrics: MetricsBoard { context.metrics }

    /// Binds the port, so that what is wrong is known before anything runs.
    ///
    /// - Throws: `ListenError` if the port cannot be had, `TLSFileError` if the certificate cannot be used.
    package init(settings: GatewaySettings, keys: KeyRing) throws {
        try settings.tls.check()
        var settings = settings
        var listeners: [[Listener]] = []
        for _ in 0..<settings.shardCount {
            let listener = try Listener(host: settings.host, port: settings.port, shared: settings.shardCount > 1)
            settings.port = listener.port
            listeners.append([listener])
        }
        self.listeners = listeners
        port = settings.port
        mailboxes = (0..<settings.shardCount).map { _ in Mailbox() }
        context = GatewayContext(
            settings: settings, keys: keys, metrics: MetricsBoard(shardCount: settings.shardCount), state: GatewayState())
    }

    /// Serves until all shards have ended: after a graceful shutdown, when the rooms are empty or the drain's time is over.
    package func run() async throws {
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in mailboxes.indices { group.addTask { try await self.runShard(index) } }
                try await group.waitForAll()
            }
            context.state.phase = .stopped
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
        for mailbox in mailboxes { mailbox.post(.drain(deadline: span, wallClock: wallClock)) }
    }

    /// Takes new keys and reads the certificate again. Calls go on; an unusable certificate is logged and the old one stays.
    package func reload(keys: KeyRing?) {
        for mailbox in mailboxes { mailbox.post(.reload(keys, context.settings.tls)) }
    }

    private func runShard(_ index: Int) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let thread = Thread { [context, mailboxes, listeners] in
                let shard = Shard(index: index, common: context, mailbox: mailboxes[index])
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
    var serverInfo: ServerInfo { ServerInfo(version: settings.version, node: settings.nodeName) }
}
