import Backend
import Foundation
import Gateway
import Identity
import Store
import Synchronization
import TestStore
import Testing
import Wire

/// Delivery of webhooks from the store to a receiver over real sockets.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct WebhookServiceTests {
    @Test func webhooksArriveSignedAndInRoomOrder() async throws {
        let receiver = try RawReceiver()
        defer { receiver.close() }
        let world = try WebhookWorld()
        try await world.add(30, inRooms: 3, to: receiver.url())
        try await world.serving([receiver.url()]) {
            try receiver.wait(for: 30)
            try await world.emptied()
        }
        let requests = receiver.requests
        #expect(requests.count == 30)
        let now = Int64(Date().timeIntervalSince1970)
        #expect(
            requests.allSatisfy { BodySignature.isValid($0.fields["authorization"] ?? "", for: $0.body, at: now, key: WebhookWorld.key) })
        #expect(requests.allSatisfy { $0.fields["content-type"] == "application/webhook+json" })
        WebhookWorld.expectOrder(requests, rooms: 3)
    }

    @Test func failedWebhookIsRetriedBeforeLaterOnes() async throws {
        let receiver = try RawReceiver { _, number in .status(number < 2 ? 500 : 200) }
        defer { receiver.close() }
        let world = try WebhookWorld()
        try await world.add(3, inRooms: 1, to: receiver.url())
        try await world.serving([receiver.url()]) {
            try receiver.wait(for: 5)
            try await world.emptied()
        }
        #expect(receiver.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["0 0", "0 0", "0 0", "0 1", "0 2"])
        #expect(try await world.store.webhooks.list(.delivered).count == 3)
    }

    @Test func attemptsAreCountedAndFailuresLogged() async throws {
        let receiver = try RawReceiver { _, number in .status(number < 1 ? 503 : number == 1 ? 200 : 410) }
        defer { receiver.close() }
        let (world, counters, log) = (try WebhookWorld(), ServiceCounters(), RecordedLog())
        let url = receiver.url() + "?key=a-secret"
        let webhooks = ["a", "b"].map {
            OutgoingWebhook(
                event: "room_started", endpoint: url, room: "den", body: $0, requestID: "asked-\($0)",
                trace: TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
        }
        try await world.store.webhooks.enqueue(webhooks, at: WebhookWorld.now)
        try await world.serving([url], counters: counters, operatorLog: log.operatorLog()) {
            try receiver.wait(for: 3)
            try await world.emptied()
            // The last outcome is stored before it is counted.
            try Patience.until("the last outcome is counted") { counters.samples(of: .webhookDeliveries).map(\.count) == [1, 1, 1] }
        }
        #expect(counters.histograms(of: .webhookSeconds).map(\.histogram.count) == [3])
        #expect(receiver.requests.map { $0.fields["x-request-id"] } == ["asked-a", "asked-a", "asked-b"])
        let traces = receiver.requests.compactMap { TraceContext(traceparent: $0.fields["traceparent"]) }
        #expect(traces.allSatisfy { $0.traceID == "0af7651916cd43dd8448eb211c80319c" } && Set(traces.map(\.spanID)).count == 3)
        let (failed, dead) = (log.lines("webhook failed and will be repeated"), log.lines("webhook given up"))
        #expect(
            failed.count == 1 && failed[0]["reason"] == "status 503" && failed[0]["attempts"] == "1" && failed[0]["request"] == "asked-a")
        #expect(dead.count == 1 && dead[0]["reason"] == "status 410" && dead[0]["room"] == "den" && dead[0]["event"] == "room_started")
        #expect(log.lines.allSatisfy { !"\($0.metadata)".contains("a-secret") })
    }

    @Test func whatWaitsIsAMetric() async throws {
        let receiver = try RawReceiver { _, _ in .silence }
        defer { receiver.close() }
        let (world, counters) = (try WebhookWorld(), ServiceCounters())
        try await world.add(3, inRooms: 1, to: receiver.url())
        try await world.serving([receiver.url()], clockAhead: .seconds(90), counters: counters) {
            try Patience.until("three wait") { counters.samples(of: .webhooksWaiting).first?.count == 3 }
            try Patience.until("for a minute and a half") { (counters.samples(of: .webhooksOldestAge).first?.count ?? 0) >= 90 }
        }
    }

    @Test func hangingEndpointDoesNotDelayOthers() async throws {
        let (dead, alive) = (try RawReceiver { _, _ in .silence }, try RawReceiver())
        defer {
            dead.close()
            alive.close()
        }
        let world = try WebhookWorld()
        try await world.add(200, inRooms: 100, to: dead.url())
        try await world.add(200, inRooms: 100, to: alive.url())
        // No request to the endpoint that hangs may end, because another would follow.
        try await world.serving([dead.url(), alive.url()], timeout: .seconds(60), leaseSpan: .seconds(90)) { try alive.wait(for: 200) }
        #expect(dead.requests.count <= 8)
    }

    @Test func recoveredServerReceivesMissedWebhooks() async throws {
        let isUp = Atomic(false)
        let receiver = try RawReceiver { _, _ in isUp.load(ordering: .relaxed) ? .status(204) : .status(503) }
        defer { receiver.close() }
        let world = try WebhookWorld()
        try await world.add(4, inRooms: 2, to: receiver.url())
        try await world.serving([receiver.url()]) {
            try receiver.wait(for: 2)
            isUp.store(true, ordering: .relaxed)
            try await world.emptied()
        }
        #expect(try await world.store.webhooks.list(.delivered).count == 4)
    }

    /// The process is killed with requests in flight, so it never sees the responses.
    @Test func webhooksInFlightAtACrashAreSentByTheNextProcess() async throws {
        let world = try WebhookWorld()
        let arrived = FileManager.default.temporaryDirectory.appending(path: "arrived-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: arrived) }
        let receiver = try RawReceiver { _, number in
            if number == 2 { _ = FileManager.default.createFile(atPath: arrived, contents: nil) }
            return number < 3 ? .silence : .status(200)
        }
        defer { receiver.close() }
        try await world.add(6, inRooms: 3, to: receiver.url())
        try world.store.close()
        let (place, keyText, url) = (world.place, world.masterKey.text.revealedText, receiver.url())
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = place as StorePlace, keyText = keyText as String, url = url as String, arrived = arrived as String] in
            let world = try WebhookWorld(place: place, key: try #require(MasterKey(text: SecretText(keyText))))
            try await world.serving([url]) {
                try Patience.until("requests on their way") { FileManager.default.fileExists(atPath: arrived) }
                kill(getpid(), SIGKILL)
            }
        }
        #expect(receiver.requests.count == 3)
        let next = try WebhookWorld(place: place, key: world.masterKey)
        // The killed process's leases have expired.
        try await next.serving([url], clockAhead: .seconds(31)) {
            try receiver.wait(for: 9)
            try await next.emptied()
        }
        #expect(Set(receiver.requests.map(\.body)).count == 6)
        WebhookWorld.expectOrder(Array(receiver.requests.dropFirst(3)), rooms: 3)
        #expect(try await next.store.verify().isClean)
    }
}
