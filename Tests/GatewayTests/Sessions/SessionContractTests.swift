import Foundation
import Identity
import Store
import Testing
import Wire

/// Conformance to the Voice Copilot contract.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct SessionContractTests {
    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        backend = try TestBackend()
        ann = try AppUser(backend)
    }

    @Test func startingASessionAdmitsToItsRoom() throws {
        let started = try ann.start()
        #expect(started.room == "session-" + started.session)
        #expect(started.url == "wss://127.0.0.1")
        let caller = try started.join(backend.gateway)
        #expect(caller.hello.room.name == started.room)
        #expect(caller.hello.participant.identity.text == ann.id)
        #expect(caller.hello.sessionId == started.session)
    }

    @Test func listHasTheContractsFieldsNewestFirst() throws {
        let first = try ann.start().session
        // Timestamps have a resolution of 1 ms.
        Thread.sleep(forTimeInterval: 0.002)
        let second = try ann.start().session
        try ann.end(first)
        let list = try ann.sessions()
        #expect(list.compactMap { $0["id"] as? String } == [second, first])
        for line in list { #expect(Set(line.keys) == ["id", "title", "summary_snippet", "started_at", "ended_at"]) }
        #expect(list[0]["ended_at"] is NSNull && list[1]["ended_at"] is String)
    }

    @Test func linkFieldPagesThroughTheWholeList() throws {
        let started = try (0..<5).map { _ in try ann.start().session }
        var (found, path): ([String], String?) = ([], "/v1/sessions?limit=2")
        var pages = 0
        while let next = path {
            let answer = try ann.ask("GET", next)
            let lines = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [[String: Any]] ?? []
            found += lines.compactMap { $0["id"] as? String }
            path = try answer.fields["link"].map { String(try #require($0.wholeMatch(of: /<([^>]*)>; rel="next"/)).1) }
            pages += 1
        }
        #expect(pages == 3 && found.count == 5 && Set(found) == Set(started))
    }

    @Test func turnRefersToItsAudio() throws {
        let session = try ann.start().session
        try ann.say("first", in: session, audio: "s3://calls/4711.ogg#t=12", key: "k")
        try ann.say("second", in: session, at: "2026-11-21T13:16:57Z")
        #expect(try ann.say("first", in: session, audio: "s3://calls/4711.ogg#t=12", key: "k").status == 200)
        #expect(try ann.say("first", in: session, audio: "another", key: "k").json?["code"] as? String == "idempotency_key_reused")
        let turns = try #require(try ann.show(session)["turns"] as? [[String: Any]])
        #expect(turns.map { $0["audio_ref"] as? String } == ["s3://calls/4711.ogg#t=12", nil])
        #expect(try ann.ask("GET", "/v1/sessions/\(session)/export?format=json").text.contains("4711.ogg"))
        #expect(try ann.ask("GET", "/v1/sessions/\(session)/recordings").text == "[]", "a reference is no recording")
    }

    @Test(arguments: ["" as any Sendable, String(repeating: "x", count: 257), 7, ["a.ogg"], true])
    func malformedReferenceToAudioIsRefused(reference: any Sendable) throws {
        let session = try ann.start().session
        let answer = try ann.say("first", in: session, audio: reference)
        #expect(answer.status == 400 && answer.text.contains("audio_ref"), "\(answer.text)")
        #expect(try ann.words(of: session).isEmpty)
    }

    @Test func sessionIsShownWithItsTurnsInOrder() throws {
        let session = try ann.start().session
        try ann.say("second", in: session, at: "2026-11-21T13:16:57.250Z", as: "assistant")
        try ann.say("first", in: session, at: "2026-11-21T14:16:56+01:00")
        let detail = try ann.show(session)
        #expect(detail["summary"] is NSNull)
        let turns = try #require(detail["turns"] as? [[String: Any]])
        for turn in turns { #expect(Set(turn.keys) == ["id", "timestamp", "speaker", "text"]) }
        #expect(turns.compactMap { $0["text"] as? String } == ["first", "second"])
        #expect(turns.compactMap { $0["speaker"] as? String } == ["user", "assistant"])
        #expect(turns.compactMap { $0["timestamp"] as? String } == ["2026-11-21T13:16:56.000Z", "2026-11-21T13:16:57.250Z"])
    }

    @Test func startIsIdempotentPerKey() throws {
        let session = try ann.start(key: "tap").session
        #expect(try ann.start(key: "tap").session == session)
        #expect(try ann.start(key: "another tap").session != session)
        #expect(try AppUser(backend, "bob@example.org").start(key: "tap").session != session, "keys are each user's own")
        #expect(try ann.sessions().count == 2)
    }

    @Test func runningSessionsOfAUserAreLimited() async throws {
        let user = try #require(UserID(text: ann.id))
        let (store, now) = (backend.store, WallTime(milliseconds: TestToken.now * 1_000))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<StoreLimits.openSessionsPerUserMax {
                group.addTask { _ = try await store.sessions.start(SessionRequest(context: "phone"), of: user, at: now) }
            }
            try await group.waitForAll()
        }
        let refusal = try ann.ask("POST", "/v1/sessions/start", ["context": "phone"])
        #expect(refusal.status == 429 && refusal.code == "too_many_sessions", "\(refusal.text)")
        #expect(refusal.text.contains("1,000 running sessions"))
        _ = try AppUser(backend, "bob@example.org").start()
        let last = try #require(try ann.sessions("/v1/sessions?limit=1").first?["id"] as? String)
        #expect(try ann.end(last).status == 200)
        _ = try ann.start()
    }

    @Test func keyOfAnotherRequestIsRefused() throws {
        let session = try ann.start(clientContext: "orders", key: "tap").session
        let key = [("Idempotency-Key", "tap")]
        for body in [
            ["context": "web", "client_context": "orders"], ["context": "phone"], ["context": "phone", "client_context": ""],
            ["context": "phone", "client_context": "orders", "assistant_id": "default"],
        ] {
            let answer = try ann.ask("POST", "/v1/sessions/start", body, with: key)
            #expect(answer.status == 422 && answer.code == "idempotency_key_reused", "\(body): \(answer.text)")
        }
        #expect(try ann.start(clientContext: "orders", key: "tap").session == session)

        let turn = ["speaker": "user", "text": "hello", "timestamp": "2026-11-21T13:16:56Z"]
        let path = "/v1/sessions/\(session)/turn"
        let first = try ann.ask("POST", path, turn, with: key)
        #expect(first.status == 200)
        #expect(try ann.ask("POST", path, turn, with: key).text == first.text)
        for (name, value) in [("speaker", "assistant"), ("text", "hello!"), ("timestamp", "2026-11-21T13:16:57Z")] {
            let answer = try ann.ask("POST", path, turn.merging([name: value]) { $1 }, with: key)
            #expect(answer.status == 422 && answer.code == "idempotency_key_reused", "\(name): \(answer.text)")
        }
        #expect(try ann.words(of: session) == ["hello"])
    }

    @Test(arguments: ["", "spaceship", "Phone", "phone ", "car play"])
    func unknownContextIsRefused(context: String) throws {
        let answer = try ann.ask("POST", "/v1/sessions/start", ["context": context])
        #expect(answer.status == 400 && answer.code == "invalid_body", "\(answer.text)")
    }

    @Test func anotherDeviceJoinsBesideTheFirst() throws {
        let started = try ann.start(context: "carplay")
        let car = try started.join(backend.gateway)
        let phone = try StartedSession(try ann.ask("POST", "/v1/sessions/\(started.session)/token", ["context": "phone"]))
        #expect(phone.session == started.session && phone.room == started.room && phone.token != started.token)
        let second = try phone.join(backend.gateway)
        #expect(second.hello.participant.identity != car.hello.participant.identity)
        #expect(second.hello.participant.identity.text.hasPrefix(ann.id + "."))
        _ = try car.event("the phone") {
            if case .participantJoined(let info) = $0, info.identity == second.hello.participant.identity { true } else { nil }
        }
        try car.settle()
        // The phone shows text, the car does not.
        let helper = try Caller(backend.gateway, room: started.room, identity: "assistant:guide") { $0.kind = .agent }
        try helper.ask(.sendText(TextMessage(text: "turn left")))
        _ = try second.event("text") { if case .text = $0 { true } else { nil } }
        try car.settle()
        #expect(!car.events.contains { if case .text = $0 { true } else { false } })
    }

    @Test func endedSessionAdmitsNoOtherDevice() throws {
        let session = try ann.start().session
        try ann.end(session)
        let answer = try ann.ask("POST", "/v1/sessions/\(session)/token", ["context": "phone"])
        #expect(answer.status == 409 && answer.code == "session_ended")
        #expect(try ann.ask("POST", "/v1/sessions/\(session)/token", ["context": "spaceship"]).status == 400)
    }

    @Test func endIsIdempotent() throws {
        let session = try ann.start().session
        let first = try ann.end(session)
        let second = try ann.end(session)
        #expect(first.status == 200 && second.status == 200)
        #expect(first.text == second.text && first.json?["ended_at"] is String)
    }

    @Test func participantsAreNotifiedWhenTheSessionIsEndedElsewhere() throws {
        let started = try ann.start()
        let phone = try started.join(backend.gateway)
        try ann.end(started.session)
        let reason = try phone.event("bye") { if case .bye(let reason, retryable: let mayReturn) = $0 { (reason, mayReturn) } else { nil } }
        #expect(reason.0 == .roomClosed && !reason.1)
        #expect(try phone.closeCode() == 4102)
    }

    @Test func roomOfAnEndedSessionAdmitsNobody() throws {
        let started = try ann.start()
        try ann.end(started.session)
        #expect { try started.join(backend.gateway) } throws: { error in
            guard let refused = error as? RawWebSocket.Refused else { return false }
            return refused.answer.status == 403 && refused.answer.code == "session_ended"
        }
    }

    @Test func sessionEndsWithItsRoom() throws {
        let started = try ann.start()
        let caller = try started.join(backend.gateway)
        try caller.socket.send(text: #"{"type":"leave"}"#)
        #expect(try caller.closeCode() == 1000)
        try Patience.until("the session's end") {
            let session = try ann.show(started.session)["session"] as? [String: Any]
            return session?["ended_at"] is String
        }
    }

    @Test func endedSessionGetsASummary() throws {
        let session = try ann.start().session
        try ann.say("Please book a table for two at the harbour tomorrow at seven.", in: session)
        try ann.say("I have booked a table for two at the harbour.", in: session, as: "assistant")
        try ann.end(session)
        try Patience.until("a summary") { try ann.show(session)["summary"] is [String: Any] }
        let detail = try ann.show(session)
        let summary = try #require(detail["summary"] as? [String: Any])
        #expect(Set(summary.keys) == ["id", "title", "summary_text", "action_items", "tags", "created_at"])
        #expect((detail["session"] as? [String: Any])?["summary_status"] as? String == "ready")
        #expect(try ann.sessions()[0]["title"] as? String == summary["title"] as? String)
    }

    @Test func turnAfterTheEndRemakesTheSummary() throws {
        let session = try ann.start().session
        try ann.say("Hello there.", in: session)
        try ann.end(session)
        func summary(_ name: String) throws -> String? { (try ann.show(session)["summary"] as? [String: Any])?[name] as? String }
        func status() throws -> String? { (try ann.show(session)["session"] as? [String: Any])?["summary_status"] as? String }
        try Patience.until("a summary") { try status() == "ready" }
        let first = try summary("id")
        try ann.say("Please book a balloon for two at the harbour tomorrow at seven.", in: session)
        try Patience.until("another summary") { try summary("id") != first && status() == "ready" }
        #expect(try summary("summary_text")?.contains("balloon") == true)
    }

    @Test func deletedSessionIsGoneAndItsRoomCloses() throws {
        let (first, second, third) = (try ann.start(), try ann.start(), try ann.start())
        let caller = try first.join(backend.gateway)
        #expect(try ann.ask("DELETE", "/v1/sessions/\(first.session)").status == 204)
        #expect(try caller.closeCode() == 4102)
        #expect(try ann.ask("DELETE", "/v1/sessions/\(first.session)").status == 404)
        #expect(try ann.sessions().count == 2)
        #expect(try ann.ask("DELETE", "/v1/sessions").status == 204)
        for session in [second, third] { #expect(try ann.ask("GET", "/v1/sessions/\(session.session)").status == 404) }
        #expect(try ann.sessions().isEmpty)
    }

    @Test(arguments: [
        ("txt", "text/plain"), ("json", "application/json"), ("vtt", "text/vtt"), ("srt", "application/x-subrip"),
        ("pdf", "application/pdf"),
    ])
    func sessionIsExported(format: String, type: String) throws {
        let session = try ann.start().session
        try ann.say("meet me at the harbour", in: session)
        let answer = try ann.ask("GET", "/v1/sessions/\(session)/export?format=\(format)")
        #expect(answer.status == 200 && answer.fields["content-type"]?.hasPrefix(type) == true)
        #expect(answer.fields["content-disposition"]?.hasSuffix(".\(format)\"") == true)
        #expect(format == "pdf" ? answer.text.hasPrefix("%PDF-") : answer.text.contains("meet me at the harbour"))
    }

    @Test func exportFollowsTheSessionsLanguageAndTheUsersTimeZone() throws {
        func set(_ language: String, _ zone: String) throws {
            #expect(try ann.ask("PATCH", "/v1/users/me", ["settings": ["language": language, "time_zone": zone]]).status == 200)
        }
        try set("de-DE", "Pacific/Kiritimati")
        let session = try ann.start().session
        try ann.say("Guten Tag", in: session)
        let abroad = try ann.ask("GET", "/v1/sessions/\(session)/export?format=txt")
        try set("fr", "Etc/GMT+12")
        let home = try ann.ask("GET", "/v1/sessions/\(session)/export?format=txt")
        for answer in [abroad, home] { #expect(answer.text.contains("Du: Guten Tag"), "the session was German: \(answer.text)") }
        // The zones are 26 hours apart, so the day differs.
        let names = [abroad, home].map { $0.fields["content-disposition"] ?? "" }
        #expect(names[0] != names[1] && names.allSatisfy { $0.contains("session-20") })
        let shown = try ann.show(session)["session"] as? [String: Any]
        #expect(shown?["language"] as? String == "de-DE")
        #expect(try ann.start().session != session)
    }
}
