import Foundation
import Gateway
import HTTPServer
import Identity
import Store
import Synchronization
import TestStore
import Wire

@testable import Backend
@testable import Engine

/// The services of one node of a cluster, with the store that all nodes share. It has no shards: tests say which rooms it hosts and what
/// happens there.
final class ClusterNode: Sendable {
    static let endpoint = "https://hooks.example/"

    let name: String
    let backend: BackendServices
    let sessions: SessionService
    let counters = ServiceCounters()
    private let epochs: EpochTable
    private let writing: Task<Void, any Error>

    /// The epochs in which rooms are hosted, and the reports that the store has refused a room's writes.
    private final class EpochTable: Sendable {
        let hosted = Mutex<[String: RoomEpoch]>([:])
        let reports = Mutex<[String]>([])
    }

    init(_ name: String, _ store: Store) throws {
        let epochs = EpochTable()
        let homes = RoomHomes(
            node: name, name: name, epoch: { room in epochs.hosted.withLock { $0[room] } },
            superseded: { room, number in epochs.reports.withLock { $0.append("\(room) \(number)") } })
        backend = try BackendServices(store: store, webhookEndpoints: [Self.endpoint], homes: homes)
        let shards = ShardControl(count: 0, homeShard: { _ in nil }, isDraining: { false }, send: { _, _ in })
        sessions = backend.sessionService(RoomService(shards: shards), keys: KeysInUse(TestToken.keys))
        let writer = backend.auditEventWriter(sessions, summarizer: ExtractiveSummarizer(), counters: counters)
        (self.name, self.epochs) = (name, epochs)
        writing = Task { try await writer.run() }
    }

    var recovery: RoomRecovery {
        get throws {
            guard let recovery = backend.recovery else { throw DidNotHappen(what: "a node of a cluster") }
            return recovery
        }
    }

    func host(_ room: RoomInfo, _ number: UInt64, _ claim: UInt64 = 1) {
        epochs.hosted.withLock { $0[room.name] = RoomEpoch(number: number, claim: claim) }
    }

    func takeOver(_ room: RoomInfo, _ number: UInt64) async throws {
        host(room, number)
        _ = try await recovery.loadSession(of: room.name)
        try await recovery.adopt(room)
    }

    /// Something happens in a room, and is written as far as the store permits it.
    func report(_ events: [Room.AuditEvent], in room: RoomInfo) async throws {
        for event in events {
            backend.auditEvents.append(RoomAuditEvent(.room(event), room: Room.Snapshot(info: room), at: WallClock.milliseconds))
        }
        try await backend.auditEvents.performing(room.name) { _ in }
    }

    /// The rooms that were reported as another home's, with the numbers of the higher epochs.
    var reports: [String] { epochs.reports.withLock { $0 } }

    var refusedCount: Int { counters.samples(of: .roomWritesRefused).reduce(0) { $0 + $1.count } }

    func stop() async throws {
        backend.auditEvents.finish()
        try await writing.value
    }
}

/// Two nodes of a cluster, and a user.
struct ClusterOfTwo {
    let store: Store
    let user: UserID
    let old: ClusterNode
    let new: ClusterNode
    private let directory: String

    static func run(
        observing observe: @escaping StoreObserver = { _, _, _ in }, _ story: (ClusterOfTwo) async throws -> Void
    ) async throws {
        let cluster = try await ClusterOfTwo(observing: observe)
        defer { try? FileManager.default.removeItem(atPath: cluster.directory) }
        try await story(cluster)
        try await cluster.old.stop()
        try await cluster.new.stop()
        try cluster.store.close()
    }

    private init(observing observe: @escaping StoreObserver) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "cluster-\(UUID().uuidString)").path
        store = try StorePlace(directory: directory).open(masterKeys: [MasterKey()], observing: observe)
        user = try await store.accounts.user(issuer: "tests", subject: "ann", email: nil, at: .now).id
        _ = try await store.accounts.updateSettings(of: user) { ($0.loggingEnabled, $0.hasSeenOnboarding) = (true, true) }
        (old, new) = (try ClusterNode("old/1", store), try ClusterNode("new/1", store))
    }

    func startSession() async throws -> (session: Session, room: RoomInfo) {
        let session = try await store.sessions.start(SessionRequest(context: "phone"), of: user, at: .now).session
        return (session, Self.room(session.roomName))
    }

    static func room(_ name: String) -> RoomInfo {
        RoomInfo(sid: RoomSID(text: "RM_\(name)"), name: name, metadata: "", createdAt: 1_795_000_000, maxParticipants: 0)
    }

    /// The events of all stored webhooks of a room, in order.
    func webhooks(of room: RoomInfo) async throws -> [String] {
        try await store.webhooks.list(limit: 1_000).filter { $0.webhook.room == room.name }.sorted { $0.number < $1.number }
            .map(\.webhook.event)
    }

    func words(of session: Session) async throws -> [String] {
        try await store.sessions.record(of: session.id, of: user).turns.map(\.text)
    }
}
