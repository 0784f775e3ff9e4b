import Foundation
import Identity
import Synchronization
import Testing

@testable import Store

/// What a store reports to its observer, for metrics.
struct StoreObserverTests {
    private final class Observations: Sendable {
        private let state = Mutex<[(StoreOperation, Duration, StoreError?)]>([])

        func add(_ operation: StoreOperation, _ duration: Duration, _ error: StoreError?) {
            state.withLock { $0.append((operation, duration, error)) }
        }

        func take() -> [(operation: StoreOperation, duration: Duration, error: StoreError?)] {
            state.withLock { state in
                defer { state = [] }
                return state
            }
        }
    }

    private static func store(in directory: String, _ observations: Observations, sizeMax: Int? = nil) throws -> Store {
        try Store(
            directory: directory, masterKeys: [MasterKey()], passwordCost: StoreWorld.quickCost, sizeMax: sizeMax,
            observing: { observations.add($0, $1, $2) })
    }

    private static func directory() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)").path
    }

    /// A thousand seals in a write would delay the writes of others.
    @Test func contactsAreSealedBeforeTheyAreWritten() async throws {
        let (directory, observations) = (Self.directory(), Observations())
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try Self.store(in: directory, observations)
        let user = try await store.accounts.createUser(email: "ann@example.org", password: StoreWorld.password, at: StoreWorld.start)
        _ = observations.take()
        try await store.accounts.setContacts([Contact(address: "bob@example.org")], of: user.id)
        let operations = observations.take().map(\.operation).filter { $0 != .commit }
        #expect(operations == [.read, .write], "the key is read, and used, before the write")
        try store.close()
    }

    @Test func readsWritesAndCommitsAreTimed() async throws {
        let (directory, observations) = (Self.directory(), Observations())
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try Self.store(in: directory, observations)
        let user = try await store.accounts.createUser(email: "ann@example.org", password: StoreWorld.password, at: StoreWorld.start)
        _ = observations.take()
        _ = try await store.sessions.start(SessionRequest(context: "phone"), of: user.id, at: StoreWorld.start)
        let written = observations.take()
        #expect(written.map(\.operation) == [.commit, .write])
        #expect(written[0].duration > .zero && written[0].duration <= written[1].duration)
        _ = try await store.sessions.list(of: user.id, after: nil, limit: 10)
        #expect(observations.take().map(\.operation) == [.read])
        _ = try await store.verify()
        #expect(observations.take().map(\.operation) == [.longRead])
        try store.close()
    }

    @Test func onlyErrorsThatConcernTheOperatorHaveAName() async throws {
        let (directory, observations) = (Self.directory(), Observations())
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try Self.store(in: directory, observations, sizeMax: 1 << 19)
        await #expect(throws: StoreError.notFound) { try await store.accounts.user(UserID()) }
        #expect(observations.take().map { $0.error?.operationalName } == [nil])
        let large = String(repeating: "x", count: 60_000)
        await #expect(throws: StoreError.full) {
            for _ in 0..<20 {
                let webhook = OutgoingWebhook(event: "room_started", endpoint: "https://a", room: "r", body: large)
                try await store.webhooks.enqueue([webhook], at: StoreWorld.start)
            }
        }
        #expect(observations.take().contains { $0.operation == .write && $0.error?.operationalName == "full" })
        try store.close()
    }
}
