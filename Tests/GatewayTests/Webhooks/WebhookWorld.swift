import Backend
import Foundation
import Gateway
import Identity
import OutgoingHTTP
import Store
import TestStore
import Testing

/// A store with webhooks, and services that send them.
final class WebhookWorld: Sendable {
    static let key: IssuerKey = {
        let settings = IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))
        guard let key = try? KeyRing([settings]).signer else { fatalError("the tests' own key is refused") }
        return key
    }()

    let place: StorePlace
    let masterKey: MasterKey
    let store: Store

    /// - Parameter place: nil for a new one.
    init(place: StorePlace? = nil, key: MasterKey = MasterKey()) throws {
        self.place =
            try place
            ?? StorePlace(directory: FileManager.default.temporaryDirectory.appending(path: "webhooks-\(UUID().uuidString)").path)
        masterKey = key
        store = try self.place.open(masterKeys: [key])
    }

    // The store is not closed here, since a deinitializer may run on the store's own queue, for which closing would wait.
    deinit {
        try? FileManager.default.removeItem(atPath: place.directory)
    }

    static var now: WallTime { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

    /// Stores webhooks whose body is their room's number and their own number in it.
    func add(_ count: Int, inRooms rooms: Int, to url: String) async throws {
        let webhooks = (0..<count).map {
            OutgoingWebhook(event: "room_started", endpoint: url, room: "room \($0 % rooms)", body: "\($0 % rooms) \($0 / rooms)")
        }
        try await store.webhooks.enqueue(webhooks, at: Self.now)
    }

    /// Runs a service that sends to `urls` during `body`.
    ///
    /// - Parameter clockAhead: how far the service's clock is ahead of the wall clock, to expire leases.
    func serving(
        _ urls: [String], timeout: Duration = .seconds(10), leaseSpan: Duration = .seconds(30), clockAhead: Duration = .zero,
        counters: ServiceCounters = ServiceCounters(), operatorLog: OperatorLog = .silent, _ body: () async throws -> Void
    ) async throws {
        let client = try OutgoingClient()
        let service = WebhookService(
            WebhookSettings(urls: urls, key: Self.key), store: store.webhooks, leaseSpan: leaseSpan,
            sending: client.outgoing(timeout: timeout),
            now: { Self.now + clockAhead }, counters: counters, operatorLog: operatorLog)
        let running = Task { await service.run() }
        let result = await Result { try await body() }
        running.cancel()
        await running.value
        try result.get()
    }

    /// Waits until no webhook is queued.
    func emptied() async throws {
        for _ in 0..<1_500 {
            if try await store.webhooks.list(.waiting).isEmpty { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw DidNotHappen(what: "webhooks that are all delivered")
    }

    static func expectOrder(_ requests: [RawReceiver.Request], rooms: Int) {
        for room in 0..<rooms {
            let numbers = requests.compactMap { request in
                let numbers = String(decoding: request.body, as: UTF8.self).split(separator: " ")
                return Int(numbers[0]) == room ? Int(numbers[1]) : nil
            }
            #expect(numbers == numbers.sorted(), "room \(room)")
        }
    }
}
