import Backend
import Engine
import Foundation
import HTTPServer
import HTTPTypes
import OutgoingHTTP
import Store
import Testing
import Wire

@testable import Gateway

/// The references in `docs/protocol` are what the program declares. `make reference` writes them anew.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ReferenceTests {
    @Test func metricsAreThoseOfTheProgram() throws {
        let rows = ExportedMetric.all.map { exported in
            let metric = exported.metric
            let labels = metric.labels.map { label in
                label.values.isEmpty ? "`\(label.name)`" : "`\(label.name)`: " + label.values.map { "`\($0)`" }.joined(separator: ", ")
            }
            return [metric.name.asCode, metric.kind.name, labels.joined(separator: "; "), metric.help]
        }
        try Reference("metrics.md").check(["name", "type", "labels", "meaning"], rows)
    }

    @Test func routesAreThoseOfTheProgram() throws {
        let rows = try Self.routes().sorted { ($0.path.inOpenAPI, Self.order(of: $0)) < ($1.path.inOpenAPI, Self.order(of: $1)) }.map {
            route in
            [route.method.rawValue, route.path.inOpenAPI.asCode, route.token ?? "–", route.summary]
        }
        try Reference("http.md").check(["method", "path", "token", "purpose"], rows)
    }

    /// All routes that a gateway can have.
    private static func routes() throws -> [Route] {
        let place = try BackendDirectory(records: false)
        let backend = try place.open()
        let (dispatch, assistants) = (DispatchInbox(), backend.assistants)
        return try TestGateway(
            auditEvents: backend.auditEvents, calls: backend.callInbox, dispatch: dispatch,
            serving: { rooms, keys in
                let server = ServerInfo(version: "tests", node: "test")
                let tools = ToolCaller(assistants, counters: ServiceCounters(), signer: { nil }) { _, _ in
                    { _ in OutgoingResponse(status: 200) }
                }
                let workers = DispatchService(inbox: dispatch, rooms: rooms, keys: keys, server: server)
                return backend.routes(backend.sessionService(rooms, keys: keys), backend.callService(rooms, keys: keys, server: server))
                    + AssistantRoutes.routes(assistants, keys: keys, store: backend.store.assistants) + ToolRoutes.routes(tools, keys: keys)
                    + SpeechRoutes.routes(nil, accounts: backend.accounts, assistants: assistants, keys: keys)
                    + DispatchRoutes.routes(workers, keys: keys)
                    + LiveKitRoutes.routes(rooms, workers, backend.roomRecordings, keys: keys)
                    + DevelopmentRoutes.routes(keys: keys, assistants: assistants, dispatch: dispatch.registry)
            }
        ).gateway.routes
    }

    private static func order(of route: Route) -> Int {
        [.get, .post, .put, .patch, .delete].firstIndex(of: route.method) ?? 0
    }

    @Test func errorCodesAreThoseOfTheProgram() throws {
        let rows = ErrorCode.allCases.map { code in
            let description = code.description
            return [
                code.rawValue.asCode, description.statuses.map(String.init).joined(separator: ", "), description.meaning, description.retry,
            ]
        }
        try Reference("errors.md").check(["code", "status", "meaning", "may retry"], rows)
    }

    @Test func closeCodesAreThoseOfTheProgram() throws {
        let rows = CloseReason.allCases.sorted { $0.code < $1.code }.map { reason in
            [
                String(reason.code), reason.phrase.asCode, reason.meaning, reason.disconnectReason.rawValue.asCode,
                reason == .left ? "–" : reason.isRetryable ? "yes" : "no",
            ]
        }
        try Reference("close-codes.md").check(["code", "phrase", "meaning", "reason", "may reconnect"], rows)
    }

    @Test func eventsAreThoseOfTheProgram() throws {
        try Reference("events.md").check(["event", "fields", "recipients"], Event.descriptions.map(Self.row))
    }

    @Test func requestsAreThoseOfTheProgram() throws {
        try Reference("requests.md").check(["request", "fields", "who may send it"], Request.descriptions.map(Self.row))
    }

    private static func row(of message: MessageDescription) -> [String] {
        [message.type.asCode, message.fields.map(\.asCode).joined(separator: ", "), message.parties]
    }
}

/// A table between `<!-- generated -->` and `<!-- /generated -->` in a document.
private struct Reference {
    let path: String

    init(_ name: String) { path = Repository.path("docs/protocol/\(name)") }

    private static let (begin, end) = ("<!-- generated -->\n\n", "\n<!-- /generated -->")

    /// Compares, or writes the table if `PATCHBAY_WRITE_REFERENCE` is set.
    func check(_ titles: [String], _ rows: [[String]]) throws {
        let table = ([titles, titles.map { _ in "---" }] + rows).map { cells in
            "|" + cells.map { $0 == "---" ? "---|" : $0.isEmpty ? " |" : " \($0.replacing("|", with: "\\|")) |" }.joined() + "\n"
        }.joined()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let before = try #require(text.range(of: Self.begin), "\(path)")
        let after = try #require(text.range(of: Self.end, range: before.upperBound..<text.endIndex), "\(path)")
        if ProcessInfo.processInfo.environment["PATCHBAY_WRITE_REFERENCE"] != nil {
            let written = text.replacingCharacters(in: before.upperBound..<after.lowerBound, with: table)
            try written.write(toFile: path, atomically: true, encoding: .utf8)
        } else {
            #expect(String(text[before.upperBound..<after.lowerBound]) == table, "\(path) is out of date; run `make reference`")
        }
    }
}

extension String {
    fileprivate var asCode: String { "`\(self)`" }
}
