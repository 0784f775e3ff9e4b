import Foundation
import GRDB
import PatchbayClient
import Testing

/// The end of a gateway whose store stays unavailable.
@Suite(.timeLimit(.minutes(3)))
struct UnavailableStoreTests {
    @Test func gatewayEndsAndLogsWhatItCouldNotStore() async throws {
        let folder = try await StoreFolder()
        let log = URL(filePath: folder.file("gateway.log"))
        func text() throws -> String { try String(contentsOf: log, encoding: .utf8) }
        try "webhook: {urls: [\"http://127.0.0.1:1/hooks\"]}"
            .write(toFile: folder.file("patchbay.yaml"), atomically: true, encoding: .utf8)
        let gateway = try await ServedGateway(["--config", folder.file("patchbay.yaml"), "--data", folder.path], log: log)
        let ann = try await gateway.join("lobby", as: "ann")
        try await eventually("the webhook of a join") { try text().contains("webhook failed") }
        let holder = try Self.holdWrites(folder.path)
        await ann.leave()
        try await eventually("a store that is busy") { try text().contains("the store is full or busy; audit events wait") }
        gateway.signal(SIGTERM)
        #expect(await gateway.status() == 0)
        let lines = try text()
        #expect(lines.contains("not stored"), "\(lines)")
        withExtendedLifetime(holder) {}
    }

    /// Blocks the store's writes for as long as the result is kept.
    private static func holdWrites(_ directory: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        configuration.allowsUnsafeTransactions = true
        let holder = try DatabaseQueue(path: directory + "/patchbay.sqlite", configuration: configuration)
        try holder.inDatabase { try $0.beginTransaction(.immediate) }
        return holder
    }
}
