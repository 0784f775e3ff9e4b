import Backend
import Engine
import Foundation
import Gateway
import HTTPServer
import Sockets
import Synchronization
import TLSRecords

/// A gateway on a free port that stops with its last reference. The suite traits wait until it has.
final class TestGateway: Sendable {
    let gateway: Gateway
    private let running: Task<Void, any Error>
    private let companions = Mutex<[Task<Void, any Error>]>([])

    var port: Int { gateway.port }

    /// Sessions cannot be resumed, unless `change` sets a resume window.
    convenience init(
        auditEvents: AuditEventQueue? = nil, recordings: (any RecordingStore)? = nil, routes: [Route] = [],
        operatorLog: OperatorLog = .silent,
        _ change: (inout GatewaySettings) -> Void = { _ in }
    ) throws {
        try self.init(auditEvents: auditEvents, recordings: recordings, operatorLog: operatorLog, serving: { _, _ in routes }, change)
    }

    /// - Parameter routes: makes additional HTTP routes.
    init(
        auditEvents: AuditEventQueue? = nil, recordings: (any RecordingStore)? = nil,
        recordingLog: RecordingLog? = nil, calls: CallInbox? = nil, dispatch: DispatchInbox? = nil,
        services: ServiceCounters = ServiceCounters(), operatorLog: OperatorLog = .silent,
        serving routes: (RoomService, KeysInUse) throws -> [Route],
        _ change: (inout GatewaySettings) -> Void = { _ in }
    ) throws {
        var settings = GatewaySettings(
            port: 0, shardCount: 2, tls: Certificate.usual.files,
            room: RoomSettings(departureTimeout: .milliseconds(100), resumeWindow: .zero), fastPath: Self.fastPath, version: "tests")
        change(&settings)
        let gateway = try Gateway(
            settings: settings, keys: TestToken.keys, auditEvents: auditEvents, recordings: recordings, recordingLog: recordingLog,
            calls: calls, dispatch: dispatch, services: services, operatorLog: operatorLog, routes: routes)
        self.gateway = gateway
        running = Task { try await gateway.run() }
    }

    /// The whole suite runs with the fast path on, or off if `PATCHBAY_TLS_FAST_PATH` is `off`.
    static let fastPath = TLSFastPath(
        ProcessInfo.processInfo.environment["PATCHBAY_TLS_FAST_PATH"].flatMap(TLSFastPath.Mode.init(rawValue:)) ?? .auto)

    deinit {
        gateway.drain()
        gateway.drain()
        let tasks = [running] + companions.withLock { $0 }
        Self.ending.withLock { $0 += tasks }
    }

    private static let ending = Mutex<[Task<Void, any Error>]>([])

    /// Adds a task that ends with the gateway. Tests wait for it as for the gateway, and not before: other tests end while this one runs.
    func add(_ companion: Task<Void, any Error>) {
        companions.withLock { $0.append(companion) }
    }

    /// Waits for all gateways without references and their companions, so that none is running when the process exits. One that cannot end,
    /// because a test has failed while its store was away, is cancelled, as `serve` does.
    static func allEnded() async {
        let tasks = ending.withLock { tasks in
            defer { tasks.removeAll() }
            return tasks
        }
        for task in tasks {
            let timeout = Task {
                try await Task.sleep(for: .seconds(30))
                task.cancel()
            }
            _ = await task.result
            timeout.cancel()
        }
    }

    /// Waits until the gateway has stopped.
    func ended() async throws { try await running.value }

    /// `/metrics`, read over HTTPS.
    func metrics() throws -> Metrics { try Metrics(parsing: metricsText()) }

    /// Reads one counter without parsing all others, because tests poll it.
    func value(_ counter: Counter) throws -> Double {
        let lines = try metricsText().split(separator: "\n").filter { line in
            line.hasPrefix(counter.name) && ["{", " "].contains(line.dropFirst(counter.name.count).first)
        }
        let text = "# HELP \(counter.name) …\n# TYPE \(counter.name) untyped\n" + lines.map { $0 + "\n" }.joined()
        return try Metrics(parsing: text).value(counter)
    }

    private func metricsText() throws -> String {
        guard let answer = try get("/metrics") else { throw DidNotHappen(what: "metrics; the connection ended without an answer") }
        guard answer.status == 200 else { throw DidNotHappen(what: "metrics; the answer was \(answer.status)") }
        return answer.text
    }

    func get(_ path: String) throws -> HTTPAnswer? { try HTTPAsk(path: path, fields: [("Connection", "close")]).answer(port: port) }

    /// - Parameter shard: the shard to connect to, through its own port; any if nil.
    func webSocket(
        _ ask: HTTPAsk, from source: String = Loopback.fresh(), receiveBuffer: Int32? = nil, segmentBytes: Int32? = nil, shard: Int? = nil
    ) throws -> RawWebSocket {
        let port = shard.map { gateway.shardPorts[$0] } ?? port
        return try RawWebSocket(
            on: .secure(port: port, from: source, receiveBuffer: receiveBuffer, segmentBytes: segmentBytes), asking: ask)
    }
}
