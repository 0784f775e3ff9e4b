import Backend
import Cluster
import Engine
import Foundation
import HTTPServer
import Identity
import Synchronization
import TestProcesses
import Testing
import Wire

@testable import Gateway

/// Rooms of several gateways. `make test-cluster` covers the death of nodes and partitions; these tests show what clients see.
@Suite(.onOwnThread, .serialized, .enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
struct ClusterRoomTests {
    private let cluster: TestCluster
    private let (first, second): (TestGateway, TestGateway)

    init() throws {
        cluster = try TestCluster()
        (first, second) = try cluster.startPair()
    }

    @Test func participantsMeetWhateverNodeTheyConnectTo() throws {
        let ann = try first.join("ann")
        let bob = try second.join("bob")
        #expect(bob.hello.participants.map(\.identity.text) == ["ann"])
        #expect(bob.hello.server.node == "n1", "the room's home serves everybody")
        let (voice, answer) = (try ann.publish(), try bob.publish())
        for number in 0..<50 {
            try ann.say(TestFrame.bytes(voice.alias, number))
            #expect(try bob.frame() == TestFrame.bytes(voice.alias, number))
            try bob.say(TestFrame.bytes(answer.alias, number))
            #expect(try ann.frame() == TestFrame.bytes(answer.alias, number))
        }
        #expect(try first.homeRooms == 1)
        #expect(try second.homeRooms == 0)
    }

    @Test func roomMovesToAnotherNodeWhenItsHomeDrains() throws {
        let ann = try first.join("ann")
        let bob = try second.join("bob")
        let track = try ann.publish()
        first.gateway.drain()
        #expect(try ann.closeCode() == 4005)
        #expect(try bob.closeCode() == 4005)
        let sids = [ann, bob].map(\.hello.participant.sid)
        let annAgain = try Caller(movedFrom: ann, to: second)
        let bobAgain = try Caller(movedFrom: bob, to: second)
        #expect([annAgain, bobAgain].map(\.hello.participant.sid) == sids)
        #expect(annAgain.hello.participant.tracks?.map(\.sid) == [track.sid], "a published track stays published")
        #expect(annAgain.hello.snapshot == true)
        try annAgain.say(TestFrame.bytes(track.alias, 1))
        #expect(try bobAgain.frame() == TestFrame.bytes(track.alias, 1))
        #expect(try second.homeRooms == 1)
    }

    @Test func clientReturnsWhenTheNodeThatForwardsItDrains() throws {
        let ann = try first.join("ann")
        let bob = try second.join("bob")
        let voice = try ann.publish()
        second.gateway.drain()
        #expect(try bob.closeCode() == 4005)
        let bobAgain = try Caller(resuming: bob, on: first)
        #expect(bobAgain.hello.participant.sid == bob.hello.participant.sid)
        try ann.say(TestFrame.bytes(voice.alias, 1))
        #expect(try bobAgain.frame() == TestFrame.bytes(voice.alias, 1))
        #expect(try first.homeRooms == 1, "the room has not moved")
    }

    @Test func helloNamesTheOtherNodesThatClientsReach() throws {
        let third = try cluster.start { $0.cluster?.url = "wss://n3.example" }
        try cluster.meet(first, second, third)
        let ann = try first.join("ann")
        #expect(ann.hello.nodes == ["wss://n3.example"], "the second node has no URL")
        let bob = try Caller(third, room: "other", identity: "bob")
        #expect(bob.hello.nodes == nil)
        let cid = try Caller(second, room: "other", identity: "cid")
        #expect(cid.hello.nodes == ["wss://n3.example"], "the room's home is another node than that of the connection")
        let again = try Caller(resuming: ann, on: first)
        #expect(again.hello.resumed == true && again.hello.nodes == ["wss://n3.example"])
        third.gateway.drain()
        try Patience.until("a draining node is not named") {
            try Caller(first, room: "r", identity: "dan").hello.nodes == nil
        }
    }

    @Test func requestsAboutARoomAreAnsweredByAnyNode() throws {
        _ = try first.join("ann")
        let token = TestToken.administering { ($0.roomAdmin, $0.room) = (true, "r") }
        let ask = HTTPAsk(path: "/v1/rooms/r", fields: [("Authorization", "Bearer \(token)"), ("Connection", "close")])
        let answer = try #require(try ask.answer(port: second.port))
        #expect(answer.status == 200)
        #expect(answer.text.contains("\"ann\""))
        #expect(answer.fields["patchbay-elsewhere"] == nil, "names of nodes are not for clients")
    }

    @Test func anyNodeListsTheRoomsOfAllNodes() throws {
        _ = try Caller(first, room: "one", identity: "ann")
        _ = try Caller(second, room: "two", identity: "bob")
        let token = TestToken.administering { $0.roomList = true }
        for gateway in [first, second] {
            let ask = HTTPAsk(path: "/v1/rooms", fields: [("Authorization", "Bearer \(token)"), ("Connection", "close")])
            let rooms = try #require(try ask.answer(port: gateway.port)?.json?["rooms"] as? [[String: Any]])
            #expect(Set(rooms.map { $0["name"] as? String }) == ["one", "two"])
        }
    }

    @Test func roomWithoutAHomeIsNotFound() throws {
        let token = TestToken.administering { ($0.roomAdmin, $0.room) = (true, "r") }
        let ask = HTTPAsk(path: "/v1/rooms/r", fields: [("Authorization", "Bearer \(token)"), ("Connection", "close")])
        #expect(try #require(try ask.answer(port: second.port)).status == 404)
        #expect(try second.homeRooms == 0, "a question does not claim the room")
    }

    @Test func openRoomsGoOnWithoutTheBrokerAndNewOnesAreRefused() throws {
        let ann = try first.join("ann")
        let bob = try second.join("bob")
        let voice = try ann.publish()
        cluster.nats.kill()
        try Patience.until("the gateways notice") {
            try [first, second].allSatisfy { try $0.value(Counter(name: "patchbay_cluster_connected")) == 0 }
        }
        try ann.say(TestFrame.bytes(voice.alias, 1))
        #expect(try bob.frame() == TestFrame.bytes(voice.alias, 1))
        _ = try bob.publish()
        let ask = HTTPAsk.upgrade(token: TestToken.joining("new", as: "cid"), path: "/v1/rtc")
        let refused = try #require(try ask.answer(port: second.port))
        #expect(refused.status == 503)
        #expect(refused.fields["x-patchbay-error"] == "home_unavailable")
        try cluster.nats.start()
        try Patience.until("rooms begin again") { (try? Caller(second, room: "new", identity: "cid")) != nil }
    }

    @Test func newRoomIsRefusedWhileTheStoreCannotBeReached() throws {
        let store = ReachableStore()
        let third = try cluster.start { $0.cluster?.prepare = { _, _ in store.isReached } }
        try cluster.meet(first, second, third)
        let upgrade = HTTPAsk.upgrade(token: TestToken.joining("new", as: "cid"), path: "/v1/rtc")
        let refused = try #require(try upgrade.answer(port: third.port))
        #expect(refused.status == 503)
        #expect(refused.fields["x-patchbay-error"] == "store_busy")
        let ann = try first.join("ann")
        first.gateway.drain()
        #expect(try ann.closeCode() == 4005)
        _ = try Caller(movedFrom: ann, to: third)
        store.isReached = true
        _ = try Caller(third, room: "new", identity: "cid")
    }

    /// The coordinator has to, if the broker has lost its records and the store has not.
    @Test func roomThatWaitsForTheStoreRaisesItsEpochAndKeepsNobodyWaiting() throws {
        let store = ReachableStore()
        let third = try cluster.start {
            $0.cluster?.prepare = { room, _ in
                while room == "waiting", !store.isReached { try? await Task.sleep(for: .milliseconds(10)) }
                return true
            }
        }
        try cluster.meet(first, second, third)
        let rooms = try #require(third.gateway.context.cluster)
        let upgrade = HTTPAsk.upgrade(token: TestToken.joining("waiting", as: "cid"), path: "/v1/rtc")
        let refused = try #require(try upgrade.answer(port: third.port))
        #expect(refused.status == 503)
        #expect(refused.fields["x-patchbay-error"] == "store_busy")
        rooms.superseded("waiting", byNumber: 17)
        try Patience.until("its epoch is raised") { rooms.epoch(of: "waiting")?.number == 18 }
        #expect(!rooms.isHome(of: "waiting"))
        store.isReached = true
        try Patience.until("it is ready, in another epoch than it began with") { rooms.isHome(of: "waiting") }
        _ = try Caller(third, room: "waiting", identity: "cid")
    }

    /// The store of a node, as far as rooms ask for it.
    private final class ReachableStore: Sendable {
        private let state = Mutex(false)
        var isReached: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    @Test func roomEndsForTheClusterWhenItEnds() throws {
        let ann = try Caller(first, room: "r", identity: "ann")
        try ann.socket.send(text: #"{"type":"leave"}"#)
        try Patience.until("the room has no home") { try first.homeRooms == 0 }
        let bob = try second.join("bob")
        #expect(bob.hello.server.node == "n2")
    }

    @Test func busyNodeLeavesNewRoomsToTheOtherOne() async throws {
        let busy = try #require(first.gateway.context.cluster)
        #expect(try Caller(first, room: "before", identity: "ann").hello.server.node == "n1")
        var attempt = 0
        // Each second the node measures again that it is idle.
        try Patience.until("a new room begins at the other node") {
            attempt += 1
            busy.state.withLock { $0.load.busiest = 0.9 }
            return try Caller(first, room: "joined-\(attempt)", identity: "bob").hello.server.node == "n2"
        }
        var destination: String?
        while destination == nil, attempt < 1_000 {
            attempt += 1
            busy.state.withLock { $0.load.busiest = 0.9 }
            do throws(HTTPError) { _ = try await first.gateway.rooms.open("opened-\(attempt)", RoomOpening()) } catch {
                destination = error.node
            }
        }
        #expect(destination?.hasPrefix("n2/") == true, "the request to open a room is passed on")
        let forwarded = await ForwardedRequest.$isCurrent.withValue(true) {
            busy.state.withLock { $0.load.busiest = 0.9 }
            return try? await first.gateway.rooms.open("forwarded", RoomOpening())
        }
        #expect(forwarded != nil, "a node that another one has chosen keeps the room")
        busy.state.withLock { $0.load.busiest = 0.9 }
        #expect(try Caller(first, room: "before", identity: "cid").hello.server.node == "n1", "a room stays where it is")
        #expect(try Caller(second, room: "at-the-idle-one", identity: "dan").hello.server.node == "n2")
    }
}

extension Caller {
    /// Resumes on another node, whose event numbers are higher than all that the old one has used.
    convenience init(movedFrom lost: Caller, to gateway: TestGateway) throws {
        let socket = try lost.beginToResume(on: gateway)
        var greeting: (hello: Hello, seq: UInt64)?
        while greeting == nil {
            guard case .text(let text) = try socket.next(), case .event(let event, let number) = try ServerMessage(parsing: text) else {
                throw DidNotHappen(what: "hello")
            }
            guard number > lost.lastSeq else { throw DidNotHappen(what: "a number after \(lost.lastSeq), not \(number)") }
            if case .hello(let hello) = event { greeting = (hello, number) }
        }
        self.init(on: socket, greetedBy: greeting!.hello, seq: greeting!.seq)
    }
}
