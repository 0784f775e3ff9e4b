internal import Backend
internal import Engine
internal import TLSRecords
internal import Wire

/// The metrics of the gateway as a whole, of its process, and of dispatch.
extension ExportedMetric {
    static let gateway = [
        ExportedMetric(metric: Metric(.gauge, "patchbay_build_info", "1 for the version of the gateway.", .init("version"))) {
            [Sample(labels: [$0.gateway.version], value: .number(1))]
        },
        single(.gauge, "patchbay_draining", "1 while the gateway drains and admits nobody.") { $0.gateway.draining ? 1 : 0 },
        // Both states are exported, as in OpenMetrics' StateSet, so that a query for either finds a series.
        ExportedMetric(
            metric: Metric(
                .gauge, "patchbay_tls_fast_path",
                "1 for the state of the TLS fast path: whether TLS records are processed without OpenSSL, and why.",
                .init("state", ["on", "off"]), .init("cause"))
        ) { snapshot in
            let fastPath = snapshot.gateway.fastPath
            return [("on", fastPath.isActive), ("off", !fastPath.isActive)].map { state, isCurrent in
                Sample(labels: [state, fastPath.cause], value: .number(isCurrent ? 1 : 0))
            }
        },
        single(
            .gauge, "patchbay_certificate_expiry_timestamp_seconds", "When the certificate in use expires, in seconds since 1970."
        ) { Double($0.gateway.certificateExpiry) },
    ]

    /// With the names and units of Prometheus's client libraries.
    static let process = [
        single(.counter, "process_cpu_seconds_total", "CPU time of the process, user and system.") { $0.gateway.process?.cpuSeconds },
        single(.gauge, "process_resident_memory_bytes", "Resident memory of the process.") {
            $0.gateway.process.map { Double($0.residentBytes) }
        },
        single(.gauge, "process_virtual_memory_bytes", "Virtual memory of the process.") {
            $0.gateway.process.map { Double($0.virtualBytes) }
        },
        single(.gauge, "process_open_fds", "Open file descriptors.") { $0.gateway.process.map { Double($0.openDescriptors) } },
        single(.gauge, "process_max_fds", "The limit of open file descriptors.") { $0.gateway.process.map { Double($0.descriptorsMax) } },
        single(.gauge, "process_start_time_seconds", "When the process started, in seconds since 1970.") {
            $0.gateway.process?.startTime
        },
    ]

    static let dispatch = [
        single(.gauge, "patchbay_workers", "Registered workers of assistants.") { $0.dispatch.map { Double($0.sizes.workers) } },
        single(.gauge, "patchbay_jobs_pending", "Jobs that no worker has accepted.") { $0.dispatch.map { Double($0.sizes.pending) } },
        single(.gauge, "patchbay_jobs_running", "Jobs that a worker has accepted.") { $0.dispatch.map { Double($0.sizes.running) } },
        perDispatch(
            "patchbay_jobs_total", "Jobs that have ended.", by: "outcome", JobStatus.allCases.filter(\.isOver).map(\.rawValue)
        ) { counters, outcome in JobStatus(rawValue: outcome).flatMap { counters.jobs[$0] } },
        perDispatch(
            "patchbay_job_offers_total", "Offers of jobs to workers that have ended.", by: "outcome",
            DispatchStateMachine.OfferOutcome.allCases.map(\.rawValue)
        ) { counters, outcome in DispatchStateMachine.OfferOutcome(rawValue: outcome).flatMap { counters.offers[$0] } },
        single(.counter, "patchbay_dispatch_lost_total", "Messages to dispatch that did not fit into its queue.") {
            $0.dispatch.map { Double($0.lost) }
        },
    ]

    static let turns = [
        perDispatch(
            "patchbay_agent_turns_total", "Turns of assistants, as reported by their workers.", by: "interrupted", ["true", "false"]
        ) { $1 == "true" ? $0.turns.interrupted : $0.turns.completed },
        single(.counter, "patchbay_agent_turns_dropped_total", "Turns that workers did not report because too many waited.") {
            $0.dispatch.map { Double($0.turns.dropped) }
        },
        ExportedMetric(
            metric: Metric(
                .histogram(TurnCounters.bounds), "patchbay_agent_turn_seconds", "How long the stages of those turns took.",
                .init("stage", TurnMetrics.Stage.allCases.map(\.rawValue)))
        ) { snapshot in
            guard let turns = snapshot.dispatch?.turns else { return [] }
            return TurnMetrics.Stage.allCases.map { Sample(labels: [$0.rawValue], value: .histogram(turns.seconds(of: $0))) }
        },
    ]

    /// A counter of dispatch for each value of a label.
    private static func perDispatch(
        _ name: String, _ help: String, by label: String, _ values: [String],
        _ count: @escaping @Sendable (DispatchRegistry.Counters, String) -> UInt64?
    ) -> ExportedMetric {
        ExportedMetric(metric: Metric(.counter, name, help, .init(label, values))) { snapshot in
            guard let dispatch = snapshot.dispatch else { return [] }
            return values.map { Sample(labels: [$0], value: .number(Double(count(dispatch, $0) ?? 0))) }
        }
    }
}
