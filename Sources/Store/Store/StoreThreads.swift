internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// Threads on which a store is asked, and on which whoever asks may stay: an answer is worked out from beginning to end without another
/// thread, and one that waits for the disk stands in nobody's way but the store's.
///
/// They give way to the shards' threads: media come first. What waits here are tasks, as many as whoever starts them lets in.
package final class StoreThreads: TaskExecutor {
    private struct State {
        var waiting: [UnownedJob] = []
        var isEnded = false
    }

    private let state = Mutex(State())
    /// As many as wait; when it ends, one more for each thread.
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
            // To hear that the store is closed.
            DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// What waits is still done, and then they end.
    func end() {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        if isFirst { for _ in 0..<count { news.signal() } }
    }

    private func work() {
        // Of the calling thread alone, as Linux has it.
        _ = nice(StoreLimits.readersNiceness)
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        news.wait()
        return state.withLock { state in state.waiting.isEmpty ? nil : state.waiting.removeFirst() }
    }
}
