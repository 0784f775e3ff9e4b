internal import Synchronization

/// How many connections there may be at once, over all loops that share it.
package final class ConnectionQuota: Sendable {
    package let limit: Int
    private let taken = Atomic(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: false if there are as many as there may be.
    func take() -> Bool {
        guard taken.add(1, ordering: .relaxed).newValue > limit else { return true }
        giveBack()
        return false
    }

    func giveBack() {
        taken.subtract(1, ordering: .relaxed)
    }
}
