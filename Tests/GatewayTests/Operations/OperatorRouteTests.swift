import Backend
import Engine
import Foundation
import Identity
import Testing
import Wire

@testable import Gateway

/// `/v1/operations` and its history, over HTTPS.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct OperatorRouteTests {
    private static let operating = TestToken.administering { ($0.roomList, $0.roomCreate) = (true, true) }

    private func ask(_ gateway: TestGateway, _ path: String = "/v1/operations", token: String = operating) throws -> HTTPAnswer {
        try #require(try HTTPConnection(gateway).answer(to: HTTPAsk(path: path, fields: [("Authorization", "Bearer " + token)])))
    }

    private func list(_ name: String, _ gateway: TestGateway) throws -> [[String: Any]] {
        try #require(try ask(gateway).json?[name] as? [[String: Any]])
    }

    @Test func onlyTokensThatMayEndEachRoomSeeOperations() throws {
        let gateway = try TestGateway()
        for path in ["/v1/operations", "/v1/operations/history"] {
            #expect(try gateway.get(path)?.status == 401)
            #expect(try ask(gateway, path).status == 200)
            for token in [
                TestToken.administering { $0.roomList = true }, TestToken.administering { $0.roomCreate = true },
                TestToken.administering { ($0.room, $0.roomAdmin, $0.roomList) = ("r", true, true) },
                TestToken.joining("r", as: "ann") {
                    $0.video?.roomList = true
                    $0.video?.roomCreate = true
                },
            ] {
                let answer = try ask(gateway, path, token: token)
                #expect(answer.status == 403 && answer.code == "missing_grant")
            }
        }
    }

    @Test(arguments: [0, 1]) func theLongestLostParticipantIsFirst(shard: Int) throws {
        let gateway = try TestGateway { $0.room.resumeWindow = .seconds(60) }
        let ann = try Caller(gateway, room: "one", identity: "ann", shard: 0)
        let bob = try Caller(gateway, room: "two", identity: "bob", shard: shard)
        #expect(try ask(gateway).json?["participants_total"] as? Int == 2)
        bob.socket.socket.reset()
        try Patience.until("the loss is listed") { try list("participants", gateway).first?["lost_ms"] != nil }
        let participants = try list("participants", gateway)
        #expect(participants.map { $0["identity"] as? String } == ["bob", "ann"])
        #expect(participants.map { $0["room"] as? String } == ["two", "one"])
        #expect(participants.map { $0["quality"] as? String } == ["excellent", "excellent"])
        withExtendedLifetime(ann) {}
    }

    @Test func endedRoomsAndRefusalsAreKeptAtAnyLevelOfTheLog() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "<b>r</b>", identity: "ann")
        #expect(await gateway.gateway.rooms.attempt(.close(.roomDeleted), in: "<b>r</b>"))
        #expect(try ann.closeCode() == 4102)
        let expired = TestToken.joining("lobby", as: "ann") { $0.expires = TestToken.now - 1_000 }
        for _ in 1...3 { _ = try HTTPAsk.upgrade(token: expired).answer(port: gateway.port, from: "127.9.8.7") }
        let rooms = try list("ended_rooms", gateway)
        #expect(rooms.map { $0["name"] as? String } == ["<b>r</b>"] && rooms[0]["reason"] as? String == "ROOM_DELETED")
        let refusals = try list("refusals", gateway).filter { $0["address"] as? String == "127.9.8.7" }
        #expect(refusals.count == 1 && refusals[0]["count"] as? Int == 3)
        #expect(refusals[0]["reason"] as? String == "token_expired" && refusals[0]["room"] as? String == "lobby")
        #expect(try !ask(gateway).text.contains(expired))
    }

    @Test func aGatewayThatRunsAloneAnswersForItselfOnly() throws {
        let gateway = try TestGateway { $0.nodeName = "n1" }
        for path in ["/v1/operations", "/v1/operations/history"] {
            #expect(try ask(gateway, path + "?node=n1").status == 200)
            let other = try ask(gateway, path + "?node=n2")
            #expect(other.status == 404 && other.code == "node_not_found")
            #expect(try ask(gateway, path + "?node=").code == "invalid_query")
        }
        let view = try #require(try ask(gateway).json)
        #expect(view["node"] == nil && view["nodes"] == nil)
    }

    @Test func aGatewayWithoutAssistantsHasNoWorkers() throws {
        let gateway = try TestGateway()
        for name in ["workers", "lost_workers", "assistants", "errors", "ended_sessions"] {
            #expect(try list(name, gateway).isEmpty, "\(name)")
        }
    }

    @Test func theHistoryBeginsWithTheGateway() throws {
        let gateway = try TestGateway()
        var answer = try ask(gateway, "/v1/operations/history")
        try Patience.until("the first sample") {
            answer = try ask(gateway, "/v1/operations/history")
            return (answer.json?["times"] as? [Int])?.isEmpty == false
        }
        let series = try #require(answer.json?["series"] as? [[String: Any]])
        #expect(Set(series.compactMap { $0["name"] as? String }).isSuperset(of: ["patchbay_rooms", "patchbay_join_seconds_bucket"]))
        let last = try #require((answer.json?["times"] as? [Int])?.last)
        let later = try ask(gateway, "/v1/operations/history?after=\(last + 3_600_000)")
        #expect((later.json?["times"] as? [Int])?.isEmpty == true)
        for bad in ["-1", "x", ""] { #expect(try ask(gateway, "/v1/operations/history?after=\(bad)").status == 400, "\(bad)") }
    }
}

