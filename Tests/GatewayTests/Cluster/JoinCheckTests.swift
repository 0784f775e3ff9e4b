import Engine
import Foundation
import Identity
import Store
import TestProcesses
import TestStore
import Testing
import Wire

@testable import Backend
@testable import Gateway

/// Rooms whose home is not the coordinator, which alone knows the members of calls and the jobs of agents.
@Suite(.onOwnThread, .serialized, .enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
final class JoinCheckTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "join-checks-\(UUID().uuidString)").path
    private let cluster: TestCluster
    private let (coordinator, other): (CoordinatedNode, CoordinatedNode)
    private let users: [UserID]

    init() async throws {
        let store = try StorePlace(directory: directory).open(masterKeys: [MasterKey()])
        cluster = try TestCluster()
        let (first, second) = try CoordinatedNode.pair(cluster, store)
        var users: [UserID] = []
        for name in ["ann", "bob", "cid"] {
            users.append(
                try await store.accounts.user(
                    issuer: "tests", subject: name, email: nil, at: WallTime(milliseconds: TestToken.now * 1_000)
                ).id)
        }
        self.users = users
        try Patience.until("one node is the coordinator") { try [first, second].count { try $0.isCoordinator } == 1 }
        (coordinator, other) = try first.isCoordinator ? (first, second) : (second, first)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func refusal(of token: String?, at node: CoordinatedNode, path: String = "/v1/rtc") throws -> String? {
        let token = try #require(token)
        let answer = try #require(try HTTPConnection(node.gateway).answer(to: .upgrade(token: token, path: path)))
        #expect(answer.status == 403)
        return answer.code
    }

    @Test func whoHasLeftACallDoesNotComeBackWithItsOldToken() throws {
        let phones = try users.map { try other.device(of: $0) }
        let started = try phones[0].start(.user(Identity(text: users[1].text)), .user(Identity(text: users[2].text)))
        let ann = try started.join(other.gateway)
        var answers: [CallReply] = []
        for phone in phones.dropFirst() {
            try phone.event(.incoming, of: started.id)
            answers.append(try phone.ask(.answer(started.id)))
        }
        let (bob, cid) = (try answers[0].join(coordinator.gateway), try answers[1].join(other.gateway))
        #expect(try other.gateway.homeRooms == 1)
        _ = try phones[1].ask(.hangUp(started.id))
        #expect(try bob.closeCode() == CloseReason.removed.code)
        for node in [coordinator, other] {
            #expect(try refusal(of: answers[0].livekitToken, at: node) == "call_ended")
            #expect(try refusal(of: answers[0].livekitToken, at: node, path: "/v1/rtc?resume=RT_1") == "call_ended")
        }
        // Those who have not left may change their device.
        let again = try answers[1].join(coordinator.gateway)
        #expect(try cid.closeCode() == CloseReason.duplicateIdentity.code)
        _ = try phones[0].ask(.hangUp(started.id))
        for caller in [ann, again] { #expect(try caller.closeCode() == CloseReason.roomClosed.code) }
    }

    @Test func tokensOfACallThatIsOverOpenNoRoom() throws {
        let (annPhone, bobPhone) = (try other.device(of: users[0]), try coordinator.device(of: users[1]))
        let started = try annPhone.start(.user(Identity(text: users[1].text)))
        try bobPhone.event(.incoming, of: started.id)
        let answered = try bobPhone.ask(.answer(started.id))
        _ = try annPhone.ask(.hangUp(started.id))
        try bobPhone.event(.ended, of: started.id)
        for token in [started.livekitToken, answered.livekitToken] {
            for node in [other, coordinator] { #expect(try refusal(of: token, at: node) == "call_ended") }
        }
        #expect(try other.gateway.value(.rooms) == 0)
    }

    private func job(in room: String) -> JobInfo {
        JobInfo(id: JobID(text: "JB_1"), room: room, assistant: "helper", reason: .request, status: .running, attempt: 2)
    }

    private func token(of job: JobInfo, attempt: Int = 2) -> String {
        var job = job
        job.attempt = attempt
        return TestToken.joining(job.room, as: "assistant:helper") {
            $0.kind = .agent
            $0.attributes = [DispatchRegistry.attribute: DispatchRegistry.attributeValue(of: job)]
        }
    }

    @Test func agentsJoinOnlyForActiveJobs() throws {
        let ann = try Caller(other.gateway, room: "r", identity: "ann")
        let registry = try #require(coordinator.gateway.gateway.context.dispatch?.registry)
        var job = job(in: "r")
        registry.note(job, at: 0)
        #expect(try refusal(of: token(of: job, attempt: 1), at: other) == "job_ended", "another worker has the job")
        let agent = try Caller(on: other.gateway.webSocket(.upgrade(token: token(of: job))), goingOnAfter: 0)
        try agent.settle()
        job.status = .succeeded
        registry.note(job, at: 1)
        for node in [other, coordinator] { #expect(try refusal(of: token(of: job), at: node) == "job_ended") }
        try ann.settle()
    }

    @Test func agentsJoinSessionsThatTheCoordinatorDoesNotHave() throws {
        let started = try StartedSession(other.ask("/v1/sessions/start", ["context": "phone"], by: users[0]))
        let ann = try started.join(other.gateway)
        #expect(try other.gateway.homeRooms == 1)
        let job = job(in: started.room)
        try #require(coordinator.gateway.gateway.context.dispatch).registry.note(job, at: 0)
        let agent = try Caller(on: other.gateway.webSocket(.upgrade(token: token(of: job))), goingOnAfter: 0)
        let joined = try ann.event("the agent") { if case .participantJoined(let info) = $0 { info.identity } else { nil } }
        #expect(joined == agent.hello.participant.identity)
    }
}
