internal import Backend
internal import Engine
internal import Sockets
internal import Wire

/// The counters of all shards in Prometheus's text format 0.0.4.
struct PrometheusText {
    /// Values that belong to the gateway and not to a shard.
    struct GatewaySample {
        var version: String
        var draining: Bool
        var fastPath: RecordLayerState
        /// In seconds since 1970.
        var certificateExpiry: Int64
        /// Nil if `/proc` cannot be read.
        var process: ProcessStatistics?
    }

    private(set) var text = ""
    private let shards: [Counters]

    init(shards: [Counters], services: ServiceCounters, gateway: GatewaySample, dispatch: DispatchRegistry.Counters? = nil) {
        self.shards = shards
        describe(gateway)
        for metric in ServiceMetric.all { perService(metric, services) }
        perShard("patchbay_connections", "gauge", "WebSocket connections.") { Double($0.connections) }
        perShard("patchbay_rooms", "gauge", "Open rooms.") { Double($0.rooms) }
        perShard("patchbay_participants", "gauge", "Participants in rooms.") { Double($0.participants) }
        perShard("patchbay_participants_away", "gauge", "Participants without a socket whose session may be resumed.") {
            Double($0.participantsAway)
        }
        perShard("patchbay_devices", "gauge", "Users' channels.") { Double($0.devices) }
        perShard("patchbay_tracks", "gauge", "Published tracks.") { Double($0.tracks) }
        perShard("patchbay_frames_held", "gauge", "Media frames queued for subscribers.") { Double($0.framesHeld) }
        perShard("patchbay_ahead_tracks", "gauge", "Tracks of mode ahead that are published or subscribed to on the shard.") {
            Double($0.aheadTracks)
        }
        perShard("patchbay_ahead_bytes_held", "gauge", "Bytes of those tracks' frames, queued or kept for resume.") {
            Double($0.aheadBytesHeld)
        }
        perShard("patchbay_frames_received_total", "counter", "Media frames received, including those dropped afterwards.") {
            Double($0.framesIn)
        }
        perShard("patchbay_frames_sent_total", "counter", "Media frames handed to subscribers' sockets.") { Double($0.framesOut) }
        perShard("patchbay_media_messages_sent_total", "counter", "Messages that carried those frames.") {
            Double($0.framesOut - $0.bundledFramesOut + $0.bundlesOut)
        }
        perShard("patchbay_bundles_sent_total", "counter", "Messages of more than one frame.") { Double($0.bundlesOut) }
        perShard("patchbay_frame_bytes_received_total", "counter", "Bytes of those frames.") { Double($0.bytesIn) }
        perShard("patchbay_frame_bytes_sent_total", "counter", "Bytes of those frames.") { Double($0.bytesOut) }
        perShard("patchbay_frames_queued_total", "counter", "Frames that were queued before they were sent.") { Double($0.framesQueued) }
        labelled("patchbay_frames_dropped_total", "Frames that were dropped.", "reason") { counters in
            DropReason.allCases.map { ($0.name, counters.dropped[$0.rawValue]) }
        }
        labelled("patchbay_frames_malformed_total", "Binary messages that are not valid frames.", "fault") { counters in
            FrameError.allCases.map { ($0.rawValue, counters.malformed[$0.rawValue] ?? 0) }
        }
        perShard("patchbay_control_received_total", "counter", "Text messages received.") { Double($0.controlIn) }
        perShard("patchbay_control_sent_total", "counter", "Text messages sent.") { Double($0.controlOut) }
        labelled("patchbay_requests_refused_total", "Refused requests.", "code") {
            $0.requestsRefused.sorted { $0.key < $1.key }
        }
        perShard("patchbay_joins_total", "counter", "Participants that joined.") { Double($0.joins) }
        labelled("patchbay_resumes_total", "Attempts to resume a session.", "outcome") { counters in
            ResumeOutcome.allCases.map { ($0.rawValue, counters.resumes[$0] ?? 0) }
        }
        labelled("patchbay_joins_refused_total", "Refused handshakes.", "code") { $0.joinsRefused.sorted { $0.key < $1.key } }
        labelled("patchbay_http_refused_total", "Refused HTTP requests.", "code") { $0.httpRefused.sorted { $0.key < $1.key } }
        perOutcome("patchbay_http_requests_total", "HTTP requests answered; the route is empty if none matched.")
        labelled("patchbay_http_route_seconds_total", "Total time from the complete request to its response.", "route") {
            $0.http.secondsOfRoute.sorted { $0.key < $1.key }
        }
        labelled("patchbay_closed_total", "Connections closed by the gateway.", "code") { counters in
            counters.closed.sorted { $0.key < $1.key }.map { (String($0.key), $0.value) }
        }
        perShard("patchbay_receipts_asked_total", "counter", "Pings sent as delivery probes.") { Double($0.receiptsAsked) }
        perShard("patchbay_facts_lost_total", "counter", "Audit events that did not fit into the queue.") {
            Double($0.auditEventsLost)
        }
        perShard("patchbay_recording_frames_lost_total", "counter", "Frames missing from recordings because the disk could not keep up.") {
            Double($0.recordingFramesLost)
        }
        perShard("patchbay_connections_turned_away_total", "counter", "Connections refused because of the limit.") {
            Double($0.connectionsTurnedAway)
        }
        perShard("patchbay_handshakes_abandoned_total", "counter", "Connections that ended before a complete request.") {
            Double($0.handshakesAbandoned)
        }
        perShard("patchbay_accept_failures_total", "counter", "Times a listener paused because descriptors or memory ran out.") {
            Double($0.acceptFailures)
        }
        labelled("patchbay_proxy_headers_refused_total", "Connections closed for their header of the PROXY protocol.", "reason") {
            counters in
            ProxyHeader.Fault.allCases.map { ($0.rawValue, counters.proxyHeadersRefused[$0] ?? 0) }
        }
        perShard("patchbay_forwarded_for_malformed_total", "counter", "Requests with an X-Forwarded-For that is no list of addresses.") {
            Double($0.forwardedForMalformed)
        }
        if let dispatch { describe(dispatch) }
        histogram("patchbay_http_seconds", "From the complete HTTP request to its response.", \.http.seconds)
        histogram("patchbay_join_seconds", "From the upgrade request to hello.", \.joinSeconds)
        histogram("patchbay_loop_lag_seconds", "How late a shard's timer fired.", \.loopLagSeconds)
    }

