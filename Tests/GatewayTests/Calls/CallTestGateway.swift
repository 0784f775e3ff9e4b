import Backend
import Engine
import Foundation
import Gateway
import HTTPServer
import Identity
import Store
import Synchronization
import TestStore
import Testing
import Wire

/// A gateway with accounts and calls, and its users' devices.
final class CallTestGateway: Sendable {
    let gateway: TestGateway
    let backend: BackendServices
    private let directory: String
    /// True in the tasks that store audit events and maintain the store: they read at any time, whatever a test does.
    @TaskLocal private static var isMaintenance = false

    /// - Parameters:
    ///   - observe: called for the store's operations other than those of its maintenance.
    ///   - storing: when it returns, the events and changes of calls begin to be stored.
    init(
        settings: CallSettings = CallSettings(),
        collaborators: CallCollaborators = CallCollaborators(server: ServerInfo(version: "tests", node: "n")),
        observing observe: @escaping StoreObserver = { _, _, _ in },
        storing: @escaping @Sendable () async -> Void = {},
        _ change: (inout GatewaySettings) -> Void = { _ in }
    ) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("calls-\(UUID().uuidString)").path
        let cost = PasswordHash.Cost(logBlocks: 10, blockSize: 8, parallelism: 1)
        let place = try StorePlace(directory: directory)
        let store = try place.open(masterKeys: [MasterKey()], passwordCost: cost) { operation, duration, error in
            if !Self.isMaintenance { observe(operation, duration, error) }
        }
        let backend = try BackendServices(store: store)
        var service: CallService?
        var writer: AuditEventWriter?
        gateway = try TestGateway(
            auditEvents: backend.auditEvents, calls: backend.callInbox,
            serving: { rooms, keys in
                let calls = backend.callService(
                    rooms, keys: keys, server: ServerInfo(version: "tests", node: "n"), settings: settings, collaborators: collaborators)
                service = calls
                let sessions = backend.sessionService(rooms, keys: keys)
                writer = backend.auditEventWriter(sessions, summarizer: ExtractiveSummarizer())
                return backend.routes(sessions, calls)
            }, change)
        self.backend = backend
        let (calls, writing) = (try #require(service), try #require(writer))
        Task { [directory] in
            async let written: Void = Self.$isMaintenance.withValue(true) {
                await storing()
                try await writing.run()
            }
            try await calls.run()
            try await written
            try store.close()
            // In a database it leaves no directory.
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    /// Connects an assistant process that receives calls.
    func assistant(_ id: String, _ change: (inout AccessToken) -> Void = { _ in }) throws -> TestDevice {
        try TestDevice(gateway.webSocket(.upgrade(token: TestToken.assistant(id, change), path: "/v1/events")))
    }

    func user(_ name: String) async throws -> TestUser {
        let now = WallTime(milliseconds: TestToken.now * 1_000)
        let id = try await backend.store.accounts.user(issuer: "tests", subject: name, email: nil, at: now).id
        return TestUser(node: self, id: id)
    }
}

struct TestUser: Sendable {
    let node: CallTestGateway
    let id: UserID

    var identity: Identity { Identity(text: id.text) }
    var party: CallParty { .user(identity) }

    /// - Parameter age: seconds since the token was issued.
    func token(age: Int64 = 0) throws -> String { try node.backend.accounts.tokens.mint(for: id, now: TestToken.now - age) }

    func device(age: Int64 = 0, shard: Int? = nil) throws -> TestDevice {
        let ask = HTTPAsk.upgrade(token: try token(age: age), path: "/v1/events")
        return try TestDevice(node.gateway.webSocket(ask, shard: shard))
    }

    func http(_ method: String, _ path: String, _ body: String? = nil, key: String? = nil) throws -> HTTPAnswer {
        var fields = [("Authorization", "Bearer " + (try token()))]
        if let key { fields.append(("Idempotency-Key", key)) }
        let ask =
            body.map { HTTPAsk.json(method, path, $0, with: fields) }
            ?? HTTPAsk(method: method, path: path, fields: fields.map { (name: $0.0, value: $0.1) })
        return try #require(try HTTPConnection(node.gateway).answer(to: ask))
    }
}

/// One connection of a user's channel.
final class TestDevice {
    let socket: RawWebSocket
    let hello: CallsHello
    private(set) var events: [CallEvent] = []
    private(set) var closeCode: UInt16?
    private var isOver = false
    private var answers: [UInt64?: Result<CallReply, CallError>] = [:]
    private var lastID: UInt64 = 0
    /// The requests that were answered, in this order.
    private(set) var answered: [UInt64?] = []

    init(_ socket: RawWebSocket) throws {
        self.socket = socket
        guard case .text(let text) = try socket.next(), case .hello(let hello) = try CallMessage(parsing: text) else {
            throw DidNotHappen(what: "hello first")
        }
        self.hello = hello
    }

    var id: DeviceID { hello.device }

    // MARK: Receiving

    private func take(within span: Duration) throws {
        switch try socket.next(within: span) {
        case .text(let text):
            switch try CallMessage(parsing: text) {
            case .event(let event): events.append(event)
            case .reply(let id, let reply):
                answers[id] = .success(reply)
                answered.append(id)
            case .error(let id, let error):
                answers[id] = .failure(error)
                answered.append(id)
            case .hello, .job, .unknownEvent: throw DidNotHappen(what: "an event or an answer")
            }
        case .close(let code, _):
            closeCode = code
            isOver = true
        case .end: isOver = true
        case .binary, .pong: break
        }
    }

    func take(until what: String, within span: Duration = Patience.usual, _ condition: (TestDevice) -> Bool) throws {
        let deadline = ContinuousClock.now + span
        while !condition(self) {
            guard !isOver, ContinuousClock.now < deadline else { throw DidNotHappen(what: what) }
            do { try take(within: deadline - .now) } catch is DidNotHappen { throw DidNotHappen(what: what) }
        }
    }

    /// Waits for the first event of a kind, without removing it.
    @discardableResult
    func event(_ kind: CallEvent.Kind, of call: CallID? = nil) throws -> CallEvent {
        let isMeant = { (event: CallEvent) in event.kind == kind && (call == nil || event.call.id == call) }
        try take(until: "\(kind)") { $0.events.contains(where: isMeant) }
        return events.first(where: isMeant)!
    }

    func ending() throws -> UInt16? {
        try take(until: "the end") { $0.isOver }
        return closeCode
    }

    /// The received events of a call, in a form that is the same for callers and callees.
    func history(of call: CallID) -> [String] {
        events.filter { $0.call.id == call }.map { event in
            let isFirst = [.started, .incoming, .invited].contains(event.kind)
            let members = event.call.members.map { "\($0.status)\($0.held ? " held" : "")" }
            return
                "\(event.call.seq) \(isFirst ? "called" : event.kind.rawValue) \(event.call.status) \(members) \(event.device?.text ?? "-")"
        }
    }

    // MARK: Requests

    func send(_ request: CallRequest) throws -> UInt64 {
        lastID += 1
        try socket.send(text: String(decoding: OutgoingCallRequest(request, id: lastID).bytes, as: UTF8.self))
        return lastID
    }

    func answer(to id: UInt64?) throws -> Result<CallReply, CallError> {
        try take(until: "an answer to \(id.map(String.init) ?? "null")") { $0.answers[id] != nil }
        return answers.removeValue(forKey: id)!
    }

    @discardableResult
    func ask(_ request: CallRequest) throws -> CallReply { try answer(to: try send(request)).get() }

    func refusal(of request: CallRequest) throws -> CallError? {
        if case .failure(let error) = try answer(to: try send(request)) { error } else { nil }
    }

    func start(_ parties: CallParty...) throws -> CallReply { try ask(.start(CallStart(to: parties))) }
}

extension CallReply {
    /// Joins the call's room with the reply's token.
    func join(_ gateway: TestGateway, shard: Int? = nil) throws -> Caller {
        try Caller(on: gateway.webSocket(.upgrade(token: livekitToken ?? ""), shard: shard), goingOnAfter: 0)
    }

    var id: CallID { call?.id ?? CallID(text: "none") }
}
