import Foundation
import Gateway
import Identity
import Sessions

/// A gateway with a store of its own, in a directory that is gone after the test.
final class TestBackend: Sendable {
    let gateway: TestGateway
    let store: Store
    let directory: String

    /// A session's room ends when nobody has been in it for a tenth of a second.
    init(outside: OutsideIssuer? = nil, _ change: (inout GatewaySettings) -> Void = { _ in }) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "patchbay-backend-\(UUID().uuidString)").path
        let store = try Store(
            directory: directory, masterKeys: [MasterKey()],
            passwordCost: PasswordHash.Cost(logBlocks: 10, blockSize: 1, parallelism: 1))
        let backend = try Backend(store: store, outside: outside)
        var keeper: SessionKeeper?
        gateway = try TestGateway(
            facts: backend.facts,
            serving: { desk, keys in
                let sessions = backend.sessions(desk, keys: keys)
                keeper = SessionKeeper(desk: sessions, facts: backend.facts, summarizer: ExtractiveSummarizer(), webhooks: { _ in [] })
                return backend.routes(sessions)
            }, change)
        self.store = store
        self.directory = directory
        // It ends with the gateway, and only then nobody needs the store any more.
        let keeping = Task { [keeper] in
            try await keeper?.run()
            try store.close()
            try FileManager.default.removeItem(atPath: directory)
        }
        TestGateway.waitsToo(for: keeping)
    }

    /// Whether any file of the store holds these words.
    func holds(_ words: String) throws -> Bool {
        let files = try FileManager.default.contentsOfDirectory(atPath: directory)
        return try files.contains { file in
            try Data(contentsOf: URL(filePath: directory + "/" + file)).range(of: Data(words.utf8)) != nil
        }
    }
}

/// Somebody with an account, and one device.
struct AppUser {
    static let password = "correct horse battery"

    let backend: TestBackend
    let email: String
    var id = ""
    var accessToken = ""
    var refreshToken = ""

    /// Registers.
    init(_ backend: TestBackend, _ email: String = "ann@example.org", logs: Bool = true) throws {
        self.backend = backend
        self.email = email
        let answer = try ask("POST", "/v1/auth/register", ["email": email, "password": Self.password])
        guard let json = answer.json, let id = json["id"] as? String, let access = json["access_token"] as? String,
            let refresh = json["refresh_token"] as? String
        else { throw DidNotHappen(what: "an account: \(answer.text)") }
        (self.id, accessToken, refreshToken) = (id, access, refresh)
        if logs {
            let answer = try ask("PATCH", "/v1/users/me", ["settings": ["logging_enabled": true]])
            guard answer.status == 200 else { throw DidNotHappen(what: "the user's consent: \(answer.text)") }
        }
    }

    /// One who shows a token that was made elsewhere.
    init(_ backend: TestBackend, token: String) {
        self.backend = backend
        email = ""
        accessToken = token
    }

    /// Asks with the user's token. Each answer is held to what the route says of itself.
    @discardableResult
    func ask(
        _ method: String, _ path: String, _ body: Any? = nil, with fields: [(String, String)] = [], from source: String = Loopback.fresh()
    ) throws -> HTTPAnswer {
        var fields = fields
        if !accessToken.isEmpty { fields.append(("Authorization", "Bearer " + accessToken)) }
        let ask: HTTPAsk
        if let body {
            ask = .json(method, path, [UInt8](try JSONSerialization.data(withJSONObject: body)), with: fields)
        } else {
            ask = HTTPAsk(method: method, path: path, fields: fields.map { (name: $0.0, value: $0.1) })
        }
        guard let answer = try ask.answer(port: backend.gateway.port, from: source) else {
            throw DidNotHappen(what: "an answer to \(method) \(path)")
        }
        try Contract.hold(answer, to: ask, backend.gateway.gateway.routes)
        return answer
    }

    /// Begins a session.
    func start(context: String = "phone", key: String? = nil) throws -> Ticket {
        let answer = try ask("POST", "/v1/sessions/start", ["context": context], with: key.map { [("Idempotency-Key", $0)] } ?? [])
        return try Ticket(answer)
    }

    @discardableResult
    func end(_ session: String) throws -> HTTPAnswer { try ask("POST", "/v1/sessions/end", ["session_id": session]) }

    @discardableResult
    func say(_ text: String, in session: String, at time: String = "2026-11-21T13:16:56Z", as speaker: String = "user") throws -> HTTPAnswer
    {
        try ask("POST", "/v1/sessions/\(session)/turn", ["speaker": speaker, "text": text, "timestamp": time])
    }

    /// What is told of a session: `session`, `summary`, `turns`.
    func show(_ session: String) throws -> [String: Any] {
        let answer = try ask("GET", "/v1/sessions/\(session)")
        guard answer.status == 200, let json = answer.json else { throw DidNotHappen(what: "a session: \(answer.text)") }
        return json
    }

    /// What was said, in order.
    func words(of session: String) throws -> [String] {
        (try show(session)["turns"] as? [[String: Any]] ?? []).compactMap { $0["text"] as? String }
    }

    /// The list's array.
    func sessions(_ path: String = "/v1/sessions") throws -> [[String: Any]] {
        try JSONSerialization.jsonObject(with: Data(ask("GET", path).body)) as? [[String: Any]] ?? []
    }
}

/// What `POST /v1/sessions/start` gives.
struct Ticket {
    let session: String
    let url: String
    let token: String
    let room: String

    init(_ answer: HTTPAnswer) throws {
        guard answer.status == 200, let json = answer.json as? [String: String], json.count == 4, let session = json["session_id"],
            let url = json["livekit_url"], let token = json["livekit_token"], let room = json["room_name"]
        else { throw DidNotHappen(what: "the four texts of a ticket: \(answer.text)") }
        (self.session, self.url, self.token, self.room) = (session, url, token, room)
    }

    /// Goes into the session's room, as the app would.
    func join(_ gateway: TestGateway) throws -> Caller { try Caller(on: gateway.webSocket(.upgrade(token: token)), goingOnAfter: 0) }
}
