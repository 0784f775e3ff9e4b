internal import Engine
package import HTTPServer
internal import Wire

/// The response of `GET /v1/operations`: what operators need in an incident.
package struct OperationsView: Encodable, Sendable, Described {
    /// The maximum number of participants, and of workers, in a response.
    package static let countMax = 100

    /// Milliseconds since 1970.
    var at: Int64
    /// In a cluster, the name of the node that answers: everything but `nodes` is its own. Absent without a cluster.
    private(set) var node: String?
    /// In a cluster, all nodes that run, by name.
    private(set) var nodes: [NodeView]?
    /// Participants with the worst connections, worst first.
    var participants: [ConnectionView]
    var participantsTotal: Int
    /// Workers, busiest first.
    var workers: [WorkerView]
    var workersTotal: Int
    var lostWorkers: [LostWorkerView]
    var assistants: [AssistantLatencyView]
    var errors: [Counted<ReportedError>]
    var refusals: [Counted<ReportedRefusal>]
    var endedRooms: [Counted<EndedRoom>]
    var endedSessions: [Counted<EndedSession>]

    /// - Parameter dispatch: nil if the gateway has no assistants.
    package init(_ rooms: RoomService, _ dispatch: DispatchInbox?, _ recent: RecentOperations) async {
        async let connections = rooms.connections(atMost: Self.countMax)
        let reports = await dispatch?.workers() ?? []
        let view = recent.view
        let now = Instant.now
        at = WallClock.milliseconds
        participants = await connections.worst.map { ConnectionView($0, at: now) }
        participantsTotal = await connections.total
        workers = reports.prefix(Self.countMax).map(WorkerView.init)
        workersTotal = reports.count
        lostWorkers = dispatch?.registry.lostWorkers ?? []
        assistants = dispatch?.registry.latencies ?? []
        (errors, refusals, endedRooms, endedSessions) = (view.errors, view.refusals, view.rooms, view.sessions)
    }

    package mutating func show(_ nodes: [NodeView], answeredBy node: String) {
        (self.nodes, self.node) = (nodes, node)
    }

    package static let schema = Schema.named(
        "Operations",
        .object([
            .required("at", .count), .optional("node", .text), .optional("nodes", .array(of: NodeView.schema)),
            .required("participants", .array(of: ConnectionView.schema, atMost: countMax)),
            .required("participants_total", .count), .required("workers", .array(of: WorkerView.schema, atMost: countMax)),
            .required("workers_total", .count), .required("lost_workers", .array(of: LostWorkerView.schema)),
            .required("assistants", .array(of: AssistantLatencyView.schema, atMost: AssistantLatencies.assistantsMax)),
            .required(
                "errors",
                list(
                    "ReportedError", .required("level", .text), .required("logger", .text), .required("message", .text),
                    .required("details", .text))),
            .required(
                "refusals",
                list(
                    "ReportedRefusal", .required("reason", .text), .required("status", .integer(100...599)), .required("route", .text),
                    .required("address", .text), .optional("room", .text), .optional("identity", .text))),
            .required(
                "ended_rooms",
                list(
                    "EndedRoom", .required("name", .text), .required("sid", .text), .required("reason", .text), .required("seconds", .count)
                )),
            .required(
                "ended_sessions",
                list(
                    "EndedSession", .required("session", .text), .required("room", .text), .optional("assistant", .text),
                    .required("seconds", .count))),
        ]))

    /// The schema of a list of `RecentOperations`, newest first.
    private static func list(_ name: String, _ fields: Schema.Field...) -> Schema {
        .array(
            of: .named(name, .object([.required("at", .count), .required("count", .integer(1...1 << 53))] + fields)),
            atMost: RecentOperations.countMax)
    }
}

/// A participant's connection.
struct ConnectionView: Encodable, Sendable, Described {
    var room: String
    var identity: Identity
    var kind: ParticipantKind
    var quality: ConnectionQuality
    /// Absent until measured.
    var rttMs: Double?
    var jitterMs: Double?
    var lossPercent: Double?
    /// The time since the connection was lost; absent while connected.
    var lostMs: Int64?

    init(_ entry: RoomConnections.Entry, at now: Instant) {
        let report = entry.report
        (room, identity, kind, quality) = (entry.room, report.identity, report.kind, report.quality)
        if let measurement = report.measurement {
            rttMs = Self.milliseconds(measurement.roundTrip)
            jitterMs = Self.milliseconds(measurement.jitter)
            lossPercent = (measurement.lossPercent * 100).rounded() / 100
        }
        lostMs = report.lostSince.map { (now - $0).inMilliseconds }
    }

    private static func milliseconds(_ span: Duration) -> Double { (Double(span.inNanoseconds) / 1e4).rounded() / 100 }

    static let schema = Schema.named(
        "ParticipantConnection",
        .object([
            .required("room", .text), .required("identity", .text), .required("kind", .choice(ParticipantKind.allCases.map(\.rawValue))),
            .required("quality", .choice(ConnectionQuality.allCases.map(\.rawValue))), .optional("rtt_ms", .number(0...1e9)),
            .optional("jitter_ms", .number(0...1e9)), .optional("loss_percent", .number(0...100)), .optional("lost_ms", .count),
        ]))
}

/// A process that answers jobs.
struct WorkerView: Encodable, Sendable, Described {
    var id: DeviceID
    var assistant: String
    var capacity: Int
    var load: Double
    var jobs: Int
    var draining: Bool
    /// False after an offer that the worker did not answer.
    var responsive: Bool

    init(_ report: WorkerReport) {
        (id, assistant, capacity, load) = (report.id, report.assistant, report.capacity, report.load)
        (jobs, draining, responsive) = (report.jobs, report.isDraining, report.isResponsive)
    }

    static let schema = Schema.named(
        "Worker",
        .object([
            .required("id", .text), .required("assistant", .text), .required("capacity", .count), .required("load", .number(0...1)),
            .required("jobs", .count), .required("draining", .boolean), .required("responsive", .boolean),
        ]))
}

/// A worker whose channel was lost.
struct LostWorkerView: Encodable, Sendable, Hashable, Described {
    /// Milliseconds since 1970.
    var at: Int64
    var id: DeviceID
    var assistant: String
    /// The number of jobs that it had.
    var jobs: Int

    init(_ report: WorkerReport, at time: Int64) { (at, id, assistant, jobs) = (time, report.id, report.assistant, report.jobs) }

    static let schema = Schema.named(
        "LostWorker", .object([.required("at", .count), .required("id", .text), .required("assistant", .text), .required("jobs", .count)]))
}
