import Backend
import Foundation
import Gateway
import Testing
import Yams

/// `dashboards/`: the dashboard and the alerts use only metrics and labels that a gateway exposes.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct DashboardTests {
    /// `/metrics` of a gateway on which everything happened that a label is made of.
    private static func metrics() throws -> Metrics {
        let gateway = try TestGateway(dispatch: DispatchInbox(), serving: { _, _ in [] })
        let ann = try Caller(gateway, room: "r", identity: "ann")
        try ann.socket.send(text: #"{"type":"nonsense","id":1,"data":{}}"#)
        try ann.socket.send(text: #"{"type":"leave","data":{}}"#)
        _ = try ann.closeCode()
        _ = try HTTPAsk.upgrade().answer(port: gateway.port)
        _ = try gateway.get("/nowhere")
        return try gateway.metrics()
    }

    private static func labels(in template: String, of pattern: Regex<(Substring, Substring)>) -> [String] {
        template.matches(of: pattern).map { String($0.1) }
    }

    @Test func alertsUseWhatTheGatewayExposesAndSayWhatToDo() throws {
        let metrics = try Self.metrics()
        let text = try String(contentsOfFile: Repository.path("dashboards/alerts.yaml"), encoding: .utf8)
        let file = try #require(try Yams.load(yaml: text) as? [String: Any])
        let rules = try #require(file["groups"] as? [[String: Any]]).flatMap { $0["rules"] as? [[String: Any]] ?? [] }
        #expect(rules.count > 15)
        #expect(Set(rules.compactMap { $0["alert"] as? String }).count == rules.count)
        for rule in rules {
            let name = try #require(rule["alert"] as? String)
            let query = try PromQL(try #require(rule["expr"] as? String))
            #expect(query.unknowns(in: metrics) == [], "\(name)")
            let severity = (rule["labels"] as? [String: String])?["severity"]
            #expect(["critical", "warning"].contains(severity), "\(name)")
            let notes = try #require(rule["annotations"] as? [String: String], "\(name)")
            #expect(notes["description"]?.isEmpty == false, "\(name)")
            let used = Self.labels(in: notes.values.joined(), of: /\$labels\.([a-z_]+)/)
            #expect(Set(used).subtracting(query.resultLabels(in: metrics)) == [], "\(name)")
        }
    }

    @Test func theDashboardUsesWhatTheGatewayExposes() throws {
        let metrics = try Self.metrics()
        let file = try Data(contentsOf: URL(filePath: Repository.path("dashboards/patchbay.json")))
        let dashboard = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
        var queries = 0
        for panel in panels {
            let title = panel["title"] as? String ?? ""
            if panel["type"] as? String != "row" { #expect((panel["description"] as? String)?.hasSuffix(".") == true, "\(title)") }
            let place = try #require(panel["gridPos"] as? [String: Int], "\(title)")
            #expect(place["x", default: 0] + place["w", default: 0] <= 24, "\(title)")
            for target in panel["targets"] as? [[String: Any]] ?? [] {
                let query = try PromQL(try #require(target["expr"] as? String))
                #expect(query.unknowns(in: metrics) == [], "\(title)")
                let used = Self.labels(in: target["legendFormat"] as? String ?? "", of: /\{\{([a-z_]+)\}\}/)
                #expect(Set(used).subtracting(query.resultLabels(in: metrics)) == [], "\(title)")
                queries += 1
            }
        }
        #expect(queries > 40)
    }

    @Test(arguments: [
        "patchbay_nothing > 0", "rate(patchbay_joins_total{colour=\"red\"}[5m])", "sum by (colour) (patchbay_rooms)",
        "patchbay_webhook_deliveries_total{outcome=\"lost\"}", "patchbay_frames_dropped_total{reason=~\"full|lost\"}",
    ])
    func anUnknownMetricOrLabelIsFound(expression: String) throws {
        #expect(try PromQL(expression).unknowns(in: try Self.metrics()).count == 1)
    }
}
