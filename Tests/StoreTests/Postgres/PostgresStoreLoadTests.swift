import Foundation
import Synchronization
import TestStore
import Testing

@testable import Store

/// Stores whose server is busy, is killed, or is down.
@Suite(.serialized, .enabled(if: PostgresServer.isInstalled))
struct PostgresStoreLoadTests {
    private static let endpoint = "https://receiver"
    private let world: PostgresStoreWorld

    init() throws { world = try PostgresStoreWorld(on: PostgresServer()) }

    // MARK: Lanes

    @Test func webhooksOfManyTasksAndGatewaysKeepTheirOrder() async throws {
        let stores = [world.store, try world.open(access: .beside)]
        try await enqueueSequences(of: 4, from: 50, to: stores)
        let numbers = try await stores[0].webhooks.list(limit: 1_000).map(\.number)
        #expect(numbers.count == 200 && Set(numbers).count == 200)

        var delivered: [StoredWebhook] = []
        while let next = try await deliverNext(from: stores[delivered.count % 2]) { delivered.append(next) }
        #expect(delivered.map(\.number) == numbers.reversed())
        expectSequences(of: 4, from: 50, delivered.map(\.webhook.event))
        for store in stores { try store.close() }
    }

    @Test func noWebhookIsLostOrOvertakenWhileItsLaneIsEmptied() async throws {
        let stores = [world.store, try world.open(access: .beside)]
        async let enqueuing: Void = enqueueSequences(of: 4, from: 10, to: stores)
        // The lane is deleted whenever it is empty, and opened again.
        let deadline = ContinuousClock.now + .seconds(60)
        var delivered: [String] = []
        while delivered.count < 40, .now < deadline {
            if let next = try await deliverNext(from: stores[1]) { delivered.append(next.webhook.event) }
        }
        try await enqueuing
        expectSequences(of: 4, from: 10, delivered)
        #expect(try await stores[0].webhooks.waiting().count == 0)
        #expect(try await stores[0].verify().problems == [])
        for store in stores { try store.close() }
    }

