import Engine
import Foundation
import Gateway
import Identity
import PatchbayAgents
import PatchbayClient
import Sockets
import Store
import Testing
import Wire

@testable import Backend

/// A real gateway with dispatch, over TLS, with or without a store.
final class WorkerGateway: Sendable {
    let port: Int
    let backend: BackendServices?
    private let gateway: Gateway
    private let dispatch: DispatchInbox
    private let service: DispatchService?
    private let sessions: SessionService?
    private let running: Task<Void, any Error>

    static let keys = Result { try KeyRing([IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))]) }

    /// - Parameters:
    ///   - port: 0 for a free one.
    ///   - storeDirectory: nil for a gateway without accounts and calls.
    ///   - speech: makes speech clips, with a store.
    ///   - patience: factor of the times that workers and agents have.
    init(
        port: Int = 0, storeDirectory: String? = nil, speech: (any SpeechGenerator)? = nil, rules: [DispatchRule] = [], shardCount: Int = 2,
        definition: @escaping @Sendable (String) -> AssistantDefinition? = WorkerGateway.helper,
        definedAssistants: @escaping @Sendable () -> [String] = { [] }, patience: Int = 20
    ) throws {
        let dispatch = DispatchInbox()
        let backend = try storeDirectory.map { directory in
            let cost = PasswordHash.Cost(logBlocks: 10, blockSize: 1, parallelism: 1)
            return try BackendServices(
                store: try Store(directory: directory, masterKeys: [MasterKey()], passwordCost: cost), dispatch: dispatch)
        }
        let files = try WorkerCertificates.shared.get()
        let settings = GatewaySettings(
            port: port, shardCount: shardCount, tls: TLSFiles(certificatePath: files.certificate, privateKeyPath: files.privateKey))
        var calls: CallService?
        var sessions: SessionService?
        var writer: AuditEventWriter?
        var service: DispatchService?
        var speechService: SpeechService?
        let gateway = try Gateway(
            settings: settings, keys: try Self.keys.get(), auditEvents: backend?.auditEvents, calls: backend?.callInbox, dispatch: dispatch
        ) { rooms, keys in
            let assistants = DispatchService(
                inbox: dispatch, rooms: rooms, keys: keys, rules: rules, calls: backend?.callInbox, server: settings.serverInfo,
                definition: definition, definedAssistants: definedAssistants, patience: patience)
            service = assistants
            let routes = DispatchRoutes.routes(assistants, keys: keys)
            guard let backend else { return routes }
            let callService = backend.callService(rooms, keys: keys, server: settings.serverInfo)
            calls = callService
            let sessionService = backend.sessionService(rooms, keys: keys)
            sessions = sessionService
            writer = backend.auditEventWriter(sessionService, summarizer: ExtractiveSummarizer())
            speechService = speech.map {
                backend.speechService($0, rooms, keys: keys, counters: ServiceCounters())
            }
            return routes + backend.routes(sessionService, callService)
                + SpeechRoutes.routes(speechService, accounts: backend.accounts, assistants: backend.assistants, keys: keys)
        }
        self.gateway = gateway
        self.dispatch = dispatch
        self.service = service
        self.sessions = sessions
        self.backend = backend
        self.port = gateway.port
        running = Task { [calls, writer, service, speechService] in
            let speaking = speechService.map { speech in Task { try await speech.run() } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await gateway.run() }
                group.addTask { try await calls?.run() }
                group.addTask { try await writer?.run() }
                group.addTask { try await service?.run() }
                try await group.waitForAll()
            }
            speaking?.cancel()
            try await speaking?.value
            try backend?.store.close()
        }
    }

    /// Defines the assistant `helper`.
    static let helper: @Sendable (String) -> AssistantDefinition? = { $0 == "helper" ? AssistantDefinition(id: "helper") : nil }

    /// Runs a gateway during `body`.
    static func run(
        withStore hasStore: Bool = false, speech: (any SpeechGenerator)? = nil, rules: [DispatchRule] = [], shardCount: Int = 2,
        definition: @escaping @Sendable (String) -> AssistantDefinition? = WorkerGateway.helper,
        definedAssistants: @escaping @Sendable () -> [String] = { [] }, patience: Int = 20,
        _ body: @Sendable (WorkerGateway) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "patchbay-agents-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let node = try WorkerGateway(
            storeDirectory: hasStore ? directory : nil, speech: speech, rules: rules, shardCount: shardCount, definition: definition,
            definedAssistants: definedAssistants, patience: patience)
        do {
            try await node.begin()
            try await body(node)
        } catch {
            try await node.stop()
            throw error
        }
        try await node.stop()
    }

    func begin() async throws {
        while gateway.state.phase != .serving { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Stops without waiting for the rooms to become empty.
    func stop() async throws {
        for _ in 1...2 { gateway.drain() }
        try await running.value
    }

    /// Replaces the dispatch rules, as SIGHUP does.
    func use(_ rules: [DispatchRule]) async { await service?.use(rules) }

    /// Begins to drain; rooms go on.
    func drain() { gateway.drain() }

    var url: String { "wss://127.0.0.1:\(port)" }

    static var options: RoomOptions { RoomOptions(trust: .authority(path: (try? WorkerCertificates.shared.get().authority) ?? "")) }

    static func sign(_ claims: AccessToken) throws -> String {
        let signer = try #require(try keys.get().signer)
        return try TokenMinter.mint(claims, with: signer)
    }

    static var nowSeconds: Int64 { Int64(Date().timeIntervalSince1970) }

    static func assistantToken(_ assistant: String) throws -> String {
        var grant = VideoGrant()
        grant.agent = true
        return try sign(AccessToken(identity: "assistant:" + assistant, expires: nowSeconds + 600, video: grant))
    }

    /// Joins a room as a user.
    func join(_ identity: String, _ room: String = "room", agents: [TokenAgent]? = nil) async throws -> RoomConnection {
        let claims = AccessToken(
            identity: identity, expires: Self.nowSeconds + 600, video: .joining(room),
            roomSettings: agents.map { TokenRoomSettings(agents: $0) })
        return try await RoomConnection.connect(url: url, token: try Self.sign(claims), options: Self.options)
    }

    /// - Parameter room: nil for a token with `roomCreate`.
    func administrator(of room: String? = "room") throws -> GatewayAdministrator {
        var grant = VideoGrant()
        grant.room = room ?? ""
        grant.roomAdmin = room != nil
        grant.roomCreate = room == nil
        let token = try Self.sign(AccessToken(identity: "", expires: Self.nowSeconds + 600, video: grant))
        return try GatewayAdministrator(url: url, token: token, trust: Self.options.trust)
    }

    /// A channel of an assistant whose requests a test sends by hand.
    func channel(_ assistant: String) async throws -> Channel {
        try await Channel.connect(url: url, userToken: try Self.assistantToken(assistant), options: Self.options)
    }

    // MARK: With a store

    func user(_ name: String) async throws -> UserID {
        let backend = try #require(backend)
        return try await backend.store.accounts.user(issuer: "tests", subject: name, email: nil, at: .now).id
    }

    func startSession(
        of user: UserID, assistant: String, _ request: SessionRequest? = nil
    ) async throws -> (room: String, token: String, session: SessionID) {
        let request = request ?? SessionRequest(context: "phone", assistantID: assistant)
        let ticket = try await #require(sessions).start(request, of: user, host: "127.0.0.1:\(port)")
        return (ticket.roomName, ticket.livekitToken, ticket.sessionId)
    }

    func end(_ session: SessionID, of user: UserID) async throws {
        try await #require(sessions).end(session, of: user)
    }

    /// A device of a user.
    func device(of user: UserID) async throws -> Channel {
        let token = try #require(backend).accounts.tokens.mint(for: user, now: Self.nowSeconds)
        return try await Channel.connect(url: url, userToken: token, options: Self.options)
    }

    var counters: DispatchRegistry.Counters { dispatch.registry.counters }

    /// Waits until the room's newest job has a status.
    @discardableResult
    func job(_ status: JobStatus, in room: String = "room") async throws -> JobInfo {
        let administrator = try administrator(of: room)
        for _ in 0..<3_000 {
            if let job = try await administrator.jobs(in: room).last, job.status == status { return job }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw DidNotHappen(what: "a job that is \(status.rawValue)")
    }
}

struct DidNotHappen: Error {
    var what: String
}

/// Created once per run in a directory of their own.
struct WorkerCertificates {
    let certificate: String
    let privateKey: String
    let authority: String

    static let shared = Result { try WorkerCertificates() }

    private init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let directory = FileManager.default.temporaryDirectory.appending(path: "patchbay-agents-tests-\(getpid())").path
        let make = Process()
        make.executableURL = root.appending(path: "certs/make-dev-certs")
        make.arguments = ["--dir", directory]
        make.standardOutput = FileHandle.nullDevice
        try make.run()
        make.waitUntilExit()
        certificate = directory + "/server.cert.pem"
        privateKey = directory + "/server.key.pem"
        authority = directory + "/ca.cert.pem"
    }
}
