import Backend
import Synchronization
import Testing

@testable import Gateway

/// A cluster in memory around one node, `a/1`, that sends messages.
final class MessagesWorld: Sendable {
    struct State {
        var running: Set<String> = ["b/1", "c/1"]
        var coordinator: String?
        /// As the broker knows them; nil while it is away.
        var homes: [String: String]? = [:]
        var openHere: Set<String> = []
        /// Rooms without a home that can go on, and where.
        var restorable: [String: RoomClaim] = [:]
        /// Nodes that accept batches.
        var reachable: Set<String> = ["b/1", "c/1"]
        var searches: [String] = []
        var attempts: [String: Int] = [:]
        var received: [String: [NodeMessage]] = [:]
        var lost = 0
    }

    let state = Mutex(State())

    /// The cluster as node `a/1` sees it.
    var cluster: OutgoingMessages.Cluster {
        OutgoingMessages.Cluster(
            local: "a/1",
            isRunning: { [self] node in state.withLock { $0.running.contains(node) } },
            knownCoordinator: { [self] in
                state.withLock { state in state.coordinator.flatMap { $0 == "a/1" || state.running.contains($0) ? $0 : nil } }
            },
            findCoordinator: {},
            isOpenHere: { [self] room in state.withLock { $0.openHere.contains(room) } },
            find: { [self] room in
                state.withLock { state in
                    state.searches.append(room)
                    guard let homes = state.homes else { return .unavailable }
                    return homes[room].map(RoomClaim.elsewhere) ?? .here
                }
            },
            restore: { [self] room in
                state.withLock { state in
                    let claim = state.restorable[room] ?? .here
                    if claim == .here, state.restorable[room] != nil { state.openHere.insert(room) }
                    return claim
                }
            },
            send: { [self] batch, node in
                state.withLock { state in
                    state.attempts[node, default: 0] += 1
                    guard state.running.contains(node) else { return .ended }
                    guard state.reachable.contains(node) else { return .failed }
                    state.received[node, default: []] += batch.messages
                    return .delivered
                }
            }, noteLoss: { [self] in state.withLock { $0.lost += 1 } })
    }

    /// Runs a story while `OutgoingMessages` looks for destinations. Messages that it delivers locally count as received by this node.
    func run(_ story: (OutgoingMessages) throws -> Void) throws {
        let outgoing = OutgoingMessages(cluster)
        let running = Task {
            await outgoing.run { [self] message in
                state.withLock { $0.received["a/1", default: []].append(message) }
                return true
            }
        }
        defer { running.cancel() }
        try story(outgoing)
    }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    func received(by node: String) -> [NodeMessage] { state.withLock { $0.received[node] ?? [] } }

    func expect(_ messages: [NodeMessage], at node: String) throws {
        try Patience.until("all messages arrive at \(node)") { received(by: node).count >= messages.count }
        #expect(received(by: node) == messages)
    }
}
