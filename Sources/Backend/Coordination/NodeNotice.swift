package import Store
internal import Synchronization

/// A notice to all other nodes of a cluster of what they must follow, because they keep it in memory.
package enum NodeNotice: Sendable, Hashable, Codable {
    /// The store has other definitions of assistants.
    case assistants
    /// The user's sessions, or what assistants are told about the user, have changed in the store.
    case sessions(of: UserID)
    /// Guesses about an account have failed, which are limited over all nodes (`GuessLimit`).
    case failures(of: String, count: Int)

    /// Whether a node that does not answer is told again.
    package var mustArrive: Bool { if case .failures = self { false } else { true } }
}

/// What this node does about the notices of other nodes. Created before the services that follow them.
package final class NodeNotices: Sendable {
    private let handler = Mutex<(@Sendable (NodeNotice) async -> Void)?>(nil)

    func handle(_ body: @escaping @Sendable (NodeNotice) async -> Void) { handler.withLock { $0 = body } }

    /// Returns when this node has followed the notice.
    package func follow(_ notice: NodeNotice) async { await handler.withLock { $0 }?(notice) }
}
