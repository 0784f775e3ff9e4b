import Backend
import Engine
import Foundation
import Gateway
import Identity
import Testing
import Wire

/// The stored data of sessions, and access to it.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct SessionPrivacyTests {
    private static let secret = "meet me at the harbour"

    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        backend = try TestBackend { $0.room.resumeWindow = .seconds(20) }
        ann = try AppUser(backend)
    }

    private func segment(_ id: String, _ text: String = secret, rev: Int = 0, final: Bool = true) -> Request {
        .segment(TranscriptSegment(id: id, rev: rev, role: .user, text: text, final: final))
    }

    private func status(of session: String, _ user: AppUser) throws -> String? {
        (try user.show(session)["session"] as? [String: Any])?["summary_status"] as? String
    }

    @Test func anotherUsersSessionIsNotFound() throws {
        let session = try ann.start().session
        let bob = try AppUser(backend, "bob@example.org")
        let turn = ["speaker": "user", "text": "hi", "timestamp": "2026-11-21T13:16:56Z"]
        for id in [session, UUID().uuidString.lowercased()] {
            for (method, path, body) in [
                ("POST", "/v1/sessions/end", ["session_id": id] as [String: String]?), ("POST", "/v1/sessions/\(id)/turn", turn),
                ("POST", "/v1/sessions/\(id)/token", ["context": "web"]),
                ("GET", "/v1/sessions/\(id)", nil), ("GET", "/v1/sessions/\(id)/export", nil), ("DELETE", "/v1/sessions/\(id)", nil),
            ] {
                let answer = try bob.ask(method, path, body)
                #expect(answer.status == 404, "\(method) \(path)")
                #expect(answer.text == #"{"code":"not_found","message":"there is no such thing"}"#, "\(method) \(path): \(answer.text)")
            }
        }
        #expect(try bob.sessions().isEmpty)
        #expect((try ann.show(session)["session"] as? [String: Any])?["ended_at"] is NSNull, "it goes on")
    }

    @Test func unloggedSessionsAreNotWritten() throws {
        let bob = try AppUser(backend, "bob@example.org", logs: false)
        let started = try bob.start()
        #expect(try status(of: started.session, bob) == "none")
        let answer = try bob.say(Self.secret, in: started.session)
        #expect(answer.status == 200 && answer.json?["stored"] as? Bool == false)
        let caller = try started.join(backend.gateway)
        try caller.ask(segment("s1"))
        try caller.ask(.sendText(TextMessage(text: Self.secret)))
        // The setting at the session's start applies until its end.
        #expect(try bob.ask("PATCH", "/v1/users/me", ["settings": ["logging_enabled": true]]).status == 200)
        #expect(try bob.say(Self.secret, in: started.session).json?["stored"] as? Bool == false)
        try bob.end(started.session)
        // Stored after whatever was said before.
        let witness = try ann.start()
        try witness.join(backend.gateway).ask(segment("s1", "tomorrow"))
        try Patience.until("a later turn") { try ann.words(of: witness.session) == ["tomorrow"] }
        let detail = try bob.show(started.session)
        #expect((detail["turns"] as? [Any])?.isEmpty == true && detail["summary"] is NSNull)
        #expect((detail["session"] as? [String: Any])?["logging_enabled_snapshot"] as? Bool == false)
        #expect(try status(of: started.session, bob) == "none")
    }

    @Test func filesContainNoPlaintext() throws {
        let started = try ann.start(clientContext: "a rare context", key: "a rare key")
        try ann.say(Self.secret, in: started.session, audio: "a rare name")
        let caller = try started.join(backend.gateway)
        try caller.ask(segment("s1", "another rare sentence"))
        try caller.ask(.sendText(TextMessage(text: "a rare message")))
        try Patience.until("all turns") { try ann.words(of: started.session).count == 3 }
        for words in ["harbour", "rare", ann.email, AppUser.password] { #expect(try !backend.place.holds(words), "\(words) is in a file") }
    }

    @Test func carScreenReceivesNoTextWhileOtherDevicesDo() throws {
        let started = try ann.start(context: "carplay")
        let car = try started.join(backend.gateway)
        let helper = try Caller(backend.gateway, room: started.room, identity: "helper") { $0.kind = .agent }
        try helper.ask(segment("s1"))
        try helper.ask(.sendText(TextMessage(text: Self.secret)))
        try car.settle()
        #expect(car.events.allSatisfy { !"\($0)".contains("harbour") })
        try Patience.until("the phone sees it") { try ann.words(of: started.session) == [Self.secret, Self.secret] }
    }

    @Test func finalSegmentsBecomeTurnsOnceAcrossAReconnect() throws {
        let started = try ann.start()
        let phone = try started.join(backend.gateway)
        let helper = try Caller(backend.gateway, room: started.room, identity: "helper") { $0.kind = .agent }
        try helper.ask(segment("s1", "meet me", rev: 1, final: false))
        try helper.ask(segment("s1", rev: 2))
        try Patience.until("the turn") { try ann.words(of: started.session) == [Self.secret] }
        helper.socket.socket.reset()
        let again = try Caller(resuming: helper, on: backend.gateway)
        // The client does not know what arrived and sends it again.
        _ = try? again.ask(segment("s1", rev: 2))
        _ = try? again.ask(segment("s1", rev: 3))
        try again.ask(segment("s2", "tomorrow"))
        try Patience.until("the next turn") { try ann.words(of: started.session).contains("tomorrow") }
        #expect(try ann.words(of: started.session) == [Self.secret, "tomorrow"])
        withExtendedLifetime(phone) {}
    }
}
