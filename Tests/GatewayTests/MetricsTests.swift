import Backend
import Gateway
import Sockets
import TLSFastPath
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
        for family in metrics.families {
            #expect(["counter", "gauge", "histogram"].contains(family.type), "\(family.name)")
            #expect(family.name.hasPrefix("patchbay_"))
            #expect(family.help.hasSuffix("."))
            #expect(family.type == "counter" ? family.name.hasSuffix("_total") : !family.name.hasSuffix("_total"), "\(family.name)")
            #expect(Set(family.samples.map { [$0.name: $0.labels] }).count == family.samples.count, "\(family.name) has a sample twice")
            #expect(family.samples.allSatisfy { $0.value >= 0 && $0.value.isFinite }, "\(family.name)")
        }
    }

    @Test(arguments: TLSFastPath.Mode.allCases)
    func theFastPathStateIsAMetric(mode: TLSFastPath.Mode) throws {
        let fastPath = TLSFastPath(mode)
        let gateway = try TestGateway { $0.recordLayer = fastPath }
        let family = try #require(try gateway.metrics().families.first { $0.name == "patchbay_tls_fast_path" })
        let labels = ["state": fastPath.state.isActive ? "on" : "off", "cause": fastPath.state.cause]
        #expect(family.samples == [Metrics.Sample(name: family.name, labels: labels, value: 1)])
        if mode == .off { #expect(labels == ["state": "off", "cause": "configured"]) }
    }

    @Test func histogramBucketsAreCumulative() throws {
        let gateway = try TestGateway()
        for number in 0..<10 { _ = try Caller(gateway, room: "r", identity: "caller \(number)") }
        let metrics = try gateway.metrics()
        let histograms = metrics.families.filter { $0.type == "histogram" }
        #expect(!histograms.isEmpty)
        for family in histograms {
            for shard in ["0", "1"] {
                let samples = family.samples.filter { $0.labels["shard"] == shard }
                let buckets = samples.filter { $0.name == family.name + "_bucket" }
                let bounds = buckets.compactMap { $0.labels["le"].flatMap { Double($0 == "+Inf" ? "inf" : $0) } }
                #expect(bounds.count == buckets.count)
                #expect(bounds == bounds.sorted() && bounds.last == .infinity)
                #expect(buckets.map(\.value) == buckets.map(\.value).sorted())
                #expect(buckets.last?.value == samples.first { $0.name == family.name + "_count" }?.value)
            }
        }
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
