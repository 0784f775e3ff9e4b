import Synchronization
import TestProcesses
import Testing

@testable import Cluster

/// Servers that stop, restart, hang and forget. Timeouts that the story does not wait for are longer than the suite's time limit.
@Suite(.enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(1)))
struct NATSOutageTests {
    private static let never = Duration.seconds(600)

    private func settings(_ server: NATSServer, timeout: Duration) -> NATSSettings {
        var settings = server.settings("news")
        settings.requestTimeout = timeout
        return settings
    }

    @Test func aRestartedServerIsFoundAgainWithItsRecords() async throws {
        let server = try NATSServer()
        let log = EventLog()
        let broker = try await NATSBroker.start(settings(server, timeout: Self.never), onEvent: log.add)
        var events = log.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        let revision = try await broker.write([1], of: "k", after: 0)

        // A server that hangs has read no request when it is killed.
        try server.freeze()
        let read = Answer<StoredRecord?>()
        let written = Answer<UInt64>()
        broker.read("k", completion: read.set)
        broker.write([2], of: "k", after: revision, completion: written.set)
        broker.publish([9], to: "news")
        server.kill()
        #expect(await events.next() == .disconnected)
        #expect(await read.value == .failure(.unavailable))
        #expect(await written.value == .failure(.unavailable))
        await #expect(throws: BrokerError.unavailable) { try await broker.read("k") }
        // Dropped.
        broker.publish([10], to: "news")

        try server.start()
        #expect(await events.next() == .connected)
        #expect(try await broker.read("k") == StoredRecord(value: [1], revision: revision))
        broker.publish([11], to: "news")
        #expect(await events.next() == .received([11], subject: "news"))
        _ = try await broker.write([3], of: "k", after: revision)
        await broker.close()
    }

    @Test func aServerThatLostItsDataGetsANewBucket() async throws {
        let server = try NATSServer()
        let log = EventLog()
        let broker = try await NATSBroker.start(settings(server, timeout: .seconds(20)), onEvent: log.add)
        _ = try await broker.write([1], of: "k", after: 0)
        server.kill()
        try server.loseData()
        try server.start()
        var events = log.events.makeAsyncIterator()
        #expect([await events.next(), await events.next(), await events.next()] == [.connected, .disconnected, .connected])
        #expect(try await broker.read("k") == nil)
        #expect(try await broker.write([2], of: "k", after: 0) > 0)
        await broker.close()
    }

