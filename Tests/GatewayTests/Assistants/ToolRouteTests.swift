import Backend
import Foundation
import Gateway
import HTTPServer
import Identity
import OutgoingHTTP
import Store
import Synchronization
import Testing
import Wire

/// Calls of tools through a gateway, to servers that answer in every way.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ToolRouteTests {
    /// A gateway whose assistant `shop` has the tool `find`, served by a receiver.
    private struct World {
        let tool: RawReceiver
        let gateway: TestGateway
        let counters = ServiceCounters()

        init(timeoutMs: Int = 5_000, url: String? = nil, _ answer: @escaping @Sendable (RawReceiver.Request, Int) -> RawReceiver.Answer)
            throws
        {
            let tool = try RawReceiver(answer)
            let definition = AssistantDefinition(
                id: "shop", tools: [AssistantTool(name: "find", url: url ?? tool.url("/find?x=1"), timeoutMs: timeoutMs)])
            let client = try OutgoingClient()
            let counters = counters
            gateway = try TestGateway(
                services: counters,
                serving: { _, keys in
                    ToolRoutes.routes(
                        ToolCaller(
                            AssistantDirectory(configured: [definition]), counters: counters, signer: { WebhookWorld.key },
                            sending: { client.outgoing(timeout: $0, responseBytesMax: $1) }),
                        keys: keys)
                })
            self.tool = tool
        }

        func call(
            _ body: String = #"{"arguments":"{\"title\":\"Emma\"}","room":"r","session_id":"s","call_id":"c1"}"#,
            tool name: String = "find",
            of assistant: String = "shop", token: String? = TestToken.assistant("shop"), with more: [(String, String)] = []
        ) throws -> HTTPAnswer {
            let fields = (token.map { [("Authorization", "Bearer " + $0)] } ?? []) + more
            let ask = HTTPAsk.json("POST", "/v1/assistants/\(assistant)/tools/\(name)", body, with: fields)
            let answer = try #require(try ask.answer(port: gateway.port))
            try Contract.hold(answer, to: ask, gateway.gateway.routes)
            return answer
        }

        func count(_ outcome: String) -> Int { counters.samples(of: .toolCalls).first { $0.value == outcome }?.count ?? -1 }
    }

    private static func ok(_ body: String) -> RawReceiver.Answer {
        .text("HTTP/1.1 200 OK\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    @Test func theToolReceivesASignedRequestAndItsResultComesBack() throws {
        let world = try World { _, _ in Self.ok(#"{"found":["Emma"]}"#) }
        let answer = try world.call()
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.json?["status"] as? Int == 200 && answer.json?["body"] as? String == #"{"found":["Emma"]}"#)

        let request = try #require(world.tool.requests.first)
        #expect(request.path == "/find?x=1" && request.fields["content-type"] == "application/json")
        let signature = try #require(request.fields["authorization"])
        #expect(BodySignature.isValid(signature, for: request.body, at: TestToken.now, key: WebhookWorld.key))
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == #"{"assistant":"shop","tool":"find","room":"r","session_id":"s","call_id":"c1","arguments":{"title":"Emma"}}"#)
        #expect(world.count("done") == 1)
        #expect(try world.gateway.metrics().value("patchbay_tool_calls") == 0)
    }

    @Test func theTraceOfACallIsContinuedWithANewSpan() throws {
        let world = try World { _, _ in Self.ok("") }
        let trace = try #require(TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"))
        #expect(try world.call(with: [("traceparent", trace.traceparent)]).status == 200)
        #expect(try world.call(with: [("traceparent", "malformed")]).status == 200)
        let sent = world.tool.requests.map { TraceContext(traceparent: $0.fields["traceparent"]) }
        #expect(sent.map { $0?.traceID } == [trace.traceID, nil] && sent[0]?.spanID != trace.spanID)
    }

    @Test(arguments: [
        (#"{"arguments":{"n":1.5,"titleName":"é","list":[null,true]}}"#, #"{"n":1.5,"titleName":"é","list":[null,true]}"#),
        // Text is passed on as it is.
        (#"{"arguments":"{ \"n\": 12345678901234567890.0 }"}"#, #"{ "n": 12345678901234567890.0 }"#),
        (#"{"arguments":"{}"}"#, "{}"),
    ])
    func argumentsAreAnObjectOrItsText(body: String, arguments: String) throws {
        let world = try World { _, _ in Self.ok("") }
        #expect(try world.call(body).status == 200)
        let received = String(decoding: try #require(world.tool.requests.first).body, as: UTF8.self)
        #expect(received == #"{"assistant":"shop","tool":"find","arguments":\#(arguments)}"#)
    }

    @Test(arguments: [
        #"{}"#, #"{"arguments":""}"#, #"{"arguments":"[]"}"#, #"{"arguments":"{\"a\":1}}"}"#, #"{"arguments":7}"#, #"{"arguments":null}"#,
        #"{"arguments":"{\"a\":1,\"a\":2}"}"#, #"{"arguments":{},"extra":1}"#,
        #"{"arguments":"{\"a\":\"\#(String(repeating: "x", count: 64 << 10))\"}"}"#,
    ])
    func otherArgumentsAreRefusedBeforeTheToolIsCalled(body: String) throws {
        let world = try World { _, _ in Self.ok("") }
        let answer = try world.call(body)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(world.tool.requests.isEmpty)
    }

    @Test func onlyTheAssistantItselfMayCallItsTools() throws {
        let world = try World { _, _ in Self.ok("") }
        #expect(try world.call(token: nil).status == 401)
        #expect(try world.call(token: TestToken.assistant("other")).status == 403)
        #expect(try world.call(token: TestToken.joining("r", as: "assistant:shop")).status == 403)
        #expect(try world.call(token: TestToken.administering { $0.roomCreate = true }).status == 403)
        #expect(try world.call(of: "other", token: TestToken.assistant("other")).code == "assistant_not_found")
        #expect(try world.call(tool: "lose").code == "tool_not_found")
        #expect(world.tool.requests.isEmpty)
    }

    @Test(arguments: [(301, false), (400, false), (404, false), (408, true), (429, true), (500, true), (503, true)])
    func aStatusOtherThan2xxIsAFailureWithThatStatus(status: Int, retry: Bool) throws {
        let elsewhere = try RawReceiver()
        defer { elsewhere.close() }
        let url = elsewhere.url()
        let world = try World { _, _ in .text("HTTP/1.1 \(status) X\r\nlocation: \(url)\r\ncontent-length: 0\r\n\r\n") }
        let answer = try world.call()
        #expect(answer.status == 502 && answer.code == "tool_failed", "\(answer.text)")
        #expect(answer.fields["x-patchbay-error"] == "tool_failed")
        #expect(answer.json?["status"] as? Int == status && answer.json?["retry"] as? Bool == retry)
        #expect(elsewhere.requests.isEmpty, "a redirect was followed")
        #expect(world.count("failed") == 1)
    }

    @Test func aLongResultIsCutOffAsAFailure() throws {
        let exact = String(repeating: "x", count: 64 << 10)
        let world = try World { _, number in
            Self.ok(number == 0 ? exact : number == 1 ? exact + "x" : String(repeating: "x", count: 1 << 20))
        }
        #expect(try world.call().json?["body"] as? String == exact)
        for _ in 1...2 {
            let answer = try world.call()
            #expect(answer.status == 502 && answer.code == "tool_failed" && answer.json?["retry"] as? Bool == false, "\(answer.text)")
            #expect(answer.text.contains("65536 bytes"))
        }
    }

    @Test func aResultThatIsNotTextIsAFailure() throws {
        // Latin-1, sent as a chunk whose bytes a Swift string cannot hold: a lone continuation byte.
        let world = try World(url: nil) { _, _ in .text("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\u{E9}") }
        #expect(try world.call().json?["body"] as? String == "é")
        let broken = try World { _, _ in .text("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n\u{E9}") }
        let answer = try broken.call()
        #expect(answer.status == 502 && answer.text.contains("not UTF-8") && answer.json?["retry"] as? Bool == false, "\(answer.text)")
    }

    @Test func aSilentToolTimesOut() throws {
        let world = try World(timeoutMs: 300) { _, _ in .silence }
        let begin = ContinuousClock.now
        let answer = try world.call()
        #expect(answer.status == 504 && answer.code == "tool_timeout" && answer.json?["retry"] as? Bool == true, "\(answer.text)")
        #expect(ContinuousClock.now - begin < .seconds(5))
        #expect(world.count("timeout") == 1)
    }

    @Test(arguments: ["http://127.0.0.1:1/", "https://nobody.invalid/"])
    func aToolThatCannotBeReachedMayBeTriedAgain(url: String) throws {
        let world = try World(url: url) { _, _ in Self.ok("") }
        let answer = try world.call()
        #expect(answer.status == 502 && answer.code == "tool_failed" && answer.json?["retry"] as? Bool == true, "\(answer.text)")
        #expect(!answer.text.contains("Emma"))
    }

    @Test func anAssistantHasALimitOfConcurrentCalls() throws {
        let world = try World(timeoutMs: 20_000) { _, _ in .silence }
        let statuses = Mutex<[Int]>([])
        for _ in 0..<ToolCaller.callsMax {
            Thread.detachNewThread {
                let status = (try? world.call().status) ?? 0
                statuses.withLock { $0.append(status) }
            }
        }
        try world.tool.wait(for: ToolCaller.callsMax)
        #expect(try world.gateway.metrics().value("patchbay_tool_calls") == Double(ToolCaller.callsMax))
        let answer = try world.call()
        #expect(answer.status == 429 && answer.code == "too_many_tool_calls" && answer.json?["retry"] as? Bool == true, "\(answer.text)")
        #expect(world.count("refused") == 1)
        world.tool.close()
        try Patience.until("all answers") { statuses.withLock { $0.count } == ToolCaller.callsMax }
        #expect(statuses.withLock { Set($0) } == [502])
        try Patience.until("no call in progress") { try world.gateway.metrics().value("patchbay_tool_calls") == 0 }
    }
}
