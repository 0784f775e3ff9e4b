import Backend
import Foundation
import Gateway
import Store
import Testing
import Wire

/// `traceparent` of HTTP requests, and what is passed on.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct TraceTests {
    private static func traceparent(_ digit: Character) -> String { "00-\(String(repeating: digit, count: 32))-b7ad6b7169203331-01" }

    private func trace(of event: String, at backend: TestBackend) async throws -> TraceContext? {
        for _ in 0..<1_000 {
            if let found = try await backend.store.webhooks.list(limit: 1_000).first(where: { $0.webhook.event == event }) {
                return found.webhook.trace
            }
            try await Task.sleep(for: .milliseconds(30))
        }
        throw DidNotHappen(what: event)
    }

    private func ask(_ user: AppUser, _ path: String, _ body: Any, trace digit: Character?) throws -> HTTPAnswer {
        let answer = try user.ask("POST", path, body, with: digit.map { [("traceparent", Self.traceparent($0))] } ?? [])
        #expect(answer.status < 300, "\(answer.text)")
        return answer
    }

    @Test func webhooksOfASessionHaveTheTraceThatStartedOrChangedIt() async throws {
        let backend = try TestBackend(webhookEndpoints: ["https://hooks.example/"])
        let ann = try AppUser(backend)
        let started = try StartedSession(ask(ann, "/v1/sessions/start", ["context": "phone"], trace: "a"))
        let caller = try started.join(backend.gateway)
        #expect(try await trace(of: "participant_joined", at: backend)?.traceID == String(repeating: "a", count: 32))
        _ = try ask(ann, "/v1/sessions/end", ["session_id": started.session], trace: "b")
        _ = try caller.closeCode()
        #expect(try await trace(of: "room_finished", at: backend)?.traceID == String(repeating: "a", count: 32))
        #expect(try await trace(of: "session_ended", at: backend)?.traceID == String(repeating: "b", count: 32))
    }

    @Test func sessionKeepsItsTraceInTheStore() async throws {
        let backend = try TestBackend(webhookEndpoints: ["https://hooks.example/"])
        let ann = try AppUser(backend)
        let started = try StartedSession(ask(ann, "/v1/sessions/start", ["context": "phone"], trace: "a"))
        let (id, user) = (try #require(SessionID(text: started.session)), try #require(UserID(text: ann.id)))
        #expect(try await backend.store.sessions.session(id, of: user).trace?.traceparent == Self.traceparent("a"))
        _ = try ask(ann, "/v1/sessions/end", ["session_id": started.session], trace: nil)
        #expect(try await trace(of: "session_ended", at: backend)?.traceID == String(repeating: "a", count: 32))
    }

    @Test func webhooksOfACallHaveTheTraceThatStartedIt() async throws {
        let backend = try TestBackend(webhookEndpoints: ["https://hooks.example/"])
        let (ann, bob) = (try AppUser(backend), try AppUser(backend, "bob@example.org"))
        for (user, other) in [(ann, bob), (bob, ann)] {
            #expect(try user.ask("PUT", "/v1/contacts", ["contacts": [["address": other.email]]]).status == 204)
        }
        let answer = try ask(ann, "/v1/calls", ["to": [bob.id]], trace: "c")
        let call = try #require(answer.json?["call_id"] as? String)
        #expect(try await trace(of: "call_started", at: backend)?.traceID == String(repeating: "c", count: 32))
        #expect(try bob.ask("POST", "/v1/calls/\(call)/answer").status == 200)
        #expect(try await trace(of: "call_answered", at: backend)?.traceID == String(repeating: "c", count: 32))
        _ = try ask(bob, "/v1/calls/\(call)/hangup", [:] as [String: String], trace: "d")
        #expect(try await trace(of: "call_completed", at: backend)?.traceID == String(repeating: "d", count: 32))
    }

    @Test func refusalIsLoggedWithItsTrace() throws {
        let log = RecordedLog()
        let gateway = try TestGateway(operatorLog: log.operatorLog())
        for field in [Self.traceparent("e"), "malformed"] {
            let ask = HTTPAsk(path: "/v1/rooms", fields: [(name: "traceparent", value: field)])
            #expect(try ask.answer(port: gateway.port)?.status == 401)
        }
        try Patience.until("both refusals are logged") { log.lines("refused").count == 2 }
        #expect(log.lines("refused").map { $0["trace"] } == [String(repeating: "e", count: 32), nil])
    }
}
