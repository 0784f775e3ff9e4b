package import Store
internal import Synchronization
internal import Wire

/// Counters of the services, which belong to no shard. Thread-safe; `/metrics` shows them without the label `shard`.
package final class ServiceCounters: Sendable {
    private struct Key: Hashable {
        let metric: ServiceMetric
        let value: String
    }

    private struct State {
        var counts: [Key: Int] = [:]
        var histograms: [Key: Histogram] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// - Parameter value: of the metric's label; one of its `values`.
    package func add(_ count: Int = 1, to metric: ServiceMetric, _ value: String = "") {
        state.withLock { $0.counts[Key(metric: metric, value: value), default: 0] += count }
    }

    /// Sets a gauge.
    package func set(_ count: Int, to metric: ServiceMetric) {
        state.withLock { $0.counts[Key(metric: metric, value: "")] = count }
    }

    /// Adds a duration to a histogram.
    ///
    /// - Parameter value: of the metric's label; one of its `values`.
    package func record(_ duration: Duration, in metric: ServiceMetric, _ value: String = "") {
        guard case .histogram(let bounds) = metric.kind else { return }
        let seconds = Double(duration.inNanoseconds) / 1e9
        state.withLock { $0.histograms[Key(metric: metric, value: value), default: Histogram(bounds: bounds)].add(seconds) }
    }

    /// The metric's samples, by label value, including those that are zero.
    package func samples(of metric: ServiceMetric) -> [(value: String, count: Int)] {
        state.withLock { state in metric.values.map { ($0, state.counts[Key(metric: metric, value: $0)] ?? 0) } }
    }

    /// The histograms of a metric, by label value, including those that are empty.
    package func histograms(of metric: ServiceMetric) -> [(value: String, histogram: Histogram)] {
        guard case .histogram(let bounds) = metric.kind else { return [] }
        return state.withLock { state in
            metric.values.map { ($0, state.histograms[Key(metric: metric, value: $0)] ?? Histogram(bounds: bounds)) }
        }
    }
}

/// A metric of a service.
package struct ServiceMetric: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case gauge, counter
        /// With the upper bounds of its buckets.
        case histogram([Double])
    }

    package let name: String
    /// A sentence.
    package let help: String
    package let kind: Kind
    /// Nil for a metric with a single value.
    package let label: String?
    /// All values of the label; one empty text without a label.
    package let values: [String]

    private init(_ kind: Kind, _ name: String, _ help: String, _ label: String? = nil, _ values: [String] = [""]) {
        (self.kind, self.name, self.help, self.label, self.values) = (kind, name, help, label, values)
    }

    package static let toolCalls = ServiceMetric(
        .counter, "patchbay_tool_calls_total", "Calls of assistants' tools.", "outcome", ["done", "failed", "timeout", "refused"])
    package static let toolCallsRunning = ServiceMetric(.gauge, "patchbay_tool_calls", "Calls of assistants' tools in progress.")

    package static let speechClips = ServiceMetric(
        .counter, "patchbay_speech_clips_total", "Requests for speech clips that were found, and jobs by their end.", "outcome",
        ["found", "ready", "failed", "cancelled"])
    package static let speechJobs = ServiceMetric(.gauge, "patchbay_speech_jobs", "Speech clips waiting or being generated.")

    package static let webhookDeliveries = ServiceMetric(
        .counter, "patchbay_webhook_deliveries_total", "Attempts to deliver webhooks.", "outcome", ["delivered", "retried", "dead"])
    package static let webhookSeconds = ServiceMetric(
        .histogram([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]), "patchbay_webhook_seconds",
        "From sending a webhook to its endpoint's response.")
    package static let webhooksWaiting = ServiceMetric(.gauge, "patchbay_webhooks_waiting", "Webhooks that are not delivered yet.")
    package static let webhooksOldestAge = ServiceMetric(
        .gauge, "patchbay_webhooks_oldest_age_seconds", "The age of the oldest webhook that is not delivered yet.")

    package static let pushes = ServiceMetric(
        .counter, "patchbay_pushes_total", "Attempts to wake a phone for a call, by their end.", "outcome",
        ["webhook", "delivered", "unregistered", "rejected", "expired"])

    package static let storeSeconds = ServiceMetric(
        .histogram([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]), "patchbay_store_seconds",
        "How long operations of the store took, including waiting for their turn.", "kind", StoreOperation.allCases.map(\.rawValue))
    package static let storeErrors = ServiceMetric(
        .counter, "patchbay_store_errors_total", "Operations of the store that failed.", "error", StoreError.operationalNames)

    package static let logLinesDropped = ServiceMetric(
        .counter, "patchbay_log_lines_dropped_total", "Log lines that were dropped because the log's reader did not keep up.")

    /// In the order of `/metrics`.
    package static let all = [
        toolCalls, toolCallsRunning, speechClips, speechJobs, webhookDeliveries, webhookSeconds, webhooksWaiting, webhooksOldestAge, pushes,
        storeSeconds, storeErrors, logLinesDropped,
    ]
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

    /// Records an operation of the store; for `SessionStore.init(observing:)`.
    package func record(_ operation: StoreOperation, _ duration: Duration, _ error: StoreError?) {
        record(duration, in: .storeSeconds, operation.rawValue)
        if let name = error?.operationalName { add(to: .storeErrors, name) }
    }
}

/// A cumulative histogram in Prometheus's sense.
package struct Histogram: Sendable {
    package let bounds: [Double]
    package private(set) var counts: [UInt64]
    package private(set) var sum = 0.0
    package private(set) var count: UInt64 = 0

    /// - Parameter bounds: upper bounds of the buckets, ascending, without infinity.
    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count)
    }

    package mutating func add(_ value: Double) {
        sum += value
        count += 1
        if let bucket = bounds.firstIndex(where: { value <= $0 }) { counts[bucket] += 1 }
    }
}
