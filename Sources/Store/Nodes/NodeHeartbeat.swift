internal import Foundation
internal import Synchronization

/// Registers this process as an owner of a store in PostgreSQL, updates its beat, and removes nodes that have ended.
final class NodeHeartbeat: Sendable {
    let node: NodeID
    private let pool: PostgresPool
    private let watch = Mutex(NodeWatch())
    private let beats = Mutex<Task<Void, Never>?>(nil)

    /// Registers the process. Beats begin with `start()`.
    init(_ pool: PostgresPool) throws {
        let node = NodeID()
        self.pool = pool
        self.node = node
        try pool.transaction(.write) { db in try Nodes.register(node, in: db) }
    }

    deinit { beats.withLock { $0?.cancel() } }

    /// Waits until the nodes that registered earlier have ended, and releases all leases.
    ///
    /// - Throws: `alreadyOpen` after `PostgresSettings.ownerTimeout`. Then the node is no longer registered.
    func waitUntilAlone() throws {
        let deadline = ContinuousClock.now + pool.settings.ownerTimeout
        while let other = try earlier().first {
            guard ContinuousClock.now < deadline else {
                stop()
                throw StoreError.alreadyOpen(store: pool.settings.name, owner: other.process.map { "\($0)" })
            }
            usleep(UInt32(StoreLimits.nodePollInterval.milliseconds * 1_000))
            try beat()
        }
        try pool.transaction(.write) { db in try Nodes.releaseAll(in: db) }
    }

    /// Nodes that registered before this one and have not ended.
    private func earlier() throws -> [Nodes.Entry] {
        let nodes = try removeEnded()
        guard let number = nodes.first(where: { $0.id == node })?.number else { return nodes }
        return nodes.filter { $0.number < number }
    }

    /// Beats until `stop()`.
    func start() {
        let task = Task { [weak self, pool] in
            while true {
                do { try await Task.sleep(for: StoreLimits.nodeBeatInterval) } catch { return }
                guard let self else { return }
                // While the database cannot be reached, no node beats.
                await withTaskExecutorPreference(pool.threads) {
                    do {
                        try beat()
                        _ = try removeEnded()
                    } catch {}
                }
            }
        }
        beats.withLock { $0 = task }
    }

    /// Ends the beats, removes the node and releases its leases. If the database cannot be reached, other nodes do it later.
    func stop() {
        beats.withLock { $0?.cancel() }
        try? pool.transaction(.write, timeout: StoreLimits.nodeBeatInterval) { db in try Nodes.remove(node, in: db) }
    }

    private func beat() throws {
        try pool.transaction(.write) { db in
            // Another node has removed this one, because it was suspended. Its leases are lost.
            if try !Nodes.beat(node, in: db) { try Nodes.register(node, in: db) }
        }
    }

    /// Removes nodes that have ended.
    ///
    /// - Returns: the other ones, and this one.
    private func removeEnded() throws -> [Nodes.Entry] {
        let nodes = try pool.transaction(.read) { db in try Nodes.list(in: db) }
        let others = nodes.filter { $0.id != node }
        let silent = watch.withLock { watch in
            watch.observe(Dictionary(uniqueKeysWithValues: others.map { ($0.id, $0.beat) }), at: .now)
        }
        let ended = others.filter { silent.contains($0.id) || $0.process?.isGone == true }
        for node in ended {
            try pool.transaction(.write) { db in try Nodes.remove(node.id, lastBeat: node.beat, in: db) }
        }
        return nodes.filter { node in !ended.contains { $0.id == node.id } }
    }
}
