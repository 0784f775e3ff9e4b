package import Store
internal import Synchronization
internal import Wire

/// Counters of the services, which belong to no shard. Thread-safe; `/metrics` shows them without the label `shard`.
package final class ServiceCounters: Sendable {
    private struct Key: Hashable {
        let metric: Metric
        let value: String
    }

    private struct State {
        var counts: [Key: Int] = [:]
        var histograms: [Key: Histogram] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// - Parameter value: of the metric's label; one of its `values`.
    package func add(_ count: Int = 1, to metric: Metric, _ value: String = "") {
        state.withLock { $0.counts[Key(metric: metric, value: value), default: 0] += count }
    }

    /// Sets a gauge.
    package func set(_ count: Int, to metric: Metric) {
        state.withLock { $0.counts[Key(metric: metric, value: "")] = count }
    }

    /// Adds a duration to a histogram.
    ///
    /// - Parameter value: of the metric's label; one of its `values`.
    package func record(_ duration: Duration, in metric: Metric, _ value: String = "") {
        guard case .histogram(let bounds) = metric.kind else { return }
        let seconds = Double(duration.inNanoseconds) / 1e9
        state.withLock { $0.histograms[Key(metric: metric, value: value), default: Histogram(bounds: bounds)].add(seconds) }
    }

    /// The metric's samples, by label value, including those that are zero.
    package func samples(of metric: Metric) -> [(value: String, count: Int)] {
        state.withLock { state in metric.ownValues.map { ($0, state.counts[Key(metric: metric, value: $0)] ?? 0) } }
    }

    /// The histograms of a metric, by label value, including those that are empty.
    package func histograms(of metric: Metric) -> [(value: String, histogram: Histogram)] {
        guard case .histogram(let bounds) = metric.kind else { return [] }
        return state.withLock { state in
            metric.ownValues.map { ($0, state.histograms[Key(metric: metric, value: $0)] ?? Histogram(bounds: bounds)) }
        }
    }
}

extension ServiceCounters {
    /// Counts an attempt to deliver a webhook.
    func count(_ attempt: WebhookAttempt) {
        let outcome =
            switch attempt.outcome {
            case .delivered: "delivered"
            case .retried: "retried"
            case .dead: "dead"
            }
        add(to: .webhookDeliveries, outcome)
        record(attempt.duration, in: .webhookSeconds)
    }

    /// Records an operation of the store; for `Store.init(observing:)`.
    package func record(_ operation: StoreOperation, _ duration: Duration, _ error: StoreError?) {
        record(duration, in: .storeSeconds, operation.rawValue)
        if let name = error?.operationalName { add(to: .storeErrors, name) }
    }
}
