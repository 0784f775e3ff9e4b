import Backend
import Engine
import Foundation
import Identity
import Store
import Testing
import Wire

/// The data stored of a session for each answer to the consent question, and without an answer.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct ConsentTests {
    /// An answer on the consent screen.
    enum Answer: String, CaseIterable {
        case allowed, refused, none
        /// The app has stored the switch, but not that its user has seen the question.
        case switchedUnasked

        var settings: [String: Bool] {
            switch self {
            case .allowed: ["logging_enabled": true, "has_seen_onboarding": true]
            case .refused: ["logging_enabled": false, "has_seen_onboarding": true]
            case .none: [:]
            case .switchedUnasked: ["logging_enabled": true, "has_seen_onboarding": false]
            }
        }
    }

    private static let secret = "meet me at the harbour"

    private let backend: TestBackend

    init() throws {
        backend = try TestBackend()
    }

    private func user(_ answer: Answer, _ email: String = "ann@example.org") throws -> AppUser {
        let user = try AppUser(backend, email, logs: false)
        if answer != .none { try set(answer.settings, of: user) }
        return user
    }

    private func set(_ settings: [String: Any], of user: AppUser) throws {
        #expect(try user.ask("PATCH", "/v1/users/me", ["settings": settings]).status == 200)
    }

    private func segment(_ id: String) -> Request {
        .segment(TranscriptSegment(id: id, role: .user, text: Self.secret, final: true))
    }

    @Test(arguments: Answer.allCases, ["phone", "carplay"])
    func onlyAnAllowedSessionIsStored(answer: Answer, context: String) throws {
        let ann = try user(answer)
        let started = try ann.start(context: context, clientContext: Self.secret)
        let device = try started.join(backend.gateway)
        // A car's display shows no text, so its user is informed on the phone.
        let says = answer == .allowed && context != "carplay"
        #expect(started.isLogged == says && device.hello.logged == says)

        let sends = try ann.say(Self.secret, in: started.session)
        #expect(sends.json?["stored"] as? Bool == (answer == .allowed))
        try device.ask(segment("s1"))
        try device.ask(.sendText(TextMessage(text: Self.secret)))
        try device.settle()
        try ann.end(started.session)
        // A later session's turn is stored after all earlier ones.
        let witness = try user(.allowed, "witness@example.org")
        let later = try witness.start()
        try later.join(backend.gateway).ask(segment("s1"))
        try Patience.until("a later turn") { try witness.words(of: later.session) == [Self.secret] }

        if answer == .allowed {
            try Patience.until("its summary") { try ann.show(started.session)["summary"] is [String: Any] }
            #expect(try ann.words(of: started.session) == [Self.secret, Self.secret, Self.secret])
            return
        }
        let detail = try ann.show(started.session)
        #expect(detail["summary"] is NSNull && (detail["turns"] as? [Any])?.isEmpty == true)
        let session = try #require(detail["session"] as? [String: Any])
        #expect(session["logging_enabled_snapshot"] as? Bool == false && session["summary_status"] as? String == "none")
        let export = try ann.ask("GET", "/v1/me/export").text
        #expect(!export.contains("harbour"), "\(export)")
        #expect(try ann.ask("GET", "/v1/sessions/\(started.session)/recordings").text == "[]")
    }

    @Test func furtherDevicesLearnWhetherTheSessionIsLogged() throws {
        let ann = try user(.allowed)
        let started = try ann.start(context: "carplay")
        // A later change applies to later sessions.
        try set(["logging_enabled": false], of: ann)
        for (context, isLogged) in [("phone", true), ("carplay", false)] {
            let device = try StartedSession(try ann.ask("POST", "/v1/sessions/\(started.session)/token", ["context": context]))
            #expect(device.isLogged == isLogged, "\(context)")
            #expect(try device.join(backend.gateway).hello.logged == isLogged, "\(context)")
        }
        #expect(try !ann.start().isLogged)
    }

    @Test func repeatedStartSaysWhatHoldsForItsSession() throws {
        let ann = try user(.none)
        #expect(try !ann.start(key: "k").isLogged)
        try set(Answer.allowed.settings, of: ann)
        #expect(try !ann.start(key: "k").isLogged)
        #expect(try ann.start(key: "l").isLogged)
    }

    @Test func agentsAreNotUsersAndOrdinaryRoomsAreNotLogged() throws {
        let started = try user(.allowed).start()
        let agent = try Caller(backend.gateway, room: started.room, identity: "assistant:guide") { $0.kind = .agent }
        #expect(agent.hello.logged == nil)
        #expect(try Caller(backend.gateway, room: "lobby", identity: "ann").hello.logged == false)
    }

    @Test func changingTheSwitchIsAnAnswer() throws {
        let ann = try user(.none)
        // A form is saved with the switch unchanged.
        try set(["voice": "nova", "logging_enabled": false], of: ann)
        #expect(try settings(of: ann)["has_seen_onboarding"] as? Bool == false)
        try set(["logging_enabled": true], of: ann)
        #expect(try settings(of: ann)["has_seen_onboarding"] as? Bool == true)
        #expect(try ann.start().isLogged)
        try set(["logging_enabled": false], of: ann)
        #expect(try settings(of: ann)["has_seen_onboarding"] as? Bool == true)
        #expect(try !ann.start().isLogged)
    }

    @Test(arguments: [#""true""#, "1", "null", "[]"])
    func answersOfOtherTypesAreRefusedOrNone(value: String) throws {
        let ann = try user(.none)
        let body = try JSONSerialization.jsonObject(with: Data(#"{"settings":{"logging_enabled":\#(value)}}"#.utf8))
        let answer = try ann.ask("PATCH", "/v1/users/me", body)
        #expect(value == "null" || answer.status == 400, "\(answer.status) \(answer.text)")
        #expect(try settings(of: ann)["has_seen_onboarding"] as? Bool == false)
        #expect(try !ann.start().isLogged)
    }

    private func settings(of user: AppUser) throws -> [String: Any] {
        try #require(try user.ask("GET", "/v1/users/me").json?["settings"] as? [String: Any])
    }
}
