import Backend
import Cluster
import Engine
import Foundation
import Identity
import Store
import TestProcesses
import TestStore
import Testing
import Wire

@testable import Gateway

/// Users' channels, calls and dispatch of several gateways, which one of them serves.
@Suite(.onOwnThread, .serialized, .enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
final class CoordinatorTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "coordinator-\(UUID().uuidString)").path
    private let cluster: TestCluster
    private let (first, second): (CoordinatedNode, CoordinatedNode)
    private let (ann, bob): (UserID, UserID)

    init() async throws {
        let store = try StorePlace(directory: directory).open(masterKeys: [MasterKey()])
        cluster = try TestCluster()
        (first, second) = try CoordinatedNode.pair(cluster, store)
        let now = WallTime(milliseconds: TestToken.now * 1_000)
        ann = try await store.accounts.user(issuer: "tests", subject: "ann", email: nil, at: now).id
        bob = try await store.accounts.user(issuer: "tests", subject: "bob", email: nil, at: now).id
        let nodes = [first, second]
        try Patience.until("one node is the coordinator") { try nodes.count { try $0.isCoordinator } == 1 }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    @Test func usersOfDifferentNodesCallEachOther() throws {
        let (annPhone, bobPhone) = (try first.device(of: ann), try second.device(of: bob))
        let started = try annPhone.start(.user(Identity(text: bob.text)))
        try bobPhone.event(.incoming, of: started.id)
        let answered = try bobPhone.ask(.answer(started.id))
        let (annInRoom, bobInRoom) = (try started.join(first.gateway), try answered.join(second.gateway))
        let voice = try annInRoom.publish()
        try annInRoom.say(TestFrame.bytes(voice.alias, 1))
        #expect(try bobInRoom.frame() == TestFrame.bytes(voice.alias, 1))
        _ = try annPhone.ask(.hold(started.id, held: true))
        try bobPhone.event(.held, of: started.id)
        _ = try bobPhone.ask(.hangUp(started.id))
        #expect(try annPhone.event(.ended, of: started.id).call.status == .completed)
        #expect(try annInRoom.closeCode() == CloseReason.roomClosed.code)
        #expect(try bobInRoom.closeCode() == CloseReason.roomClosed.code)
    }

    @Test func helloOfAChannelNamesTheOtherNodes() throws {
        let (coordinator, other) = try first.isCoordinator ? (first, second) : (second, first)
        #expect(try coordinator.device(of: ann).hello.nodes == [other.url])
        let forwarded = try #require(try other.device(of: bob).hello.nodes)
        #expect(forwarded.contains(coordinator.url), "the coordinator is another node than that of the connection")
        let worker = try other.gateway.webSocket(.upgrade(token: TestToken.assistant("helper"), path: "/v1/events"))
        #expect(try worker.read(until: #""type":"hello""#).contains(coordinator.url))
    }

    @Test func callIsHeldInARoomThatAnotherNodeServes() throws {
        let (coordinator, other) = try first.isCoordinator ? (first, second) : (second, first)
        let (annPhone, bobPhone) = (try other.device(of: ann), try coordinator.device(of: bob))
        let started = try annPhone.start(.user(Identity(text: bob.text)))
        // The node that is asked first becomes the room's home.
        let annInRoom = try started.join(other.gateway)
        #expect(try other.gateway.homeRooms == 1)
        try bobPhone.event(.incoming, of: started.id)
        let bobInRoom = try bobPhone.ask(.answer(started.id)).join(coordinator.gateway)
        _ = try annPhone.ask(.hangUp(started.id))
        #expect(try bobPhone.event(.ended, of: started.id).call.status == .completed)
        #expect(try annInRoom.closeCode() == CloseReason.roomClosed.code)
        #expect(try bobInRoom.closeCode() == CloseReason.roomClosed.code)
    }

    @Test func formerHomeOfARoomDoesNotEndItsCallAfterAPartition() throws {
        let (coordinator, other) = try first.isCoordinator ? (first, second) : (second, first)
        let (annPhone, bobPhone) = (try other.device(of: ann), try coordinator.device(of: bob))
        let started = try annPhone.start(.user(Identity(text: bob.text)))
        let annInRoom = try started.join(other.gateway)
        try bobPhone.event(.incoming, of: started.id)
        let bobInRoom = try bobPhone.ask(.answer(started.id)).join(coordinator.gateway)
        let formerEpoch = try #require(other.gateway.gateway.context.cluster?.epoch(of: CallInfo.room(of: started.id)))
        let epoch = RoomEpoch(number: formerEpoch.number + 1, claim: 0)
        func report(_ changes: [CallRoomChange], in epoch: RoomEpoch, by sender: String) throws {
            let batch = NodeMessageBatch(
                sender: sender, number: 1, messages: changes.map { .calls(.room(started.id, $0, isLoss: true, epoch: epoch)) })
            let context = coordinator.gateway.gateway.context
            let name = try #require(context.cluster?.identity.description)
            let key = cluster.key.derived(for: "messages between nodes")
            #expect(try #require(context.coordination).receive(SealedBox.seal(batch.bytes, with: key, at: name)))
        }
        let identities = [ann, bob].map { Identity(text: $0.text) }
        // A third node takes the room over from one that is cut off, which tells that everybody has left.
        try report(identities.map { .joined($0) }, in: epoch, by: "n8/1")
        try report(identities.map(CallRoomChange.left) + [.ended], in: formerEpoch, by: "n9/1")
        _ = try annPhone.ask(.hold(started.id, held: true))
        try bobPhone.event(.held, of: started.id)
        _ = try annPhone.ask(.hangUp(started.id))
        #expect(try bobPhone.event(.ended, of: started.id).call.status == .completed)
        #expect(try annInRoom.closeCode() == CloseReason.roomClosed.code)
        #expect(try bobInRoom.closeCode() == CloseReason.roomClosed.code)
    }

    @Test func callGoesOnWhenTheCoordinatorDrains() throws {
        let (coordinator, other) = try first.isCoordinator ? (first, second) : (second, first)
        let (annPhone, bobPhone) = (try coordinator.device(of: ann), try other.device(of: bob))
        let started = try annPhone.start(.user(Identity(text: bob.text)))
        try bobPhone.event(.incoming, of: started.id)
        let answered = try bobPhone.ask(.answer(started.id))
        let (annInRoom, bobInRoom) = (try started.join(coordinator.gateway), try answered.join(coordinator.gateway))
        coordinator.gateway.gateway.drain()
        #expect(try annPhone.ending() == CloseReason.serverShutdown.code)
        #expect(try bobPhone.ending() == CloseReason.serverShutdown.code)
        let annAgain = try other.device(of: ann)
        let bobAgain = try other.device(of: bob)
        #expect(annAgain.hello.calls.map(\.id) == [started.id], "the call is still there")
        let annHere = try Caller(movedFrom: annInRoom, to: other.gateway)
        let bobHere = try Caller(movedFrom: bobInRoom, to: other.gateway)
        _ = try annAgain.ask(.hangUp(started.id))
        #expect(try bobAgain.event(.ended, of: started.id).call.seq > answered.call!.seq)
        #expect(try annHere.closeCode() == CloseReason.roomClosed.code)
        #expect(try bobHere.closeCode() == CloseReason.roomClosed.code)
    }

    /// Only the former coordinator and the room know that Ann is on hold and muted.
    @Test(arguments: [false, true])
    func memberOnHoldResumesAtTheNextCoordinator(roomMovesToo: Bool) throws {
        let (coordinator, other) = try first.isCoordinator ? (first, second) : (second, first)
        let (annPhone, bobPhone) = (try coordinator.device(of: ann), try other.device(of: bob))
        let started = try annPhone.start(.user(Identity(text: bob.text)))
        try bobPhone.event(.incoming, of: started.id)
        let answered = try bobPhone.ask(.answer(started.id))
        let home = (roomMovesToo ? coordinator : other).gateway
        var (annInRoom, bobInRoom) = (try started.join(home), try answered.join(home))
        let voice = try annInRoom.publish()
        _ = try annPhone.ask(.hold(started.id, held: true))
        _ = try annPhone.ask(.mute(started.id, muted: true))
        let identity = Identity(text: ann.text)
        try bobInRoom.await(.callHeld(by: identity))
        try bobInRoom.await(.callMuted(by: identity))
        coordinator.gateway.gateway.drain()
        #expect(try annPhone.ending() == CloseReason.serverShutdown.code)
        if roomMovesToo {
            #expect(try annInRoom.closeCode() == 4005)
            #expect(try bobInRoom.closeCode() == 4005)
            annInRoom = try Caller(movedFrom: annInRoom, to: other.gateway)
            bobInRoom = try Caller(movedFrom: bobInRoom, to: other.gateway)
        }
        try Patience.until("the next coordinator knows that Ann is on hold and muted") {
            let member = try other.device(of: ann).hello.calls.first?.member(.user(identity))
            return member?.held == true && member?.muted == true
        }
        let annAgain = try other.device(of: ann)
        #expect(try annAgain.ask(.hold(started.id, held: false)).call?.member(.user(identity))?.held == false)
        #expect(try annAgain.ask(.mute(started.id, muted: false)).call?.member(.user(identity))?.muted == false)
        // Ann's shard has applied both when she learns of it.
        try annInRoom.await(.callResumed(by: identity))
        try annInRoom.await(.callUnmuted(by: identity))
        try annInRoom.say(TestFrame.bytes(voice.alias, 1))
        #expect(try bobInRoom.frame() == TestFrame.bytes(voice.alias, 1))
    }

    @Test func workerServesTheRoomsOfAllNodes() throws {
        let (coordinator, other) = try first.isCoordinator ? (first, second) : (second, first)
        let worker = try other.worker(of: "helper")
        var users: [Caller] = []
        for (node, room) in [(coordinator, "r1"), (other, "r2")] {
            let token = TestToken.joining(room, as: "ann") {
                $0.roomSettings = TokenRoomSettings(agents: [TokenAgent(agentName: "helper")])
            }
            users.append(try Caller(on: node.gateway.webSocket(.upgrade(token: token)), goingOnAfter: 0))
            let offer = try worker.read(until: #""type":"job.offered""#)
            #expect(offer.contains(#""room":"\#(room)""#))
            // A worker that does not answer gets no further offers.
            let job = try #require(offer.firstMatch(of: /"id":"(JB_[^"]+)"/)).1
            try worker.send(text: #"{"type":"job.accept","id":2,"data":{"job":"\#(job)"}}"#)
            #expect(try worker.read(until: #""re":2"#).contains(#""livekit_token""#))
        }
    }

    /// The room goes on, so its jobs do, too.
    @Test func agentMovesWithItsRoomWhenTheHomeDrains() throws {
        let (coordinator, other) = try first.isCoordinator ? (first, second) : (second, first)
        let worker = try coordinator.worker(of: "helper")
        let token = TestToken.joining("r", as: "ann") {
            $0.roomSettings = TokenRoomSettings(agents: [TokenAgent(agentName: "helper")])
        }
        let ann = try Caller(on: other.gateway.webSocket(.upgrade(token: token)), goingOnAfter: 0)
        #expect(try other.gateway.homeRooms == 1)
        let offer = try worker.read(until: #""type":"job.offered""#)
        let job = try #require(offer.firstMatch(of: /"id":"(JB_[^"]+)"/)).1
        try worker.send(text: #"{"type":"job.accept","id":2,"data":{"job":"\#(job)"}}"#)
        let accepted = try worker.read(until: #""re":2"#)
        let agentToken = String(try #require(accepted.firstMatch(of: /"livekit_token":"([^"]+)"/)).1)
        let agent = try Caller(on: other.gateway.webSocket(.upgrade(token: agentToken)), goingOnAfter: 0)
        other.gateway.gateway.drain()
        #expect(try ann.closeCode() == 4005)
        #expect(try agent.closeCode() == 4005)
        _ = try Caller(movedFrom: ann, to: coordinator.gateway)
        _ = try Caller(movedFrom: agent, to: coordinator.gateway)
        try worker.send(text: #"{"type":"ping","id":3,"data":{"t":1}}"#)
        let next = try worker.read(until: #""type":"#)
        #expect(next.contains(#""re":3"#), "the job is not cancelled: \(next)")
    }

    @Test func requestsAboutCallsAndJobsAreAnsweredByAnyNode() throws {
        let phone = try first.device(of: ann)
        let started = try phone.start(.user(Identity(text: bob.text)))
        for node in [first, second] {
            let fields = [("Authorization", "Bearer " + (try node.token(of: bob))), ("Connection", "close")]
            let answer = try #require(try HTTPAsk(path: "/v1/calls", fields: fields).answer(port: node.gateway.port))
            #expect(answer.status == 200 && answer.text.contains(started.id.text))
            let admin = TestToken.administering { ($0.roomAdmin, $0.room) = (true, "r") }
            let jobs = HTTPAsk(path: "/v1/rooms/r/agents", fields: [("Authorization", "Bearer " + admin), ("Connection", "close")])
            #expect(try #require(try jobs.answer(port: node.gateway.port)).status == 200)
        }
    }

    @Test func liveKitsServerAPIIsAnsweredByAnyNode() throws {
        let ann = try Caller(first.gateway, room: "lk", identity: "ann")
        let admin = TestToken.administering { ($0.roomAdmin, $0.room) = (true, "lk") }
        for node in [first, second] {
            func answer(_ method: String, _ body: String) throws -> HTTPAnswer {
                let fields = [("Authorization", "Bearer " + admin), ("Connection", "close")]
                let ask = HTTPAsk.json("POST", "/twirp/livekit.RoomService/\(method)", body, with: fields)
                return try #require(try ask.answer(port: node.gateway.port))
            }
            #expect(try answer("ListParticipants", #"{"room":"lk"}"#).text.contains(#""identity":"ann""#))
            #expect(try answer("SendData", #"{"room":"lk","data":"aGk="}"#).status == 200)
            _ = try ann.event("data") { if case .data = $0 { true } else { nil } }
        }
    }

    @Test func messagesAreOnlyTakenFromNodesOfTheCluster() throws {
        let port = try #require(first.gateway.gateway.nodesPort)
        let forged = HTTPAsk.json("POST", "/cluster/messages", "{}", with: [("Connection", "close")], type: "application/octet-stream")
        #expect(try #require(try forged.answer(port: port)).status == 400)
        #expect(try #require(try forged.answer(port: first.gateway.port)).status == 404, "the public port has no such path")
    }
}
