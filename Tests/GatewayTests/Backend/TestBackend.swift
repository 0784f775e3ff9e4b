import Backend
import Foundation
import Gateway
import HTTPServer
import Identity
import OutgoingHTTP
import Store
import TestStore
import Wire

/// A gateway with its own store.
final class TestBackend: Sendable {
    let gateway: TestGateway
    let store: Store
    let place: BackendDirectory
    private let keeping: Task<Void, any Error>

    /// A session's room ends after being empty for 100 ms.
    ///
    /// - Parameters:
    ///   - records: whether logged sessions are recorded.
    ///   - database: of the store; nil: the place that `StorePlace` chooses.
    ///   - storeBytesMax: maximum size of a store in a file; nil for no limit.
    ///   - assistants: the configuration's.
    ///   - speech: makes speech clips, and plays them if it can.
    ///   - webhookEndpoints: URLs for which webhooks are stored; nothing sends them.
    ///   - apns: the settings of Apple's push service, and a sender for its requests.
    convenience init(
        externalIssuer: ExternalIssuer? = nil, records: Bool = false, database: PostgresSettings? = nil, storeBytesMax: Int? = nil,
        assistants: [AssistantDefinition] = [], speech: (any SpeechGenerator)? = nil, speechLimits: SpeechLimits = SpeechLimits(),
        accounts: AccountSettings = AccountSettings(), webhookEndpoints: [String] = [],
        apns: (settings: APNsSettings, send: Outgoing)? = nil,
        _ change: (inout GatewaySettings) -> Void = { _ in }
    ) throws {
        let place = try BackendDirectory(
            records: records, database: database, assistants: assistants, speech: speech, speechLimits: speechLimits)
        let backend = try place.open(
            externalIssuer: externalIssuer, storeBytesMax: storeBytesMax, accounts: accounts, webhookEndpoints: webhookEndpoints)
        try self.init(at: place, backend, apns, change)
    }

    private init(
        at place: BackendDirectory, _ backend: BackendServices, _ apns: (settings: APNsSettings, send: Outgoing)?,
        _ change: (inout GatewaySettings) -> Void
    ) throws {
        var keeper: AuditEventWriter?
        var calls: CallService?
        var speech: SpeechService?
        var push: PushService?
        gateway = try TestGateway(
            auditEvents: backend.auditEvents, recordings: backend.recordings, calls: backend.callInbox,
            serving: { rooms, keys in
                let sessions = backend.sessionService(rooms, keys: keys)
                keeper = backend.auditEventWriter(sessions, summarizer: ExtractiveSummarizer())
                let service = backend.callService(rooms, keys: keys, server: ServerInfo(version: "tests", node: "test"))
                calls = service
                let accepting: Outgoing = { _ in OutgoingResponse(status: 200) }
                push = backend.pushService(calls: service, apns: apns?.settings, sending: apns?.send ?? accepting)
                speech = place.speech.map {
                    backend.speechService(
                        $0, rooms, keys: keys, player: $0 as? any ClipPlayer, counters: ServiceCounters(),
                        limits: place.speechLimits)
                }
                let dispatch = DispatchService(
                    inbox: DispatchInbox(), rooms: rooms, keys: keys, server: ServerInfo(version: "tests", node: "test"))
                return backend.routes(sessions, service)
                    + LiveKitRoutes.routes(rooms, dispatch, backend.roomRecordings, keys: keys)
                    + AssistantRoutes.routes(backend.assistants, keys: keys, store: backend.store.assistants)
                    + SpeechRoutes.routes(speech, accounts: backend.accounts, assistants: backend.assistants, keys: keys)
            }, change)
        self.place = place
        store = backend.store
        // The service ends with the gateway; only then may the store be closed.
        keeping = Task { [keeper, calls, speech, push] in
            let pushing = Task { await push?.run() }
            let speaking = speech.map { speech in Task { try await speech.run() } }
            async let calling: Void? = calls?.run()
            try await keeper?.run()
            try await calling
            pushing.cancel()
            await pushing.value
            speaking?.cancel()
            try await speaking?.value
            try backend.store.close()
            withExtendedLifetime(place) {}
        }
        gateway.add(keeping)
    }

    /// Stops this gateway and starts another with the same store.
    func restarted(_ change: (inout GatewaySettings) -> Void = { _ in }) async throws -> TestBackend {
        for _ in 1...2 { gateway.gateway.drain() }
        try await keeping.value
        let backend = try place.open()
        try await backend.restore()
        return try TestBackend(at: place, backend, nil, change)
    }
}

/// A backend's directory, deleted with the last reference, and its database if it has one.
final class BackendDirectory: Sendable {
    private let place: StorePlace
    private let database: PostgresSettings?
    private let masterKey = MasterKey()
    private let records: Bool
    private let assistants: [AssistantDefinition]
    let speech: (any SpeechGenerator)?
    let speechLimits: SpeechLimits

