import Foundation
import Identity
import Store
import Testing

@Suite(.timeLimit(.minutes(2)))
struct WebhookCommandTests {
    /// A store with one webhook that was delivered and one that waits, open in this process as in a gateway's.
    private final class World {
        let directory: URL
        let keyPath: String
        let store: Store
        let (delivered, waiting) = (WebhookID(), WebhookID())

        init() async throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "webhook-command-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            keyPath = directory.appending(path: "master.key").path
            store = try Store(directory: directory.appending(path: "data").path, masterKeys: [try MasterKey.make(file: keyPath)])
            let now = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
            for id in [delivered, waiting] {
                let webhook = OutgoingWebhook(id: id, event: "room_started", endpoint: "https://a", room: "den", body: "{}")
                try await store.webhooks.enqueue([webhook], at: now)
            }
            let leased = try await store.webhooks.lease(to: "https://a", limit: 1, for: .seconds(30), at: now)
            try await store.webhooks.delivered(try #require(leased.first), at: now)
        }

        deinit {
            try? store.close()
            try? FileManager.default.removeItem(at: directory)
        }

        func run(_ arguments: String...) async throws -> Program.Outcome {
            let place = ["--data", directory.appending(path: "data").path, "--master-key", keyPath]
            return try await Program.run(nil, ["webhook"] + arguments + place, seconds: 20)
        }
    }

    @Test func listShowsTheStatusOfEachWebhook() async throws {
        let world = try await World()
        let outcome = try await world.run("list", "--json")
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        #expect(rows.compactMap { $0["id"] as? String } == ["EV_\(world.waiting)", "EV_\(world.delivered)"])
        #expect(rows.compactMap { $0["status"] as? String } == ["waiting", "delivered"])
        #expect(rows.compactMap { $0["endpoint"] as? String } == ["https://a", "https://a"])
        let some = try await world.run("list", "--status", "delivered")
        #expect(some.output.contains("EV_\(world.delivered)") && !some.output.contains("EV_\(world.waiting)"))
    }

    @Test func replayRequeuesAWebhookOfARunningGateway() async throws {
        let world = try await World()
        let outcome = try await world.run("replay", "EV_\(world.delivered)")
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(try await world.store.webhooks.list(.waiting).map(\.webhook.id) == [world.waiting, world.delivered])
    }

    @Test func replayOfAnUnknownWebhookFails() async throws {
        let world = try await World()
        #expect(try await world.run("replay", "EV_\(WebhookID())").status == 1)
        let wrong = try await world.run("replay", "EV_1")
        #expect(wrong.status == 2 && wrong.complaint.contains("is not a webhook's identifier"))
    }

    @Test func missingStoreOrKeyIsReported() async throws {
        let world = try await World()
        let environment = ["PATCHBAY_DATA": "", "PATCHBAY_MASTER_KEY": MasterKey().text.revealedText]
        let data = world.directory.appending(path: "data").path
        let outcome = try await Program.run(nil, ["webhook", "list", "--data", data], environment: environment, seconds: 20)
        #expect(outcome.status == 2 && outcome.complaint.contains("is locked with the master key"), "\(outcome.complaint)")
        let nowhere = try await Program.run(
            nil, ["webhook", "list", "--data", "/nowhere", "--master-key", world.keyPath], environment: environment, seconds: 20)
        #expect(nowhere.status == 2 && nowhere.complaint.contains("there is no store"), "\(nowhere.complaint)")
    }
}