    /// Each task waits for each of its webhooks, and calls them `task number`.
    private func enqueueSequences(of length: Int, from tasks: Int, to stores: [Store]) async throws {
        try await withThrowingTaskGroup { group in
            for task in 0..<tasks {
                group.addTask {
                    for number in 0..<length {
                        let webhook = OutgoingWebhook(event: "\(task) \(number)", endpoint: Self.endpoint, room: "r1", body: "{}")
                        try await stores[task % stores.count].webhooks.enqueue([webhook], at: StoreWorld.start)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func deliverNext(from store: Store) async throws -> StoredWebhook? {
        let leased = try await store.webhooks.lease(to: Self.endpoint, limit: 10, for: .seconds(30), at: world.now)
        #expect(leased.count <= 1, "one webhook of a lane at a time")
        for webhook in leased { #expect(try await store.webhooks.delivered(webhook, at: world.now)) }
        return leased.first
    }

    private func expectSequences(of length: Int, from tasks: Int, _ events: [String]) {
        #expect(events.count == length * tasks)
        for task in 0..<tasks {
            #expect(events.filter { $0.hasPrefix("\(task) ") } == (0..<length).map { "\(task) \($0)" })
        }
    }

    // MARK: Deaths

    @Test func acknowledgedWritesSurviveDeathsOfTheServerOnce() async throws {
        let user = try await world.makeUser()
        let sessions = [try await world.startSession(of: user), try await world.startSession(of: user)]
        let writers = sessions.map { Writer(world: world, user: user, session: $0) }
        try await withThrowingTaskGroup { group in
            for writer in writers { group.addTask { try await writer.writeUntilStopped() } }
            for _ in 1...3 {
                for writer in writers { try await writer.waitForProgress() }
                try world.server.kill()
                try world.server.start()
            }
            for writer in writers {
                try await writer.waitForProgress()
                writer.stop()
            }
            try await group.waitForAll()
        }
        let webhooks = try await world.store.webhooks.list(limit: 1_000_000)
        for writer in writers {
            let turns = try await world.store.sessions.record(of: writer.session.id, of: user.id).turns.map(\.text)
            try writer.expectTurns(turns)
            try writer.expectWebhooks(webhooks.filter { $0.webhook.sessionID == writer.session.id }.map(\.webhook.body))
        }
        #expect(try await world.store.verify().problems == [])
        try world.store.close()
    }

    @Test func operationsFailAtOnceWhileTheServerIsAwayAndWorkAgainAfterwards() async throws {
        let user = try await world.makeUser("ann@example.org")
        let session = try await world.startSession(of: user)
        try world.server.kill()
        let began = ContinuousClock.now
        for number in 1...20 {
            await #expect(throws: StoreError.unreachable) { try await world.store.accounts.user(email: "ann@example.org") }
            await #expect(throws: StoreError.unreachable) {
                try await world.store.webhooks.enqueue(
                    [OutgoingWebhook(event: "\(number)", endpoint: Self.endpoint, room: "r1", body: "{}")], at: world.now)
            }
        }
        // A generous rest for a busy machine: one attempt to connect to a server that hangs takes longer.
        #expect(ContinuousClock.now - began < .seconds(8))
        try world.server.start()
        try await StoreError.retryingWhileUnavailable { _ = try await world.store.accounts.user(email: "ann@example.org") }
        let turn = world.turn("hello", number: 1, in: session)
        #expect(try await world.store.sessions.append(turn, of: user.id) == .stored)
        #expect(try await world.store.webhooks.waiting().count == 0)
        try world.store.close()
    }
}

/// Appends numbered turns to a session, and enqueues a webhook for each. It retries nothing.
private final class Writer: Sendable {
    private struct State {
        var isStopped = false
        var attempted = 0
        var turns: Set<Int> = []
        var webhooks: Set<Int> = []
    }

    let session: Session
    private let world: PostgresStoreWorld
    private let user: User
    private let state = Mutex(State())

    init(world: PostgresStoreWorld, user: User, session: Session) {
        self.world = world
        self.user = user
        self.session = session
    }

    func stop() { state.withLock { $0.isStopped = true } }

    func writeUntilStopped() async throws {
        while !state.withLock({ $0.isStopped }) {
            try Task.checkCancellation()
            do {
                try await say()
            } catch let error as StoreError where error == .unreachable {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private func say() async throws {
        let number = state.withLock { state in
            state.attempted += 1
            return state.attempted
        }
        let outcome = try await world.store.sessions.append(world.turn("\(number)", number: number, in: session), of: user.id)
        #expect(outcome == .stored)
        state.withLock { _ = $0.turns.insert(number) }
        let webhook = OutgoingWebhook(event: "said", endpoint: "https://a", room: "r1", body: "\(number)", sessionID: session.id)
        try await world.store.webhooks.enqueue([webhook], at: world.now)
        state.withLock { _ = $0.webhooks.insert(number) }
    }

    private var announced: Int { state.withLock { $0.webhooks.count } }

    /// Until twenty more numbers have been said and announced.
    func waitForProgress() async throws {
        let goal = announced + 20
        let deadline = ContinuousClock.now + .seconds(60)
        while announced < goal {
            guard .now < deadline else { throw PostgresServerError("the writers do not get on") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Expects each acknowledged number once, and none twice.
    func expectTurns(_ texts: [String]) throws { try expect(state.withLock { $0.turns }, in: texts) }

    func expectWebhooks(_ bodies: [String]) throws { try expect(state.withLock { $0.webhooks }, in: bodies) }

    private func expect(_ acknowledged: Set<Int>, in kept: [String]) throws {
        let numbers = try kept.map { try #require(Int($0)) }
        #expect(Set(numbers).count == numbers.count, "nothing is there twice")
        #expect(acknowledged.isSubset(of: numbers), "lost: \(acknowledged.subtracting(numbers))")
        #expect(acknowledged.count >= 80)
    }
}
