import Engine
import Foundation
import Gateway
import HTTPServer
import Identity
import Store
import Testing
import Wire

@testable import Backend

/// A gateway of a cluster with accounts, calls and dispatch.
final class CoordinatedNode: Sendable {
    let gateway: TestGateway
    /// Where clients would reach it.
    let url: String
    private let backend: BackendServices

    /// - Parameters:
    ///   - store: of all nodes.
    ///   - recordings: the directory of this node's recordings; nil: it records nothing.
    init(_ cluster: TestCluster, _ store: Store, recordings: String? = nil) throws {
        var settings = try cluster.nextSettings()
        url = "wss://\(settings.address.port).example"
        settings.url = url
        let homes = settings.node.homes
        let inbox = DispatchInbox(relay: homes.relay)
        let backend = try BackendServices(store: store, recordingsDirectory: recordings, dispatch: inbox, homes: homes)
        let recovery = try #require(backend.recovery)
        settings.prepare = { room, _ in
            // The store is there.
            if room == RoomHomes.coordinatorRoom { try! await recovery.continueCalls() } else { try! await recovery.loadSession(of: room) }
            return true
        }
        settings.handOver = { if $0 == RoomHomes.coordinatorRoom { await recovery.settleCalls() } }
        settings.forget = { room in
            guard room == RoomHomes.coordinatorRoom else { return }
            recovery.leaveCalls()
            inbox.post(.resign)
        }
        settings.apply = { [notices = backend.notices] in await notices.apply($0) }
        var services: (calls: CallService, dispatch: DispatchService, writer: AuditEventWriter)?
        gateway = try TestGateway(
            auditEvents: backend.auditEvents, recordings: backend.recordings, recordingLog: backend.recordingLog,
            calls: backend.callInbox, dispatch: inbox,
            serving: { rooms, keys in
                let server = ServerInfo(version: "tests", node: "n")
                let calls = backend.callService(rooms, keys: keys, server: server)
                let dispatch = DispatchService(
                    inbox: inbox, rooms: rooms, keys: keys, calls: backend.callInbox, server: server,
                    definition: { AssistantDefinition(id: $0) })
                let sessions = backend.sessionService(rooms, keys: keys)
                services = (calls, dispatch, backend.auditEventWriter(sessions, summarizer: ExtractiveSummarizer()))
                let assistants = AssistantRoutes.routes(
                    backend.assistants, keys: keys, store: store.assistants, changed: { await rooms.notifyOtherNodes(.assistants) })
                return backend.routes(sessions, calls) + DispatchRoutes.routes(dispatch, keys: keys) + assistants
                    + LiveKitRoutes.routes(rooms, dispatch, backend.roomRecordings, keys: keys)
            }
        ) {
            $0.room.resumeWindow = .seconds(20)
            $0.cluster = settings
        }
        self.backend = backend
        let (calls, dispatch, writer) = try #require(services)
        gateway.add(
            Task {
                async let written: Void = writer.run()
                async let dispatched: Void = dispatch.run()
                try await calls.run()
                try await dispatched
                try await written
            })
        try cluster.connected(gateway)
    }

    /// Starts two nodes, and waits until they know each other.
    static func pair(_ cluster: TestCluster, _ store: Store) throws -> (CoordinatedNode, CoordinatedNode) {
        let (first, second) = (try CoordinatedNode(cluster, store), try CoordinatedNode(cluster, store))
        try cluster.meet(first.gateway, second.gateway)
        return (first, second)
    }

    var recordingLog: RecordingLog { backend.recordingLog }

    var isCoordinator: Bool { get throws { try gateway.value(Counter(name: "patchbay_cluster_coordinator")) == 1 } }

    func token(of user: UserID) throws -> String { try backend.accounts.tokens.mint(for: user, now: TestToken.now) }

    /// A request of a user to this node: `POST` if it has a body.
    func ask(_ path: String, _ body: [String: String]? = nil, by user: UserID) throws -> HTTPAnswer {
        let fields = [("Authorization", "Bearer \(try token(of: user))")]
        let ask =
            if let body {
                HTTPAsk.json("POST", path, [UInt8](try JSONSerialization.data(withJSONObject: body)), with: fields)
            } else {
                HTTPAsk(path: path, fields: fields.map { (name: $0.0, value: $0.1) })
            }
        guard let answer = try ask.answer(port: gateway.port) else { throw DidNotHappen(what: "an answer to \(path)") }
        return answer
    }

    /// Opens a channel of a user, through this node.
    func device(of user: UserID) throws -> TestDevice {
        try TestDevice(gateway.webSocket(.upgrade(token: try token(of: user), path: "/v1/events")))
    }

    /// Opens a channel of an assistant, through this node, and registers a worker on it.
    func worker(of assistant: String) throws -> RawWebSocket {
        let socket = try gateway.webSocket(.upgrade(token: TestToken.assistant(assistant), path: "/v1/events"))
        try socket.read(until: #""type":"hello""#)
        try socket.send(text: #"{"type":"worker.register","id":1,"data":{"assistant_id":"\#(assistant)","capacity":3}}"#)
        let reply = try socket.read(until: #""re":1"#)
        guard reply.contains(#""type":"reply""#) else { throw DidNotHappen(what: "a registered worker: \(reply)") }
        return socket
    }
}

extension RawWebSocket {
    /// Reads messages until one contains a text.
    @discardableResult
    func read(until part: String) throws -> String {
        while true {
            guard case .text(let bytes) = try next() else { throw DidNotHappen(what: part) }
            let text = String(decoding: bytes, as: UTF8.self)
            if text.contains(part) { return text }
        }
    }
}
