import Backend
import Cluster
import HTTPServer
import Identity
import Synchronization
import TestProcesses
import Testing
import Wire

@testable import Gateway

/// Lists of what all nodes have: they are complete, or refused.
@Suite(.onOwnThread, .serialized, .enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
struct ClusterListTests {
    private let cluster: TestCluster
    private let (first, second): (TestGateway, TestGateway)

    init() throws {
        cluster = try TestCluster()
        (first, second) = try cluster.startPair()
    }

    private func list(at gateway: TestGateway) throws -> HTTPAnswer {
        let token = TestToken.administering { $0.roomList = true }
        let ask = HTTPAsk(path: "/v1/rooms", fields: [("Authorization", "Bearer \(token)"), ("Connection", "close")])
        guard let answer = try ask.answer(port: gateway.port) else { throw DidNotHappen(what: "a list") }
        return answer
    }

    /// Makes the first node believe that another one runs, until it counts the nodes again.
    private func announce(_ beat: NodeBeat) throws {
        try #require(first.gateway.context.cluster).state.withLock { $0.others[beat.node] = beat }
    }

    private func beat(port: Int, isDraining: Bool = false) -> NodeBeat {
        NodeBeat(
            node: NodeIdentity(name: "n3", incarnation: 1), number: 1, build: "1", address: "127.0.0.1:\(port)", isDraining: isDraining)
    }

    @Test func listIsRefusedWhileANodeDoesNotAnswer() throws {
        _ = try Caller(second, room: "two", identity: "bob")
        #expect(try list(at: first).status == 200)
        let silent = beat(port: try NATSServer.freePort())
        try Patience.until("the list is refused") {
            try announce(silent)
            let answer = try list(at: first)
            #expect(answer.status == 200 || answer.fields["x-patchbay-error"] == "home_unavailable", "\(answer.text)")
            return answer.status == 503
        }
        let ended = beat(port: try NATSServer.freePort(), isDraining: true)
        try announce(ended)
        #expect(try list(at: first).status == 200, "a node that drains has handed its rooms over before it ends")
    }

    @Test func nodeThatRefusesTheQueryIsMissedUnlessTheQueryIsNew() async throws {
        // This process is another one than the announced one.
        let other = beat(port: try #require(second.gateway.nodesPort))
        let queries = try #require(first.gateway.context.queries)
        var answers = NodeAnswers()
        for query in [NodeQuery.rooms, .snapshots] {
            repeat {
                try announce(other)
                answers = await queries.ask(query)
            } while answers.isComplete
            #expect(answers.contents.count == 1, "the second node has answered")
        }
        try announce(other)
        #expect(await queries.ask(.recordings).isComplete)
    }

    @Test func listIsRefusedWhileTheBrokerIsFrozen() throws {
        _ = try Caller(second, room: "two", identity: "bob")
        try cluster.nats.freeze()
        try Patience.until("the list is refused") {
            let answer = try list(at: first)
            #expect(answer.status == 503 || answer.text.contains("\"two\""), "no list is incomplete: \(answer.text)")
            return answer.fields["x-patchbay-error"] == "home_unavailable"
        }
        try cluster.nats.thaw()
        try Patience.until("the list is complete") {
            let answer = try list(at: first)
            #expect(answer.status == 503 || answer.text.contains("\"two\""), "no list is incomplete: \(answer.text)")
            return answer.status == 200
        }
    }

    @Test func nodeThatHasJustStartedListsNothingBeforeItHasHeardOfTheOthers() throws {
        _ = try Caller(second, room: "two", identity: "bob")
        let third = try cluster.start()
        try Patience.until("the list is complete") {
            let answer = try list(at: third)
            #expect(answer.status == 503 || answer.text.contains("\"two\""), "no list is incomplete: \(answer.text)")
            return answer.status == 200
        }
    }
}
