import Engine
import Foundation
import Gateway
import Identity
import Testing
import Wire

/// Assistant processes that receive calls.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct AssistantCallTests {
    @Test func callByHTTPReachesAnAssistant() async throws {
        let node = try CallTestGateway()
        let ann = try await node.user("ann")
        let process = try node.assistant("helper")
        let answer = try ann.http("POST", "/v1/calls", #"{"to":["assistant:helper"]}"#)
        #expect(answer.status == 201)
        #expect(answer.json?["status"] as? String == "ringing")
        let call = try process.event(.incoming).call
        let helper = try process.ask(.answer(call.id)).join(node.gateway)
        #expect(helper.hello.participant.kind == .agent)
        #expect(helper.hello.participant.identity.text == "assistant:helper")
        let caller = try Caller(
            on: node.gateway.webSocket(.upgrade(token: answer.json?["livekit_token"] as? String ?? "")), goingOnAfter: 0)
        #expect(caller.hello.participants.map(\.identity.text) == ["assistant:helper"])
    }

    @Test func hangUpReleasesTheAssistant() async throws {
        let node = try CallTestGateway()
        let device = try await node.user("ann").device()
        let process = try node.assistant("helper")
        let call = try device.start(.assistant("helper"))
        let helper = try process.ask(.answer(call.id)).join(node.gateway)
        try device.ask(.hangUp(call.id))
        #expect(try process.event(.ended, of: call.id).call.status == .completed)
        #expect(try helper.closeCode() == 4102)
    }

    @Test func unansweredAssistantCallTimesOutWithAReason() async throws {
        let node = try CallTestGateway(settings: CallSettings(ringTime: .milliseconds(300)))
        let device = try await node.user("ann").device()
        let process = try node.assistant("helper")
        let call = try device.start(.assistant("helper"))
        #expect(try device.event(.missed, of: call.id).reason == "the assistant did not answer in time")
        #expect(try device.event(.ended, of: call.id).call.status == .timeout)
        #expect(try process.event(.ended, of: call.id).call.status == .timeout)
    }

    @Test func callToAnAssistantWithoutAProcessFailsWithAReason() async throws {
        let node = try CallTestGateway()
        let device = try await node.user("ann").device()
        _ = try node.assistant("another")
        let call = try device.start(.assistant("helper"))
        #expect(try device.event(.failed, of: call.id).reason == "no process of this assistant is connected")
        #expect(try device.event(.ended, of: call.id).call.status == .failed)
    }

    @Test func onlyAnAssistantTokenOpensAnAssistantChannel() throws {
        let node = try CallTestGateway()
        let changes: [(String, (inout AccessToken) -> Void)] = [
            ("unknown_issuer", { $0.video?.agent = false }), ("unknown_issuer", { $0.video = nil }),
            ("unknown_issuer", { $0.video = .joining("r") }), ("bad_identity", { $0.identity = "helper" }),
            ("bad_identity", { $0.identity = "assistant:" }), ("token_expired", { $0.expires = TestToken.now - 1_000 }),
        ]
        for (code, change) in changes {
            let ask = HTTPAsk.upgrade(token: TestToken.assistant("helper", change), path: "/v1/events")
            let answer = try #require(try HTTPConnection(node.gateway).answer(to: ask))
            #expect(answer.status == 401 && answer.code == code, "\(answer.code ?? "") instead of \(code)")
        }
    }

    @Test func assistantTokenOpensNeitherRoomsNorUserRoutes() throws {
        let node = try CallTestGateway()
        let token = TestToken.assistant("helper")
        #expect(try HTTPConnection(node.gateway).answer(to: .upgrade(token: token))?.status == 403)
        let calls = HTTPAsk(path: "/v1/calls", fields: [("Authorization", "Bearer " + token)])
        #expect(try HTTPConnection(node.gateway).answer(to: calls)?.status == 401)
    }
}
