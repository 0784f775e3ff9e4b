internal import Store

/// A metric as it is declared, once: `/metrics`, its reference, and the checks of the dashboard and the alerts follow from it.
package struct Metric: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case gauge, counter
        /// With the upper bounds of its buckets.
        case histogram([Double])

        /// As in the text format.
        package var name: String {
            switch self {
            case .gauge: "gauge"
            case .counter: "counter"
            case .histogram: "histogram"
            }
        }
    }

    package struct Label: Sendable, Hashable {
        package let name: String
        /// Each has a sample from the first scrape on; empty if the values are not known in advance.
        package let values: [String]

        package init(_ name: String, _ values: [String] = []) {
            self.name = name
            self.values = values
        }

        /// The index of a shard.
        package static let shard = Label("shard")
    }

    package let kind: Kind
    package let name: String
    /// Sentences.
    package let help: String
    /// Without `le` of a histogram.
    package let labels: [Label]

    package init(_ kind: Kind, _ name: String, _ help: String, _ labels: Label...) {
        (self.kind, self.name, self.help, self.labels) = (kind, name, help, labels)
    }

    package init(_ kind: Kind, _ name: String, _ help: String, _ labels: [Label]) {
        (self.kind, self.name, self.help, self.labels) = (kind, name, help, labels)
    }

    /// Names are unique.
    package static func == (one: Metric, other: Metric) -> Bool { one.name == other.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The values of its only label; one empty text without a label.
    var ownValues: [String] { labels.first?.values ?? [""] }
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

/// The metrics of services, which belong to no shard. Each has at most one label.
extension Metric {
    package static let toolCalls = Metric(
        .counter, "patchbay_tool_calls_total", "Calls of assistants' tools.", Label("outcome", ["done", "failed", "timeout", "refused"]))
    package static let toolCallsRunning = Metric(.gauge, "patchbay_tool_calls", "Calls of assistants' tools in progress.")

    package static let speechClips = Metric(
        .counter, "patchbay_speech_clips_total", "Requests for speech clips that were found, and jobs by their end.",
        Label("outcome", ["found", "ready", "failed", "cancelled"]))
    package static let speechJobs = Metric(.gauge, "patchbay_speech_jobs", "Speech clips waiting or being generated.")

    package static let webhookDeliveries = Metric(
        .counter, "patchbay_webhook_deliveries_total", "Attempts to deliver webhooks; dead ones are given up.",
        Label("outcome", ["delivered", "retried", "dead"]))
    package static let webhookSeconds = Metric(
        .histogram([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]), "patchbay_webhook_seconds",
        "From sending a webhook to its endpoint's response.")
    package static let webhooksWaiting = Metric(
        .gauge, "patchbay_webhooks_waiting", "Webhooks that are not delivered yet, counted every 5 s.")
    package static let webhooksOldestAge = Metric(
        .gauge, "patchbay_webhooks_oldest_age_seconds", "The age of the oldest webhook that is not delivered yet.")

    package static let pushes = Metric(
        .counter, "patchbay_pushes_total",
        "Attempts to wake a phone for a call or a summary, by their end: left to a backend's webhook, or APNs' response.",
        Label("outcome", ["webhook", "delivered", "unregistered", "rejected", "expired"]))

    package static let storeSeconds = Metric(
        .histogram([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]), "patchbay_store_seconds",
        "How long operations of the store took, including waiting for their turn. A write ends when it is on disk; a commit is one transaction of several writes.",
        Label("kind", StoreOperation.allCases.map(\.rawValue)))
    package static let storeErrors = Metric(
        .counter, "patchbay_store_errors_total", "Operations of the store that failed.", Label("error", StoreError.operationalNames))

    package static let roomWritesRefused = Metric(
        .counter, "patchbay_room_writes_refused_total",
        "Events and writes of rooms that were not stored, because another node of the cluster has become the room's home.")

    package static let logLinesDropped = Metric(
        .counter, "patchbay_log_lines_dropped_total", "Log lines that were dropped because the log's reader did not keep up.")

    /// Those of `ServiceCounters`, in the order of `/metrics`.
    package static let services = [
        toolCalls, toolCallsRunning, speechClips, speechJobs, webhookDeliveries, webhookSeconds, webhooksWaiting, webhooksOldestAge, pushes,
        storeSeconds, storeErrors, roomWritesRefused, logLinesDropped,
    ]
}
