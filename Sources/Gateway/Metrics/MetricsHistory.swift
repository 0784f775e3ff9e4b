internal import Backend
internal import DequeModule
internal import HTTPServer
internal import Synchronization
internal import Wire

/// The last hour of the metrics that the dashboard plots, as a ring of samples: a page opened during an incident shows its past.
///
/// A pure value; time is an argument.
struct MetricsHistory: Sendable {
    /// The time between two samples.
    static let interval = Duration.seconds(10)
    /// One hour of samples.
    static let samplesMax = 360
    /// The maximum number of series; further ones are ignored. 256 shards have fewer.
    static let seriesMax = 4_096

    /// The metrics to keep, each with the label that its plot distinguishes; samples are summed over the other labels.
    static let kept: [(metric: String, label: String?)] = [
        ("patchbay_frames_received_total", "shard"), ("patchbay_frames_sent_total", "shard"), ("patchbay_frames_dropped_total", "reason"),
        ("patchbay_joins_total", nil), ("patchbay_joins_refused_total", nil), ("patchbay_webhook_deliveries_total", "outcome"),
        ("process_cpu_seconds_total", nil),
        ("patchbay_join_seconds", nil), ("patchbay_http_seconds", nil), ("patchbay_loop_lag_seconds", "shard"),
        ("patchbay_agent_turn_seconds", "stage"), ("patchbay_webhook_seconds", nil),
        ("patchbay_connections", nil), ("patchbay_participants", nil), ("patchbay_rooms", nil), ("patchbay_tracks", nil),
        ("patchbay_webhooks_waiting", nil), ("patchbay_webhooks_oldest_age_seconds", nil), ("patchbay_draining", nil),
        ("patchbay_certificate_expiry_timestamp_seconds", nil), ("patchbay_workers", nil), ("patchbay_jobs_running", nil),
        ("patchbay_jobs_pending", nil), ("process_resident_memory_bytes", nil), ("process_open_fds", nil), ("process_max_fds", nil),
        ("process_start_time_seconds", nil),
    ]

    private static let exported: [(metric: ExportedMetric, label: String?)] = kept.compactMap { name, label in
        ExportedMetric.all.first { $0.metric.name == name }.map { ($0, label) }
    }

    struct Series: Hashable, Sendable {
        /// The name in Prometheus's text format; for a histogram, the name of its buckets.
        var name: String
        var labels: [String: String]
    }

    /// The times of the samples, in milliseconds since 1970.
    private(set) var times: Deque<Int64> = []
    /// The values of each series, one for each time; nil where the series had none.
    private(set) var columns: [Series: Deque<Double?>] = [:]

    mutating func append(_ snapshot: MetricsSnapshot, at time: Int64) {
        let values = Self.values(of: snapshot)
        if times.count == Self.samplesMax {
            times.removeFirst()
            for series in columns.keys { columns[series]?.removeFirst() }
        }
        for series in values.keys where columns[series] == nil && columns.count < Self.seriesMax {
            columns[series] = Deque(repeating: nil, count: times.count)
        }
        times.append(time)
        for series in columns.keys { columns[series]?.append(values[series]) }
    }

    private static func values(of snapshot: MetricsSnapshot) -> [Series: Double] {
        var sums: [Series: Double] = [:]
        for (exported, label) in exported {
            let index = label.flatMap { label in exported.metric.labels.firstIndex { $0.name == label } }
            for sample in exported.samples(snapshot) {
                let labels = label.flatMap { label in index.map { [label: sample.labels[$0]] } } ?? [:]
                switch sample.value {
                case .number(let number): sums[Series(name: exported.metric.name, labels: labels), default: 0] += number
                case .histogram(let histogram):
                    for (bound, count) in cumulative(histogram) {
                        let own = labels.merging(["le": bound]) { $1 }
                        sums[Series(name: exported.metric.name + "_bucket", labels: own), default: 0] += Double(count)
                    }
                }
            }
        }
        return sums
    }

    private static func cumulative(_ histogram: Histogram) -> [(bound: String, count: UInt64)] {
        var total: UInt64 = 0
        let buckets = zip(histogram.bounds, histogram.counts).map { bound, count in
            total += count
            return (bound: PrometheusText.number(bound), count: total)
        }
        return buckets + [(bound: "+Inf", count: histogram.count)]
    }
}

/// The gateway's metrics history. A dedicated task fills it with the shards' published counters; a route reads it. Thread-safe.
final class MetricsHistoryBoard: Sendable {
    private let history = Mutex(MetricsHistory())

    /// Takes samples until cancelled, the first one immediately.
    func run(_ snapshot: @Sendable () -> MetricsSnapshot) async {
        repeat {
            let (sample, time) = (snapshot(), WallClock.milliseconds)
            history.withLock { $0.append(sample, at: time) }
        } while (try? await Task.sleep(for: MetricsHistory.interval)) != nil
    }

    /// - Parameter time: milliseconds since 1970.
    func view(after time: Int64) -> MetricsHistoryView { MetricsHistoryView(history.withLock { $0 }, after: time) }
}

/// The response of `GET /v1/operations/history`.
struct MetricsHistoryView: Encodable, Sendable, Described {
    var intervalMs: Int64
    /// The times of the samples in milliseconds since 1970, oldest first.
    var times: [Int64]
    var series: [Column]

    struct Column: Encodable, Sendable {
        var name: String
        /// Labels as pairs, so that JSON encoding does not convert their names.
        var labels: [Label]
        /// One value for each time.
        var values: [Double?]

        fileprivate var key: [String] { [name] + labels.map(\.value) }
    }

    struct Label: Encodable, Sendable {
        var name: String
        var value: String
    }

    init(_ history: MetricsHistory, after time: Int64) {
        let count = history.times.count(where: { $0 > time })
        intervalMs = MetricsHistory.interval.inMilliseconds
        times = Array(history.times.suffix(count))
        series = history.columns.map { series, values in
            Column(
                name: series.name, labels: series.labels.map { Label(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name },
                values: Array(values.suffix(count)))
        }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    static let schema = Schema.named(
        "MetricsHistory",
        .object([
            .required("interval_ms", .count), .required("times", .array(of: .count, atMost: MetricsHistory.samplesMax)),
            .required("series", .array(of: column, atMost: MetricsHistory.seriesMax)),
        ]))

    private static let column = Schema.named(
        "MetricsSeries",
        .object([
            .required("name", .text), .required("labels", .array(of: label, atMost: 2)),
            .required("values", .array(of: .nullable(.number(-1e18...1e18)), atMost: MetricsHistory.samplesMax)),
        ]))

    private static let label = Schema.named("MetricsLabel", .object([.required("name", .text), .required("value", .text)]))
}
