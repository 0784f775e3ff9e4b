import Backend
import Gateway
import NIOCore
import NIOHTTP1
import NIOPosix
import PatchbayAgents
import Wire

extension Metric {
    static let agentRegistered = Metric(.gauge, "patchbay_agent_registered", "1 while the gateway may give jobs to this process.")
    static let agentCapacity = Metric(.gauge, "patchbay_agent_capacity", "Jobs that this process takes at once.")
    static let agentJobs = Metric(.gauge, "patchbay_agent_jobs", "Jobs in progress.")
    static let agentJobsEnded = Metric(
        .counter, "patchbay_agent_jobs_ended_total", "Jobs by their end; a job is cancelled if its room ends or the process stops.",
        Label("outcome", ["succeeded", "failed", "cancelled"]))
    static let agentJobSeconds = Metric(
        .histogram([1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600]), "patchbay_agent_job_seconds", "How long jobs took.")

    /// Those of `agent start`, in the order of its `/metrics`.
    static let agent = [agentRegistered, agentCapacity, agentJobs, agentJobsEnded, agentJobSeconds, logLinesDropped]
}

/// The counters behind a worker's metrics.
struct AgentCounters: Sendable {
    let services = ServiceCounters()

    /// Counts a job around its handler.
    func count(_ converse: () async throws -> Void) async throws {
        let began = ContinuousClock.now
        defer { services.record(ContinuousClock.now - began, in: .agentJobSeconds) }
        do {
            try await converse()
            services.add(to: .agentJobsEnded, Task.isCancelled ? "cancelled" : "succeeded")
        } catch {
            services.add(to: .agentJobsEnded, Task.isCancelled ? "cancelled" : "failed")
            throw error
        }
    }

    /// Prometheus's text format.
    func text(of worker: AgentWorker, capacity: Int) async -> String {
        services.set(await worker.isRegistered ? 1 : 0, to: .agentRegistered)
        services.set(capacity, to: .agentCapacity)
        services.set(await worker.jobCount, to: .agentJobs)
        return PrometheusText(Metric.agent, of: services).text
    }
}

/// Plain HTTP for probes and Prometheus: `/metrics`; `/healthz`, which is always 200; `/readyz`, which is 503 while the worker is not registered.
/// One request at a time, for at most two seconds; further connections wait in the listener's backlog.
struct MetricsServer: Sendable {
    private typealias Client = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private static let requestTimeout = Duration.seconds(2)
    private static let backlog: Int32 = 16

    private let listener: NIOAsyncChannel<Client, Never>

    /// Binds the port; 0 picks a free one.
    ///
    /// - Throws: `UsageError`.
    init(host: String, port: Int) async throws {
        do {
            listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.backlog, value: Self.backlog)
                .bind(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        return try Client(wrappingChannelSynchronously: channel)
                    }
                }
        } catch {
            throw UsageError("--metrics-port \(port): cannot listen on \(host): \(error); choose another port or --metrics-host")
        }
    }

    var port: Int { listener.channel.localAddress?.port ?? 0 }

    /// Serves until the task is cancelled.
    ///
    /// - Parameter metrics: the body of `/metrics`.
    func run(for worker: AgentWorker, metrics: @escaping @Sendable () async -> String) async throws {
        try await listener.executeThenClose { clients in
            for try await client in clients {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { try? await Self.answer(client, worker, metrics) }
                    group.addTask { try? await Task.sleep(for: Self.requestTimeout) }
                    await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    private static func answer(_ client: Client, _ worker: AgentWorker, _ metrics: () async -> String) async throws {
        try await client.executeThenClose { parts, response in
            for try await case .head(let head) in parts {
                let (status, body): (HTTPResponseStatus, String) =
                    switch head.uri.prefix(while: { $0 != "?" }) {
                    case "/metrics": (.ok, await metrics())
                    case "/healthz": (.ok, "ok\n")
                    case "/readyz": await worker.isRegistered ? (.ok, "ok\n") : (.serviceUnavailable, "not registered\n")
                    default: (.notFound, "there are /metrics, /healthz and /readyz\n")
                    }
                let headers: HTTPHeaders = [
                    "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Content-Length": "\(body.utf8.count)",
                    "Connection": "close",
                ]
                try await response.write(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)))
                if head.method != .HEAD { try await response.write(.body(.byteBuffer(ByteBuffer(string: body)))) }
                return try await response.write(.end(nil))
            }
        }
    }
}
