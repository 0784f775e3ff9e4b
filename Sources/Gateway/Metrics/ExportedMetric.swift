package import Backend
internal import TLSRecords

/// A metric and where `/metrics` takes its samples from.
struct ExportedMetric: Sendable {
    let metric: Metric
    let samples: @Sendable (MetricsSnapshot) -> [Sample]

    /// One time series.
    struct Sample {
        /// In the order of the metric's labels.
        var labels: [String]
        var value: Value
    }

    enum Value {
        case number(Double)
        case histogram(Histogram)
    }

    /// All metrics, in the order of `/metrics`.
    static let all: [ExportedMetric] =
        gateway + process + Metric.services.map(ofServices) + connections + rooms + media + control + http + dispatch + turns + cluster
}

/// The values that one scrape of `/metrics` reads.
struct MetricsSnapshot {
    var shards: [Counters]
    var services: ServiceCounters
    var gateway: GatewaySample
    /// Nil without assistants.
    var dispatch: DispatchRegistry.Counters?
    var cluster = ClusterSample.alone

    /// Values that belong to the gateway and not to a shard.
    struct GatewaySample {
        var version: String
        var draining: Bool
        var fastPath: TLSFastPath
        /// In seconds since 1970.
        var certificateExpiry: Int64
        /// Nil if `/proc` cannot be read.
        var process: ProcessStatistics?
    }
}

// MARK: Ways to declare one

extension ExportedMetric {
    /// One value for each shard.
    static func perShard(
        _ kind: Metric.Kind, _ name: String, _ help: String, _ value: @escaping @Sendable (Counters) -> some BinaryInteger
    ) -> ExportedMetric {
        ExportedMetric(metric: Metric(kind, name, help, .shard)) { snapshot in
            snapshot.shards.enumerated().map { Sample(labels: [String($0)], value: .number(Double(value($1)))) }
        }
    }

    /// A counter for each shard and value of a label.
    static func perShard(
        _ name: String, _ help: String, by label: Metric.Label, _ values: @escaping @Sendable (Counters) -> [String: Double]
    ) -> ExportedMetric {
        ExportedMetric(metric: Metric(.counter, name, help, .shard, label)) { snapshot in
            snapshot.shards.enumerated().flatMap { shard, counters in
                let found = values(counters)
                let keys = label.values + found.keys.filter { !label.values.contains($0) }.sorted()
                return keys.map { Sample(labels: [String(shard), $0], value: .number(found[$0] ?? 0)) }
            }
        }
    }

    /// A histogram for each shard.
    static func perShard(
        _ name: String, _ help: String, _ histogram: @escaping @Sendable (Counters) -> Histogram
    ) -> ExportedMetric {
        ExportedMetric(metric: Metric(.histogram(histogram(Counters()).bounds), name, help, .shard)) { snapshot in
            snapshot.shards.enumerated().map { Sample(labels: [String($0)], value: .histogram(histogram($1))) }
        }
    }

    /// One value without labels; none if it is nil.
    static func single(
        _ kind: Metric.Kind, _ name: String, _ help: String, _ value: @escaping @Sendable (MetricsSnapshot) -> Double?
    ) -> ExportedMetric {
        ExportedMetric(metric: Metric(kind, name, help)) { snapshot in
            value(snapshot).map { [Sample(labels: [], value: .number($0))] } ?? []
        }
    }

    private static func ofServices(_ metric: Metric) -> ExportedMetric {
        ExportedMetric(metric: metric) { samples(of: metric, in: $0.services) }
    }

    static func samples(of metric: Metric, in counters: ServiceCounters) -> [Sample] {
        func labels(_ value: String) -> [String] { metric.labels.isEmpty ? [] : [value] }
        if case .histogram = metric.kind {
            return counters.histograms(of: metric).map { Sample(labels: labels($0.value), value: .histogram($0.histogram)) }
        }
        return counters.samples(of: metric).map { Sample(labels: labels($0.value), value: .number(Double($0.count))) }
    }

    /// The same metric under the name that it had in the release before.
    func formerly(_ name: String) -> ExportedMetric {
        ExportedMetric(
            metric: Metric(metric.kind, name, "The former name of \(metric.name), until the next release.", metric.labels), samples: samples
        )
    }
}

/// Metrics in Prometheus's text format 0.0.4.
package struct PrometheusText {
    package private(set) var text = ""

    /// Those of a process without a gateway.
    package init(_ metrics: [Metric], of counters: ServiceCounters) {
        for metric in metrics {
            head(metric)
            for sample in ExportedMetric.samples(of: metric, in: counters) { write(sample, of: metric) }
        }
    }

    /// All metrics of a gateway.
    init(_ snapshot: MetricsSnapshot) {
        for exported in ExportedMetric.all {
            let samples = exported.samples(snapshot)
            // An empty family is only announced if samples may come later.
            guard !samples.isEmpty || exported.metric.labels.contains(where: \.values.isEmpty) else { continue }
            head(exported.metric)
            for sample in samples { write(sample, of: exported.metric) }
        }
    }

    private mutating func head(_ metric: Metric) {
        text += "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind.name)\n"
    }

    private mutating func write(_ sample: ExportedMetric.Sample, of metric: Metric) {
        let labels = zip(metric.labels, sample.labels).map { "\($0.name)=\"\(Self.escaped($1))\"" }
        switch sample.value {
        case .number(let value): text += "\(metric.name)\(Self.braced(labels)) \(Self.number(value))\n"
        case .histogram(let histogram): write(histogram, metric.name, labels)
        }
    }

    private mutating func write(_ histogram: Histogram, _ name: String, _ labels: [String]) {
        var total: UInt64 = 0
        for (bound, count) in zip(histogram.bounds, histogram.counts) {
            total += count
            text += "\(name)_bucket\(Self.braced(labels + ["le=\"\(Self.number(bound))\""])) \(total)\n"
        }
        text += "\(name)_bucket\(Self.braced(labels + ["le=\"+Inf\""])) \(histogram.count)\n"
        text += "\(name)_sum\(Self.braced(labels)) \(histogram.sum)\n\(name)_count\(Self.braced(labels)) \(histogram.count)\n"
    }

    private static func braced(_ labels: [String]) -> String { labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}" }

    /// A label's value in the text format.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? String(Int64(value)) : String(value)
    }
}
