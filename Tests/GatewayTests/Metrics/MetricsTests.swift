import Backend
import Foundation
import Gateway
import Sockets
import TLSRecords
import Testing
import Wire

@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct MetricsTests {
    @Test(arguments: [1, 3])
    func metricsAreInPrometheusFormat(shards: Int) throws {
        let gateway = try TestGateway(dispatch: DispatchInbox(), serving: { _, _ in [] }) { $0.shardCount = shards }
        let ann = try Caller(gateway, room: "r", identity: "ann")
        _ = try HTTPAsk.upgrade().answer(port: gateway.port)
        try ann.ask(.ping(0))
        let answer = try #require(try gateway.get("/metrics"))
        #expect(answer.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let metrics = try Metrics(parsing: answer.text)
        #expect(metrics.families.count > 15)
        #expect(metrics.value("patchbay_workers") == 0 && metrics.value("patchbay_jobs_pending") == 0)
        #expect(PrometheusLint.problems(in: metrics) == [])
        for family in metrics.families {
            #expect(family.name.hasPrefix("patchbay_") || family.name.hasPrefix("process_"), "\(family.name)")
            #expect(family.help.hasSuffix("."))
        }
    }

    @Test func theProcessIsDescribedAsPrometheusClientsDo() throws {
        let gateway = try TestGateway()
        let metrics = try gateway.metrics()
        let now = Double(TestToken.now)
        #expect(metrics.value("process_cpu_seconds_total") > 0)
        #expect(metrics.value("process_resident_memory_bytes") > 1_000_000)
        #expect(metrics.value("process_open_fds") > 3)
        #expect(metrics.value("process_max_fds") >= metrics.value("process_open_fds"))
        #expect((now - 86_400...now + 5).contains(metrics.value("process_start_time_seconds")))
    }

    @Test func versionAndCertificateAreMetrics() throws {
        let shown = Certificate.make(serial: 41)
        let gateway = try TestGateway { $0.tls = shown.files }
        let metrics = try gateway.metrics()
        #expect(metrics.value("patchbay_build_info", ["version": "tests"]) == 1)
        // `Certificate` is valid for a day.
        let left = metrics.value("patchbay_certificate_expiry_timestamp_seconds") - Double(TestToken.now)
        #expect((86_400 - 600...86_400).contains(left))
    }

    /// The reference lists every metric, and none that a fresh gateway does not expose.
    @Test func metricsExistFromTheFirstScrape() throws {
        let gateway = try TestGateway(dispatch: DispatchInbox(), serving: { _, _ in [] })
        let exposed = Set(try gateway.metrics().families.map(\.name))
        let text = try String(contentsOfFile: Repository.path("docs/protocol/metrics.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let listed = rows.flatMap { row in (row.split(separator: "|").first ?? "").matches(of: /`([a-z_]+)`/).map { String($0.1) } }
        #expect(Set(listed).count == listed.count, "a metric is listed twice")
        #expect(exposed.subtracting(listed) == [])
        #expect(Set(listed).subtracting(exposed) == [])
    }

    @Test(arguments: [
        "# HELP x Words.\n# TYPE x counter\nx 1\n", "# HELP x_total Words.\n# TYPE x_total gauge\nx_total 1\n",
        "# HELP x_ms Words.\n# TYPE x_ms gauge\nx_ms 1\n", "# HELP x_milliseconds Words.\n# TYPE x_milliseconds gauge\nx_milliseconds 1\n",
        "# HELP x_count Words.\n# TYPE x_count gauge\nx_count 1\n", "# HELP x Words.\n# TYPE x gauge\nx{le=\"1\"} 1\n",
        "# HELP x Words.\n# TYPE x gauge\nx{a=\"1\"} 1\nx{a=\"1\"} 2\n",
        "# HELP x_gauge Words.\n# TYPE x_gauge gauge\nx_gauge 1\n",
        "# HELP x Words.\n# TYPE x histogram\nx_bucket{le=\"1\"} 2\nx_bucket{le=\"+Inf\"} 1\nx_sum 1\nx_count 1\n",
        "# HELP x Words.\n# TYPE x histogram\nx_bucket{le=\"1\"} 1\nx_sum 1\nx_count 1\n",
    ])
    func theLintFindsBadMetrics(text: String) throws {
        #expect(PrometheusLint.problems(in: try Metrics(parsing: text)).count == 1)
    }

    @Test(arguments: TLSFastPath.Mode.allCases)
    func theFastPathStateIsAMetric(mode: TLSFastPath.Mode) throws {
        let fastPath = TLSFastPath(mode)
        let gateway = try TestGateway { $0.fastPath = fastPath }
        let family = try #require(try gateway.metrics().families.first { $0.name == "patchbay_tls_fast_path" })
        let (isActive, cause) = (fastPath.isActive, fastPath.cause)
        #expect(
            family.samples
                == [("on", isActive), ("off", !isActive)].map { state, isCurrent in
                    Metrics.Sample(name: family.name, labels: ["state": state, "cause": cause], value: isCurrent ? 1 : 0)
                })
        if mode == .off { #expect(!isActive && cause == "configured") }
    }

    @Test func histogramBucketsAreCumulative() throws {
        let gateway = try TestGateway()
        for number in 0..<10 { _ = try Caller(gateway, room: "r", identity: "caller \(number)") }
        let metrics = try gateway.metrics()
        let histograms = metrics.families.filter { $0.type == "histogram" }
        #expect(!histograms.isEmpty)
        #expect(PrometheusLint.problems(in: metrics) == [])
        #expect(metrics.value("patchbay_join_seconds_count") == 10)
        #expect(metrics.value("patchbay_join_seconds_sum") > 0)
    }

    @Test func countersMatchWhatHappened() throws {
        let gateway = try TestGateway()
        let (ann, bob) = try (Caller(gateway, room: "r", identity: "ann"), Caller(gateway, room: "r", identity: "bob"))
        let track = try ann.publish()
        for number in 0..<25 { try ann.say(TestFrame.bytes(track.alias, number, packetBytes: 88)) }
        try bob.take(until: "25 frames") { $0.frames.count == 25 }
        let metrics = try gateway.metrics()
        #expect(metrics.value(.framesReceived) == 25)
        #expect(metrics.value(Counter(name: "patchbay_frame_bytes_received_total")) == 2_500)
        #expect(metrics.value(Counter(name: "patchbay_frames_sent_total")) == 25)
        #expect(metrics.value(Counter(name: "patchbay_frame_bytes_sent_total")) == 2_500)
        #expect(metrics.value(.participants) == 2)
        #expect(metrics.value(.rooms) == 1)
        #expect(metrics.value(Counter(name: "patchbay_tracks")) == 1)
        #expect(metrics.value(.joins) == 2)
        #expect(metrics.value(.controlReceived) == 1)
    }

    @Test(arguments: [
        "patchbay_x 1\n", "# HELP x words\nx 1\n", "# TYPE x counter\n# HELP x words\nx 1\n", "# HELP x words\n# TYPE x counter\ny 1\n",
        "# HELP x words\n# TYPE x counter\nx{a=1} 1\n", "# HELP x words\n# TYPE x counter\nx one\n",
        "# HELP x words\n# TYPE x counter\nx 1",
        "# HELP x words\n# TYPE x counter\n# HELP x words\n", "# HELP x words\n# TYPE x counter\nx{a=\"1\",a=\"2\"} 1\n",
    ])
    func metricsParserIsStrict(text: String) {
        #expect(throws: Metrics.Fault.self) { try Metrics(parsing: text) }
    }
}
