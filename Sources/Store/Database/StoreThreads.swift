internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// Executor for store reads. A request runs on one thread from start to end, and blocking on the disk affects only the store.
///
/// The threads have a lower priority than the shards' threads. Callers bound the number of queued tasks.
package final class StoreThreads: TaskExecutor {
    private struct State {
        var waiting: [UnownedJob] = []
        var isEnded = false
    }

    private let state = Mutex(State())
    /// Counts queued jobs; `end()` adds one per thread.
    private let news = DispatchSemaphore(value: 0)
    private let count: Int

    init(count: Int, name: String) {
        self.count = count
        for index in 0..<count {
            let thread = Thread { self.work() }
            thread.name = "\(name)-\(index)"
            thread.start()
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = state.withLock { state in
            guard !state.isEnded else { return false }
            state.waiting.append(job)
            return true
        }
        if isTaken {
            news.signal()
        } else {
            // Runs to find that the store is closed.
            DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// Ends the threads after the queued jobs.
    func end() {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        if isFirst { for _ in 0..<count { news.signal() } }
    }

    private func work() {
        // On Linux this affects the calling thread only.
        _ = nice(StoreLimits.readersNiceness)
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        news.wait()
        return state.withLock { state in state.waiting.isEmpty ? nil : state.waiting.removeFirst() }
    }
}
