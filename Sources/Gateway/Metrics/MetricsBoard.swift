internal import Synchronization

/// The latest counters of all shards: published by each once a second and on request, read by `/metrics`.
package final class MetricsBoard: Sendable {
    private let shards: Mutex<[Counters]>

    package init(shardCount: Int) {
        shards = Mutex(Array(repeating: Counters(), count: shardCount))
    }

    package func publish(_ counters: Counters, ofShard index: Int) {
        shards.withLock { $0[index] = counters }
    }

    package var snapshot: [Counters] {
        shards.withLock { $0 }
    }
}
