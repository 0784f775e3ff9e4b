package import Store
internal import Synchronization

/// A change in the store of a cluster that other nodes must follow, because they keep in memory what has changed.
package enum StoreChange: Sendable, Hashable, Codable {
    /// The definitions of assistants.
    case assistants
    /// The user's sessions, or what assistants are told about the user.
    case sessions(of: UserID)
}

/// What this node does about the changes of other nodes. Created before the services that follow them.
package final class StoreChanges: Sendable {
    private let handler = Mutex<(@Sendable (StoreChange) async -> Void)?>(nil)

    func handle(_ body: @escaping @Sendable (StoreChange) async -> Void) { handler.withLock { $0 = body } }

    /// Returns when this node's memory agrees with the store.
    package func follow(_ change: StoreChange) async { await handler.withLock { $0 }?(change) }
}