    init(
        records: Bool, database: PostgresSettings? = nil, assistants: [AssistantDefinition] = [], speech: (any SpeechGenerator)? = nil,
        speechLimits: SpeechLimits = SpeechLimits()
    ) throws {
        place = try StorePlace(
            directory: FileManager.default.temporaryDirectory.appending(path: "patchbay-backend-\(UUID().uuidString)").path)
        self.database = database
        self.records = records
        self.assistants = assistants
        self.speech = speech
        self.speechLimits = speechLimits
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private var directory: String { place.directory }

    /// A loaded machine may be too slow for the time limits of a test.
    private func openPatiently(_ database: PostgresSettings, _ cost: PasswordHash.Cost) throws -> Store {
        for _ in 1...4 {
            if let store = try? Store(postgres: database, masterKeys: [masterKey], passwordCost: cost) { return store }
        }
        return try Store(postgres: database, masterKeys: [masterKey], passwordCost: cost)
    }

    func open(
        externalIssuer: ExternalIssuer? = nil, storeBytesMax: Int? = nil, accounts: AccountSettings = AccountSettings(),
        webhookEndpoints: [String] = []
    ) throws -> BackendServices {
        let cost = PasswordHash.Cost(logBlocks: 10, blockSize: 1, parallelism: 1)
        let store =
            if let database {
                try openPatiently(database, cost)
            } else {
                try place.open(masterKeys: [masterKey], passwordCost: cost, sizeMax: storeBytesMax)
            }
        return try BackendServices(
            store: store, externalIssuer: externalIssuer, recordingsDirectory: records ? recordings : nil,
            webhookEndpoints: webhookEndpoints, assistants: AssistantDirectory(configured: assistants), accountSettings: accounts)
    }

    var recordings: String { directory + "/recordings" }

    /// Whether any file, or the database, contains this text.
    func holds(_ text: String) throws -> Bool { try holds([UInt8](text.utf8)) }

    func holds(_ bytes: [UInt8]) throws -> Bool { try place.holds(bytes) }
}

/// A user with an account and one device.
struct AppUser {
    static let password = "correct horse battery"

    let backend: TestBackend
    let email: String
    var id = ""
    var accessToken = ""
    var refreshToken = ""

    /// Registers a new account.
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

    /// A user with an external issuer's token.
    init(_ backend: TestBackend, token: String) {
        self.backend = backend
        email = ""
        accessToken = token
    }

    /// The same user at another gateway with the same store.
    func on(_ backend: TestBackend) -> AppUser {
        var user = AppUser(backend, token: accessToken)
        user.id = id
        return user
    }

    /// Sends a request with the user's token and checks the response against the route's declaration.
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

    /// Starts a session.
    func start(context: String = "phone", clientContext: String? = nil, key: String? = nil) throws -> StartedSession {
        var body = ["context": context]
        body["client_context"] = clientContext
        let answer = try ask("POST", "/v1/sessions/start", body, with: key.map { [("Idempotency-Key", $0)] } ?? [])
        return try StartedSession(answer)
    }

    @discardableResult
    func end(_ session: String) throws -> HTTPAnswer { try ask("POST", "/v1/sessions/end", ["session_id": session]) }

    @discardableResult
    func say(
        _ text: String, in session: String, at time: String = "2026-11-21T13:16:56Z", as speaker: String = "user", audio: Any? = nil,
        key: String? = nil
    ) throws -> HTTPAnswer {
        var turn: [String: Any] = ["speaker": speaker, "text": text, "timestamp": time]
        turn["audio_ref"] = audio
        return try ask("POST", "/v1/sessions/\(session)/turn", turn, with: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    /// The session with `session`, `summary` and `turns`.
    func show(_ session: String) throws -> [String: Any] {
        let answer = try ask("GET", "/v1/sessions/\(session)")
        guard answer.status == 200, let json = answer.json else { throw DidNotHappen(what: "a session: \(answer.text)") }
        return json
    }

    /// The texts of a session's turns, in order.
    func words(of session: String) throws -> [String] {
        (try show(session)["turns"] as? [[String: Any]] ?? []).compactMap { $0["text"] as? String }
    }

    /// The list of sessions.
    func sessions(_ path: String = "/v1/sessions") throws -> [[String: Any]] {
        try JSONSerialization.jsonObject(with: Data(ask("GET", path).body)) as? [[String: Any]] ?? []
    }
}

/// The response to `POST /v1/sessions/start`.
struct StartedSession {
    let session: String
    let url: String
    let token: String
    let room: String
    let isLogged: Bool

    init(_ answer: HTTPAnswer) throws {
        guard answer.status == 200, let json = answer.json, json.count == 5, let session = json["session_id"] as? String,
            let url = json["livekit_url"] as? String, let token = json["livekit_token"] as? String,
            let room = json["room_name"] as? String, let isLogged = json["logged"] as? Bool
        else { throw DidNotHappen(what: "a started session: \(answer.text)") }
        (self.session, self.url, self.token, self.room, self.isLogged) = (session, url, token, room, isLogged)
    }

    /// Joins the session's room as the app would.
    func join(_ gateway: TestGateway) throws -> Caller { try Caller(on: gateway.webSocket(.upgrade(token: token)), goingOnAfter: 0) }
}
