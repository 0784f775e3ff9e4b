import Cluster
import Synchronization
import TestProcesses
import Testing
import Wire

/// Nodes on a real NATS server. `make simulate-cluster` covers faults; these tests show that decisions and broker fit together.
@Suite(.enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
struct ClusterNodeTests {
    let server: NATSServer

    init() throws { server = try NATSServer() }

    /// A node whose rooms hold bytes.
    private final class Node: ClusterNode.Rooms {
        private let contents = Mutex<[String: [UInt8]]>([:])
        private let ends = Mutex<[String: ClusterStateMachine.EndReason]>([:])
        private let running = Mutex<(node: ClusterNode, broker: NATSBroker, task: Task<Void, Never>)?>(nil)
        let identity: NodeIdentity

        init(_ name: String, on server: NATSServer, seal: BeatSeal = BeatSeal(), promiseMax: Duration = .seconds(60)) async throws {
            identity = NodeIdentity(name: name, incarnation: .random(in: 0 ... .max))
            // The broker's events begin before there is a node to get them.
            let (events, continuation) = AsyncStream.makeStream(of: BrokerEvent.self)
            let broker = try await NATSBroker.start(server.settings(ClusterNode.beatSubject)) { continuation.yield($0) }
            let beat = NodeBeat(node: identity, number: 0, build: "test")
            let node = ClusterNode(beat, broker: broker, rooms: self, seal: seal, promiseMax: promiseMax)
            let task = Task {
                async let forwarding: Void = { for await event in events { node.handle(event) } }()
                await node.run()
                continuation.finish()
                await forwarding
            }
            running.withLock { $0 = (node, broker, task) }
        }

        var node: ClusterNode { running.withLock { $0!.node } }

        /// As far as others can tell, the process is killed.
        func stop() async {
            let (_, broker, task) = running.withLock { $0! }
            task.cancel()
            await task.value
            await broker.close()
        }

        func set(_ room: String, _ bytes: [UInt8]) { contents.withLock { $0[room] = bytes } }
        func bytes(of room: String) -> [UInt8]? { contents.withLock { $0[room] } }
        func end(of room: String) -> ClusterStateMachine.EndReason? { ends.withLock { $0[room] } }

        func isWritten(_ room: String) async -> Bool {
            await withCheckedContinuation { continuation in node.promise(room) { continuation.resume(returning: $0) } }
        }

        func isHome(of room: String) async -> Bool {
            if case .local = await node.home(of: room) { true } else { false }
        }

        func began(_ room: String, _ epoch: RoomEpoch, snapshot: [UInt8], former: NodeIdentity?) { set(room, snapshot) }
        func raised(_ room: String, _ epoch: RoomEpoch) {}
        func ended(_ room: String, _ reason: ClusterStateMachine.EndReason) {
            _ = contents.withLock { $0.removeValue(forKey: room) }
            ends.withLock { $0[room] = reason }
        }
        func collect(_ room: String, isLast: Bool, completion: @escaping @Sendable ([UInt8]) -> Void) { completion(bytes(of: room) ?? []) }
        func resumed(_ room: String) {}
        func refused(_ room: String, reason: String) {}
        func nameTaken() {}
        func nodesChanged(_ running: [NodeBeat]) {}
    }

    private func until(_ what: Comment, within seconds: Int = 20, _ condition: () async -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while await !condition() {
            try #require(ContinuousClock.now < deadline, what)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The first caller after a suspension must not conclude that the broker is away, and so promise nothing.
    @Test func suspensionIsNoSilenceOfTheBroker() async throws {
        let suspended = try await Node("n1", on: server)
        try await until("its beats come back") { suspended.node.hearsItself }
        await suspended.stop()
        try await Task.sleep(for: ClusterLimits.echoSilence * 1.5)
        #expect(suspended.node.hearsItself)
    }

    @Test func roomGoesOnElsewhereWhenItsHomeIsKilled() async throws {
        let (first, second) = (try await Node("a", on: server), try await Node("b", on: server))
        try await until("the first is the home") { await first.isHome(of: "r") }
        first.set("r", [1, 2, 3])
        #expect(await first.isWritten("r"))
        try await until("the second knows the first") { await second.node.home(of: "r") == .elsewhere(first.identity) }

        await first.stop()
        try await until("the second takes over") { await second.isHome(of: "r") }
        #expect(second.bytes(of: "r") == [1, 2, 3])
        await second.stop()
    }

    @Test func movedRoomIsTakenOverFromARunningNode() async throws {
        let (first, second) = (try await Node("a", on: server), try await Node("b", on: server))
        try await until("the first is the home") { await first.isHome(of: "r") }
        first.set("r", [7])
        first.node.post(.moved(room: "r"))
        try await until("it has moved") { first.end(of: "r") == .moved }
        try await until("the second takes it, though the first still runs") { await second.isHome(of: "r") }
        #expect(second.bytes(of: "r") == [7])
        await first.stop()
        await second.stop()
    }

    @Test func roomsGoOnWithoutBrokerAndNewOnesWaitForIt() async throws {
        let node = try await Node("a", on: server)
        try await until("it is the home") { await node.isHome(of: "r") }
        server.kill()
        try await until("the loss is noticed") { await node.node.home(of: "new") == .unavailable }
        #expect(await node.isHome(of: "r"))
        node.set("r", [5])
        async let written = node.isWritten("r")
        try server.start()
        #expect(await written, "the promise is kept once the broker is back")
        try await until("new rooms begin again") { await node.isHome(of: "new") }
        await node.stop()
    }

    @Test func beatWithoutTheSealOfTheClusterCountsForNothing() async throws {
        let seal = BeatSeal(close: { $0 + [7] }, open: { $0.last == 7 ? $0.dropLast() : nil })
        let (stranger, node) = (try await Node("a", on: server), try await Node("b", on: server, seal: seal))
        try await until("the stranger is the home") { await stranger.isHome(of: "r") }
        try await until("it has ended for the others") { await node.isHome(of: "r") }
        await stranger.stop()
        await node.stop()
    }

    @Test func replyIsSentWhenTheBrokerStaysAway() async throws {
        let node = try await Node("a", on: server, promiseMax: .milliseconds(100))
        try await until("it is the home") { await node.isHome(of: "r") }
        server.kill()
        #expect(await node.isWritten("r"), "the room goes on here")
        await node.stop()
    }

    @Test func recordsThatTheServerHasLostAreWrittenAgain() async throws {
        let (first, second) = (try await Node("a", on: server), try await Node("b", on: server))
        try await until("the first is the home") { await first.isHome(of: "r") }
        first.set("r", [9])
        server.kill()
        try server.loseData()
        try server.start()
        try await until("the first has written again") { await first.isWritten("r") }
        // It may find the broker again later.
        try await until("the second reads it") { await second.node.home(of: "r") == .elsewhere(first.identity) }
        await first.stop()
        await second.stop()
    }

    @Test func whoeverWaitsForAStoppedNodeIsTold() async throws {
        let node = try await Node("a", on: server)
        try await until("it is the home") { await node.isHome(of: "r") }
        await node.stop()
        #expect(await node.node.home(of: "r") == .unavailable)
        #expect(await !node.isWritten("r"))
    }
}

/// A node whose broker does not answer.
struct ClusterNodeLimitTests {
    private struct SilentBroker: Broker {
        func publish(_ message: [UInt8], to subject: String) {}
        func read(_ key: String, completion: @escaping @Sendable (Result<StoredRecord?, BrokerError>) -> Void) {}
        func write(
            _ value: [UInt8], of key: String, after revision: UInt64, completion: @escaping @Sendable (Result<UInt64, BrokerError>) -> Void
        ) {}
    }

    private struct NoRooms: ClusterNode.Rooms {
        func began(_ room: String, _ epoch: RoomEpoch, snapshot: [UInt8], former: NodeIdentity?) {}
        func raised(_ room: String, _ epoch: RoomEpoch) {}
        func ended(_ room: String, _ reason: ClusterStateMachine.EndReason) {}
        func collect(_ room: String, isLast: Bool, completion: @escaping @Sendable ([UInt8]) -> Void) {}
        func resumed(_ room: String) {}
        func refused(_ room: String, reason: String) {}
        func nameTaken() {}
        func nodesChanged(_ running: [NodeBeat]) {}
    }

    @Test(.timeLimit(.minutes(1))) func whoeverComesWhenTooManyWaitIsAnsweredAtOnce() async {
        let beat = NodeBeat(node: NodeIdentity(name: "a", incarnation: 1), number: 0, build: "test")
        let node = ClusterNode(beat, broker: SilentBroker(), rooms: NoRooms())
        node.post(.connected)
        let running = Task { await node.run() }
        let answers = await withTaskGroup(of: ClusterStateMachine.Answer.self) { group in
            for number in 0..<ClusterLimits.waitingMax + 10 { group.addTask { await node.home(of: "room-\(number)") } }
            var answers: [ClusterStateMachine.Answer] = []
            while answers.count < 10, let answer = await group.next() { answers.append(answer) }
            // The others are told when the node ends.
            running.cancel()
            return answers
        }
        #expect(answers == Array(repeating: .unavailable, count: 10))
        await running.value
    }
}