    private mutating func describe(_ gateway: GatewaySample) {
        gauge("patchbay_build_info", "1 for the version of the gateway.", [("{version=\"\(Self.escaped(gateway.version))\"}", 1)])
        gauge("patchbay_draining", "1 while the gateway drains and admits nobody.", [("", gateway.draining ? 1 : 0)])
        // Both states are exported, as in OpenMetrics' StateSet, so that a query for either finds a series.
        gauge(
            "patchbay_tls_fast_path", "1 for the state of the TLS fast path: whether TLS records are processed without OpenSSL, and why.",
            [("on", gateway.fastPath.isActive), ("off", !gateway.fastPath.isActive)].map { state, isCurrent in
                ("{state=\"\(state)\",cause=\"\(gateway.fastPath.cause)\"}", isCurrent ? 1 : 0)
            })
        gauge(
            "patchbay_certificate_expiry_timestamp_seconds", "When the certificate in use expires, in seconds since 1970.",
            [("", Double(gateway.certificateExpiry))])
        if let process = gateway.process { describe(process) }
    }

    /// The names and units of Prometheus's client libraries.
    private mutating func describe(_ process: ProcessStatistics) {
        head("process_cpu_seconds_total", "counter", "CPU time of the process, user and system.")
        text += "process_cpu_seconds_total \(process.cpuSeconds)\n"
        gauge("process_resident_memory_bytes", "Resident memory of the process.", [("", Double(process.residentBytes))])
        gauge("process_virtual_memory_bytes", "Virtual memory of the process.", [("", Double(process.virtualBytes))])
        gauge("process_open_fds", "Open file descriptors.", [("", Double(process.openDescriptors))])
        gauge("process_max_fds", "The limit of open file descriptors.", [("", Double(process.descriptorsMax))])
        gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", [("", process.startTime)])
    }

    private mutating func describe(_ dispatch: DispatchRegistry.Counters) {
        gauge("patchbay_workers", "Registered workers of assistants.", [("", Double(dispatch.sizes.workers))])
        gauge("patchbay_jobs_pending", "Jobs that no worker has accepted.", [("", Double(dispatch.sizes.pending))])
        gauge("patchbay_jobs_running", "Jobs that a worker has accepted.", [("", Double(dispatch.sizes.running))])
        head("patchbay_jobs_total", "counter", "Jobs that have ended.")
        for outcome in JobStatus.allCases where outcome.isOver {
            text += "patchbay_jobs_total{outcome=\"\(outcome.rawValue)\"} \(dispatch.jobs[outcome] ?? 0)\n"
        }
        head("patchbay_job_offers_total", "counter", "Offers of jobs to workers that have ended.")
        for outcome in DispatchStateMachine.OfferOutcome.allCases {
            text += "patchbay_job_offers_total{outcome=\"\(outcome.rawValue)\"} \(dispatch.offers[outcome] ?? 0)\n"
        }
        head("patchbay_dispatch_lost_total", "counter", "Messages to dispatch that did not fit into its queue.")
        text += "patchbay_dispatch_lost_total \(dispatch.lost)\n"
        describe(dispatch.turns)
    }

