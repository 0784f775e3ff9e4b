import Backend
import Foundation
import Gateway
import Identity
import Store
import Testing

/// A store with webhooks in a directory of its own, and services that send them.
final class WebhookWorld: Sendable {
    static let key: IssuerKey = {
        let settings = IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))
        guard let key = try? KeyRing([settings]).signer else { fatalError("the tests' own key is refused") }
        return key
    }()

    let directory: String
    let masterKey: MasterKey
    let store: SessionStore

    init(
        directory: String = FileManager.default.temporaryDirectory.appending(path: "webhooks-\(UUID().uuidString)").path,
        key: MasterKey = MasterKey()
    ) throws {
        self.directory = directory
        masterKey = key
        store = try SessionStore(directory: directory, masterKeys: [key])
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(atPath: directory)
    }

    static var now: WallTime { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

    /// Webhooks whose bodies are the number of their room and their own in it.
    func tell(_ count: Int, inRooms rooms: Int, to url: String) async throws {
        let webhooks = (0..<count).map {
            OutgoingWebhook(event: "room_started", endpoint: url, room: "room \($0 % rooms)", body: "\($0 % rooms) \($0 / rooms)")
        }
        try await store.tell(webhooks, at: Self.now)
    }

    /// Lets a service send to `urls` while `body` goes on.
    ///
    /// - Parameter clockAhead: of the wall clock, for leases.
    func serving(_ urls: [String], leaseSpan: Duration = .seconds(30), clockAhead: Duration = .zero, _ body: () async throws -> Void)
        async throws
    {
        let client = try OutgoingClient()
        let service = WebhookService(
            WebhookSettings(urls: urls, key: Self.key), store: store, client: client, leaseSpan: leaseSpan, now: { Self.now + clockAhead })
        let running = Task { await service.run() }
        let result = await Result { try await body() }
        running.cancel()
        await running.value
        try result.get()
    }

    /// Returns when nothing waits any more.
    func emptied() async throws {
        for _ in 0..<1_500 {
            if try await store.webhooks(.waiting).isEmpty { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw DidNotHappen(what: "webhooks that are all delivered")
    }

    static func expectOrder(_ requests: [RawReceiver.Request], rooms: Int) {
        for room in 0..<rooms {
            let numbers = requests.compactMap { request in
                let words = String(decoding: request.body, as: UTF8.self).split(separator: " ")
                return Int(words[0]) == room ? Int(words[1]) : nil
            }
            #expect(numbers == numbers.sorted(), "room \(room)")
        }
    }
}
