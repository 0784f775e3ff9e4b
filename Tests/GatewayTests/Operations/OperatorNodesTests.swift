import Backend
import Cluster
import Foundation
import HTTPServer
import HTTPTypes
import Identity
import TestProcesses
import Testing
import Wire

@testable import Gateway

/// Which node answers an operator, with a cluster that only has beats.
struct OperatorNodesTests {
    private func beat(_ name: String, incarnation: UInt64 = 1, number: UInt64 = 5, isDraining: Bool = false) -> NodeBeat {
        NodeBeat(
            node: NodeIdentity(name: name, incarnation: incarnation), number: number, build: "1", isDraining: isDraining,
            load: NodeLoad(busiest: 0.12345, rooms: 2, participants: 5))
    }

    private func nodes(_ others: NodeBeat..., coordinator: String? = nil) -> OperatorNodes {
        let local = beat("n1")
        return OperatorNodes(name: "n1") { OperatorNodes.Running(local: local, others: others, coordinator: coordinator) }
    }

    private func refusal(_ nodes: OperatorNodes, _ wanted: String?) -> HTTPError? {
        do throws(HTTPError) {
            try nodes.check(wanted)
            return nil
        } catch {
            return error
        }
    }

    @Test func requestIsForTheNodeThatItNames() {
        let nodes = nodes(beat("n2"), beat("n3"))
        #expect(refusal(nodes, nil) == nil)
        #expect(refusal(nodes, "n1") == nil)
        #expect(refusal(nodes, "n2")?.node == "n2/1")
    }

    @Test func unknownNodeIsNotFoundAndTheRunningOnesAreListed() throws {
        let error = try #require(refusal(nodes(beat("n3"), beat("n2")), "n4"))
        #expect(error.status == .notFound && error.code == .nodeNotFound && error.node == nil)
        #expect(error.message.hasSuffix("n1, n2, n3"))
    }

    @Test func restartedNodeIsTheNewProcess() {
        let former = beat("n2", incarnation: 9, number: 1_000)
        #expect(refusal(nodes(former, beat("n2", incarnation: 3)), "n2")?.node == "n2/3")
        #expect(refusal(nodes(beat("n2", incarnation: 4, isDraining: true), former), "n2")?.node == "n2/9")
    }

    @Test func gatewayThatRunsAloneHasOnlyItself() {
        let alone = OperatorNodes(name: "n1", running: nil)
        #expect(alone.views == nil)
        #expect(refusal(alone, "n1") == nil)
        #expect(refusal(alone, "n2")?.code == .nodeNotFound)
    }

    @Test func allNodesAreShownByName() throws {
        let views = try #require(nodes(beat("n0", isDraining: true), beat("n2"), coordinator: "n2/1").views)
        #expect(views.map(\.name) == ["n0", "n1", "n2"])
        #expect(views.map(\.draining) == [true, false, false])
        #expect(views.map(\.coordinator) == [false, false, true])
        #expect(views.map(\.load) == [0.123, 0.123, 0.123])
        #expect(views[0].rooms == 2 && views[0].participants == 5)
    }
}

/// `/v1/operations` of two gateways.
@Suite(.onOwnThread, .serialized, .enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
struct ClusterOperationsTests {
    private let cluster: TestCluster
    private let (first, second): (TestGateway, TestGateway)

    init() throws {
        cluster = try TestCluster()
        (first, second) = try cluster.startPair()
    }

    private func ask(_ gateway: TestGateway, _ path: String) throws -> HTTPAnswer {
        let token = TestToken.administering { ($0.roomList, $0.roomCreate) = (true, true) }
        let ask = HTTPAsk(path: path, fields: [("Authorization", "Bearer " + token), ("Connection", "close")])
        return try #require(try ask.answer(port: gateway.port))
    }

    private func nodes(_ gateway: TestGateway) throws -> [[String: Any]] {
        try #require(try ask(gateway, "/v1/operations").json?["nodes"] as? [[String: Any]])
    }

    @Test func eachNodeShowsAllNodesAndAnswersForThem() throws {
        let ann = try first.join("ann")
        for (gateway, own) in [(first, "n1"), (second, "n2")] {
            #expect(try ask(gateway, "/v1/operations").json?["node"] as? String == own)
            try Patience.until("both nodes are shown with their rooms") {
                try nodes(gateway).map { $0["participants"] as? Int } == [1, 0]
            }
            let shown = try nodes(gateway)
            #expect(shown.map { $0["name"] as? String } == ["n1", "n2"])
            #expect(shown.map { $0["rooms"] as? Int } == [1, 0])
            #expect(shown.allSatisfy { $0["draining"] as? Bool == false && $0["build"] as? String == "tests" })
            try Patience.until("one of them is the coordinator") { try nodes(gateway).count { $0["coordinator"] as? Bool == true } == 1 }
            for name in ["n1", "n2"] {
                let answer = try ask(gateway, "/v1/operations?node=\(name)")
                #expect(answer.status == 200 && answer.json?["node"] as? String == name)
                #expect(answer.json?["participants_total"] as? Int == (name == "n1" ? 1 : 0))
                #expect(answer.fields["patchbay-elsewhere"] == nil)
                #expect(try ask(gateway, "/v1/operations/history?node=\(name)&after=0").json?["times"] != nil)
            }
            for path in ["/v1/operations?node=n3", "/v1/operations/history?node=n3"] {
                let answer = try ask(gateway, path)
                #expect(answer.status == 404 && answer.code == "node_not_found")
                #expect((answer.json?["message"] as? String)?.hasSuffix("n1, n2") == true)
            }
        }
        withExtendedLifetime(ann) {}
    }

    @Test func nodeThatDrainsAndEndsIsShownAsSuch() async throws {
        let ann = try Caller(second, room: "stays", identity: "ann")
        second.gateway.drain()
        try Patience.until("it drains") {
            try nodes(first).contains { $0["name"] as? String == "n2" && $0["draining"] as? Bool == true }
        }
        second.gateway.drain()
        try Patience.until("it has ended") { try nodes(first).map { $0["name"] as? String } == ["n1"] }
        #expect(try ask(first, "/v1/operations?node=n2").code == "node_not_found")
        withExtendedLifetime(ann) {}
    }
}
