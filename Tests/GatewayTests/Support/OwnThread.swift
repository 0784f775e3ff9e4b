import Foundation
import Testing

/// Runs each test on a thread of its own, so that its sockets may block.
///
/// Required for tests that use `RawSocket` and the types built on it.
struct OwnThread: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void) async throws
    {
        let result = await Self.run { await Result { () async throws in try await function() } }
        await TestGateway.allEnded()
        try result.get()
    }

    static func run<T: Sendable, E>(_ body: @concurrent @Sendable () async throws(E) -> T) async throws(E) -> T {
        let executor = ThreadExecutor()
        defer { executor.finish() }
        return try await withTaskExecutorPreference(executor) { () async throws(E) -> T in try await body() }
    }
}

extension Trait where Self == OwnThread {
    static var onOwnThread: OwnThread { OwnThread() }
}

/// Runs jobs on one thread, in order.
///
/// `@unchecked Sendable`: `jobs` and `isOver` are used under `condition` only.
private final class ThreadExecutor: TaskExecutor, @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []
    private var isOver = false

    init() {
        let thread = Thread { [self] in
            while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
        thread.name = "test"
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }

    func finish() {
        condition.withLock {
            isOver = true
            condition.signal()
        }
    }

    private func next() -> UnownedJob? {
        condition.withLock {
            while jobs.isEmpty, !isOver { condition.wait() }
            return jobs.isEmpty ? nil : jobs.removeFirst()
        }
    }
}
