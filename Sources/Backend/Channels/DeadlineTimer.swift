package import Wire

/// Wakes its owner at the earliest armed deadline, using at most one sleeping task.
///
/// An earlier deadline replaces the task; a later one is ignored, because the owner arms again after waking.
package struct DeadlineTimer {
    private var deadline: Instant?
    private var sleeper: Task<Void, Never>?
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: must throw when the task is cancelled.
    package init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        self.sleep = sleep
    }

    /// - Parameter wake: must call `disarm()` before it arms again.
    package mutating func arm(for deadline: Instant, at now: Instant, wake: @escaping @Sendable () async -> Void) {
        if let armed = self.deadline, armed <= deadline { return }
        sleeper?.cancel()
        self.deadline = deadline
        let pause = max(.zero, deadline - now)
        sleeper = Task { [sleep] in
            do { try await sleep(pause) } catch { return }
            await wake()
        }
    }

    /// The deadline has passed and `wake` runs.
    package mutating func disarm() {
        deadline = nil
        sleeper = nil
    }

    package mutating func cancel() {
        sleeper?.cancel()
        disarm()
    }
}