/// The ring of samples behind the dashboard's plots.
struct MetricsHistoryTests {
    private func snapshot(rooms: Int, shards: Int = 2) -> MetricsSnapshot {
        var counters = Counters()
        counters.rooms = rooms
        counters.framesIn = UInt64(100 * rooms)
        counters.joinSeconds.add(0.02)
        return MetricsSnapshot(
            shards: Array(repeating: counters, count: shards), services: ServiceCounters(),
            gateway: .init(
                version: "tests", draining: false, fastPath: TestGateway.fastPath, certificateExpiry: 0, process: nil), dispatch: nil)
    }

    private func values(_ history: MetricsHistory, _ name: String, _ labels: [String: String] = [:]) -> [Double?]? {
        history.columns[.init(name: name, labels: labels)].map { Array($0) }
    }

    @Test func anHourIsKept() {
        var history = MetricsHistory()
        for number in 0..<MetricsHistory.samplesMax + 5 { history.append(snapshot(rooms: number), at: Int64(number) * 10_000) }
        #expect(history.times.count == MetricsHistory.samplesMax && history.times.first == 50_000)
        #expect(MetricsHistory.interval * MetricsHistory.samplesMax == .seconds(3_600))
        #expect(history.columns.values.allSatisfy { $0.count == MetricsHistory.samplesMax })
        #expect(values(history, "patchbay_rooms")?.first == 10, "of both shards")
    }

    @Test func samplesAreSummedOverWhatAPlotDoesNotTellApart() {
        var history = MetricsHistory()
        history.append(snapshot(rooms: 3), at: 0)
        #expect(values(history, "patchbay_frames_received_total", ["shard": "1"]) == [300])
        #expect(values(history, "patchbay_frames_received_total") == nil)
        #expect(values(history, "patchbay_join_seconds_bucket", ["le": "0.01"]) == [0])
        #expect(values(history, "patchbay_join_seconds_bucket", ["le": "0.025"]) == [2])
        #expect(values(history, "patchbay_join_seconds_bucket", ["le": "+Inf"]) == [2])
    }

    @Test func aSeriesThatAppearsLaterHasNoValuesBefore() {
        var history = MetricsHistory()
        history.append(snapshot(rooms: 1, shards: 1), at: 0)
        history.append(snapshot(rooms: 1, shards: 2), at: 10_000)
        history.append(snapshot(rooms: 1, shards: 1), at: 20_000)
        #expect(values(history, "patchbay_frames_sent_total", ["shard": "1"]) == [nil, 0, nil])
        #expect(values(history, "patchbay_frames_sent_total", ["shard": "0"]) == [0, 0, 0])
    }

    @Test func seriesAreBounded() {
        var history = MetricsHistory()
        history.append(snapshot(rooms: 1, shards: 2_000), at: 0)
        #expect(history.columns.count == MetricsHistory.seriesMax)
    }

    @Test func everyMetricOfTheDashboardIsKept() throws {
        let names = Set(ExportedMetric.all.map(\.metric.name))
        #expect(MetricsHistory.kept.map(\.metric).allSatisfy(names.contains))
        let page = try String(contentsOfFile: Repository.path("Web/dashboard/model/figures.js"), encoding: .utf8)
        let used = page.matches(of: /'((?:patchbay|process)_[a-z_]+)/).map { String($0.1) }
        #expect(used.count > 20)
        #expect(Set(used).subtracting(MetricsHistory.kept.map(\.metric)) == [])
    }
}