    private mutating func describe(_ turns: TurnCounters) {
        head("patchbay_agent_turns_total", "counter", "Turns of assistants, as reported by their workers.")
        text += "patchbay_agent_turns_total{interrupted=\"true\"} \(turns.interrupted)\n"
        text += "patchbay_agent_turns_total{interrupted=\"false\"} \(turns.completed)\n"
        head("patchbay_agent_turns_dropped_total", "counter", "Turns that workers did not report because too many waited.")
        text += "patchbay_agent_turns_dropped_total \(turns.dropped)\n"
        head("patchbay_agent_turn_seconds", "histogram", "How long the stages of those turns took.")
        for stage in TurnMetrics.Stage.allCases {
            samples(of: turns.seconds(of: stage), "patchbay_agent_turn_seconds", "stage=\"\(stage.rawValue)\"")
        }
    }

    private mutating func head(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func gauge(_ name: String, _ help: String, _ samples: [(labels: String, value: Double)]) {
        head(name, "gauge", help)
        for sample in samples { text += "\(name)\(sample.labels) \(Self.number(sample.value))\n" }
    }

    private mutating func perService(_ metric: ServiceMetric, _ services: ServiceCounters) {
        func label(_ value: String) -> String { metric.label.map { "\($0)=\"\(value)\"" } ?? "" }
        switch metric.kind {
        case .gauge, .counter:
            head(metric.name, metric.kind == .gauge ? "gauge" : "counter", metric.help)
            for (value, count) in services.samples(of: metric) {
                text += "\(metric.name)\(metric.label == nil ? "" : "{\(label(value))}") \(count)\n"
            }
        case .histogram:
            head(metric.name, "histogram", metric.help)
            for (value, histogram) in services.histograms(of: metric) { samples(of: histogram, metric.name, label(value)) }
        }
    }

    private mutating func perShard(_ name: String, _ type: String, _ help: String, _ value: (Counters) -> Double) {
        head(name, type, help)
        for (shard, counters) in shards.enumerated() { text += "\(name){shard=\"\(shard)\"} \(Self.number(value(counters)))\n" }
    }

    private mutating func labelled(_ name: String, _ help: String, _ label: String, _ values: (Counters) -> [(String, UInt64)]) {
        labelled(name, help, label) { counters in values(counters).map { ($0, Double($1)) } }
    }

    private mutating func labelled(_ name: String, _ help: String, _ label: String, _ values: (Counters) -> [(key: String, value: Double)])
    {
        head(name, "counter", help)
        for (shard, counters) in shards.enumerated() {
            for (key, value) in values(counters) { text += "\(name){shard=\"\(shard)\",\(label)=\"\(key)\"} \(Self.number(value))\n" }
        }
    }

    private mutating func perOutcome(_ name: String, _ help: String) {
        head(name, "counter", help)
        for (shard, counters) in shards.enumerated() {
            let outcomes = counters.http.requests.sorted { ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status) }
            for (outcome, count) in outcomes {
                text += "\(name){shard=\"\(shard)\",route=\"\(outcome.route)\",status=\"\(outcome.status)\"} \(count)\n"
            }
        }
    }

    private mutating func histogram(_ name: String, _ help: String, _ path: KeyPath<Counters, Histogram>) {
        head(name, "histogram", help)
        for (shard, counters) in shards.enumerated() { samples(of: counters[keyPath: path], name, "shard=\"\(shard)\"") }
    }

    /// - Parameter label: with its value; empty for none.
    private mutating func samples(of histogram: Histogram, _ name: String, _ label: String) {
        let (prefix, labels) = label.isEmpty ? ("", "") : (label + ",", "{\(label)}")
        var total: UInt64 = 0
        for (bound, count) in zip(histogram.bounds, histogram.counts) {
            total += count
            text += "\(name)_bucket{\(prefix)le=\"\(Self.number(bound))\"} \(total)\n"
        }
        text += "\(name)_bucket{\(prefix)le=\"+Inf\"} \(histogram.count)\n"
        text += "\(name)_sum\(labels) \(histogram.sum)\n\(name)_count\(labels) \(histogram.count)\n"
    }

    /// A label's value in the text format.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? String(Int64(value)) : String(value)
    }
}
