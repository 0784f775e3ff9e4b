internal import Synchronization

/// Counters of the services, which belong to no shard. Thread-safe; `/metrics` shows them without the label `shard`.
package final class ServiceCounters: Sendable {
    private struct Key: Hashable {
        let metric: ServiceMetric
        let value: String
    }

    private let counts = Mutex<[Key: Int]>([:])

    package init() {}

    /// - Parameter value: of the metric's label; one of its `values`.
    package func add(_ count: Int = 1, to metric: ServiceMetric, _ value: String = "") {
        counts.withLock { $0[Key(metric: metric, value: value), default: 0] += count }
    }

    /// The metric's samples, by label value, including those that are zero.
    package func samples(of metric: ServiceMetric) -> [(value: String, count: Int)] {
        counts.withLock { counts in metric.values.map { ($0, counts[Key(metric: metric, value: $0)] ?? 0) } }
    }
}

/// A metric of a service.
package struct ServiceMetric: Sendable, Hashable {
    package let name: String
    /// A sentence.
    package let help: String
    package let isGauge: Bool
    /// Nil for a metric with a single value.
    package let label: String?
    /// All values of the label; one empty text without a label.
    package let values: [String]

    init(gauge name: String, _ help: String) {
        (self.name, self.help, isGauge, label, values) = (name, help, true, nil, [""])
    }

    init(counter name: String, _ help: String, _ label: String, _ values: [String]) {
        (self.name, self.help, isGauge, self.label, self.values) = (name, help, false, label, values)
    }

    package static let toolCalls = ServiceMetric(
        counter: "patchbay_tool_calls_total", "Calls of assistants' tools.", "outcome", ["done", "failed", "timeout", "refused"])
    package static let toolCallsRunning = ServiceMetric(gauge: "patchbay_tool_calls", "Calls of assistants' tools in progress.")

    package static let speechClips = ServiceMetric(
        counter: "patchbay_speech_clips_total", "Requests for speech clips that were found, and jobs by their end.", "outcome",
        ["found", "ready", "failed", "cancelled"])
    package static let speechJobs = ServiceMetric(gauge: "patchbay_speech_jobs", "Speech clips waiting or being generated.")

    /// In the order of `/metrics`.
    package static let all = [toolCalls, toolCallsRunning, speechClips, speechJobs]
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
