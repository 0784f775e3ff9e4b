import Backend
import Gateway
import Testing
import Wire

/// Requests to a draining gateway.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(3)))
struct BackendDrainTests {
    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        backend = try TestBackend { $0.drainTimeout = .seconds(60) }
        ann = try AppUser(backend)
    }

    @Test func drainRefusesNewSessionsAndCalls() throws {
        let started = try ann.start()
        let phone = try started.join(backend.gateway)
        let bob = try AppUser(backend, "bob@example.org")
        backend.gateway.gateway.drain()
        _ = try phone.event("draining") { if case .serverDraining = $0 { true } else { nil } }
        for (path, body) in [("/v1/sessions/start", ["context": "phone"] as [String: Any]), ("/v1/calls", ["to": [bob.id]])] {
            let answer = try ann.ask("POST", path, body)
            #expect(answer.status == 503 && answer.code == "draining", "\(path): \(answer.text)")
        }
        #expect(try ann.sessions().count == 1)
        let calls = try ann.ask("GET", "/v1/calls")
        #expect(calls.status == 200 && calls.text == "[]")
    }

    @Test func drainCompletesWhatIsInProgress() throws {
        let started = try ann.start()
        let phone = try started.join(backend.gateway)
        // Keeps the gateway running, whatever happens to the session's room.
        let other = try Caller(backend.gateway, room: "lobby", identity: "other")
        backend.gateway.gateway.drain()
        #expect(try ann.say("meet me at the harbour", in: started.session).json?["stored"] as? Bool == true)
        #expect(try ann.end(started.session).status == 200)
        #expect(try phone.closeCode() == 4102)
        #expect(try ann.words(of: started.session) == ["meet me at the harbour"])
        withExtendedLifetime(other) {}
    }
}