    /// The connection is kept: the server answers again before its pings are missed.
    @Test func requestsToAServerThatHangsEndAfterTheirTimeout() async throws {
        let server = try NATSServer()
        let broker = try await NATSBroker.start(settings(server, timeout: .milliseconds(300)), onEvent: { _ in })
        try server.freeze()
        let start = ContinuousClock.now
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask { await #expect(throws: BrokerError.unavailable) { try await broker.write([1], of: "k\(number)", after: 0) } }
            }
        }
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        try server.thaw()
        // The server performs the writes now; nobody waits for its answers.
        var written: StoredRecord?
        while written == nil { written = try? await broker.read("k99") }
        #expect(written?.value == [1])
        await broker.close()
    }

    @Test func aServerThatAnswersNoPingsIsLeft() async throws {
        let server = try NATSServer()
        let log = EventLog()
        var settings = settings(server, timeout: .seconds(20))
        settings.pingInterval = .milliseconds(200)
        let broker = try await NATSBroker.start(settings, onEvent: log.add)
        var events = log.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        try server.freeze()
        let read = Answer<StoredRecord?>()
        broker.read("k", completion: read.set)
        #expect(await events.next() == .disconnected)
        #expect(await read.value == .failure(.unavailable))
        try server.thaw()
        #expect(await events.next() == .connected)
        await broker.close()
    }

    @Test func aServerThatStopsReadingBlocksNobodyAndIsLeft() async throws {
        let server = try NATSServer()
        let log = EventLog()
        let broker = try await NATSBroker.start(settings(server, timeout: .milliseconds(300)), onEvent: log.add)
        var events = log.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        try server.freeze()
        let message = [UInt8](repeating: 1, count: 1_000_000)
        // More than the system's buffers and the queue hold.
        for _ in 0..<64 { broker.publish(message, to: "news") }
        await #expect(throws: BrokerError.unavailable) { try await broker.read("k") }
        #expect(await events.next() == .disconnected)
        try server.thaw()
        #expect(await events.next() == .connected)
        #expect(try await broker.read("k") == nil)
        await broker.close()
    }

    @Test func requestsBeyondTheLimitEndAtOnce() async throws {
        let server = try NATSServer()
        let broker = try await NATSBroker.start(settings(server, timeout: Self.never), onEvent: { _ in })
        try server.freeze()
        let ended = Atomic(0)
        for _ in 0..<NATSLimits.pendingRequestsMax {
            broker.read("k") { if $0 == .failure(.unavailable) { ended.add(1, ordering: .relaxed) } }
        }
        #expect(ended.load(ordering: .relaxed) == 0)
        await #expect(throws: BrokerError.unavailable) { try await broker.read("k") }
        #expect(ended.load(ordering: .relaxed) == 0)
        server.kill()
        await broker.close()
        #expect(ended.load(ordering: .relaxed) == NATSLimits.pendingRequestsMax)
    }

    @Test func aClosedBrokerEndsItsRequestsAndReportsNothing() async throws {
        let server = try NATSServer()
        let log = EventLog()
        let broker = try await NATSBroker.start(settings(server, timeout: Self.never), onEvent: log.add)
        try server.freeze()
        let read = Answer<StoredRecord?>()
        broker.read("k", completion: read.set)
        await broker.close()
        #expect(await read.value == .failure(.unavailable))
        try server.thaw()
        await #expect(throws: BrokerError.unavailable) { try await broker.read("k") }
        broker.publish([1], to: "news")
        server.kill()
        await broker.close()
        log.finish()
        #expect(await log.events.reduce(into: []) { $0.append($1) } == [.connected])
    }

    @Test func aBrokerThatIsClosedDuringAnOutageStopsConnecting() async throws {
        let server = try NATSServer()
        let log = EventLog()
        let broker = try await NATSBroker.start(settings(server, timeout: .seconds(1)), onEvent: log.add)
        var events = log.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        server.kill()
        #expect(await events.next() == .disconnected)
        await broker.close()
        try server.start()
        log.finish()
        #expect(await events.next() == nil)
    }

    @Test func messagesDoNotNeedJetStreamOnceABrokerHasStarted() async throws {
        let server = try NATSServer()
        let (failures, failed) = AsyncStream.makeStream(of: NATSError.self)
        let log = EventLog()
        let broker = try await NATSBroker.start(
            settings(server, timeout: .seconds(20)), onFailure: { failed.yield($0) }, onEvent: log.add)
        server.kill()
        try server.loseData()
        try server.start(hasJetStream: false)
        var events = log.events.makeAsyncIterator()
        #expect([await events.next(), await events.next(), await events.next()] == [.connected, .disconnected, .connected])
        broker.publish([1], to: "news")
        #expect(await events.next() == .received([1], subject: "news"))
        await #expect(throws: BrokerError.unavailable) { try await broker.write([1], of: "k", after: 0) }
        #expect(await failures.first { $0 == .noJetStream } != nil)
        server.kill()
        try server.start()
        #expect([await events.next(), await events.next()] == [.disconnected, .connected])
        #expect(try await broker.write([1], of: "k", after: 0) > 0)
        await broker.close()
    }

    @Test func oneOfSeveralServersIsEnough() async throws {
        let server = try NATSServer()
        var settings = settings(server, timeout: .seconds(1))
        settings.servers.insert("127.0.0.1:\(try NATSServer.freePort())", at: 0)
        for _ in 0..<4 {
            let broker = try await NATSBroker.start(settings, onEvent: { _ in })
            #expect(try await broker.read("k") == nil)
            await broker.close()
        }
    }
}

/// The answer to a request that has been made before.
private final class Answer<Success: Sendable & Equatable>: Sendable {
    private let (answers, continuation) = AsyncStream.makeStream(of: Result<Success, BrokerError>.self)

    @Sendable func set(_ answer: Result<Success, BrokerError>) {
        continuation.yield(answer)
        continuation.finish()
    }

    var value: Result<Success, BrokerError>? {
        get async { await answers.first { _ in true } }
    }
}
