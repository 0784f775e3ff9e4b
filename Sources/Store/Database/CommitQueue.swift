internal import GRDB
internal import Synchronization

/// Group commit: the only path for writes.
///
/// Each commit waits for the disk (`synchronous=FULL`), so writes that arrive during a commit share the next one. Each write has its own
/// savepoint; a failing write does not affect the others. If the commit fails, or SQLite rolls back the whole transaction (disk full), each
/// write is retried alone.
///
/// A write's body may therefore run twice and must have no other effects.
final class CommitQueue: Sendable {
    private struct Write: Sendable {
        /// Changes the database and returns the completion to call after the commit.
        let run: @Sendable (Database) -> @Sendable () -> Void
        /// Completes with an error: nothing was committed.
        let fail: @Sendable (StoreError) -> Void
    }

    private struct State {
        var waiting: [Write] = []
        var isRunning = false
    }

    private let pool: DatabasePool
    private let log: WriteAheadLog
    private let observe: StoreObserver
    private let state = Mutex(State())

    init(pool: DatabasePool, log: WriteAheadLog, observing observe: @escaping StoreObserver) {
        self.pool = pool
        self.log = log
        self.observe = observe
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        let result: Result<T, StoreError> = await withCheckedContinuation { continuation in
            let write = Write(
                run: { db in
                    let result = Self.inSavepoint(of: db, body)
                    return { continuation.resume(returning: result) }
                },
                fail: { continuation.resume(returning: .failure($0)) })
            if !enqueue(write) { write.fail(.busy) }
        }
        return try result.get()
    }

    private static func inSavepoint<T>(of db: Database, _ body: (Database) throws -> T) -> Result<T, StoreError> {
        do {
            var value: T?
            try db.inSavepoint {
                value = try body(db)
                return .commit
            }
            guard let value else { return .failure(.failed("a savepoint was lost")) }
            return .success(value)
        } catch {
            return .failure(StoreError(error))
        }
    }

    private func enqueue(_ write: Write) -> Bool {
        let (isAccepted, isFirst) = state.withLock { state in
            guard state.waiting.count < StoreLimits.writesWaitingMax else { return (false, false) }
            state.waiting.append(write)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if isFirst { scheduleCommit() }
        return isAccepted
    }

    /// Schedules one commit at a time, so that other users of the writing connection (`SessionStore.compact()`) get their turn.
    private func scheduleCommit() {
        pool.asyncWriteWithoutTransaction { db in
            let batch = self.state.withLock { state in
                let batch = Array(state.waiting.prefix(StoreLimits.writesPerCommitMax))
                state.waiting.removeFirst(batch.count)
                return batch
            }
            self.commit(batch, in: db)
            self.log.grew(by: db.takePagesWritten())
            let isMoreWaiting = self.state.withLock { state in
                state.isRunning = !state.waiting.isEmpty
                return state.isRunning
            }
            if isMoreWaiting { self.scheduleCommit() }
        }
    }

    private func commit(_ batch: [Write], in db: Database) {
        let began = ContinuousClock.now
        do {
            let answers = try Self.commitTogether(batch, in: db)
            observe(.commit, began.duration(to: .now), nil)
            for answer in answers { answer() }
        } catch {
            if batch.count == 1 {
                batch[0].fail(StoreError(error))
            } else {
                for write in batch { commit([write], in: db) }
            }
        }
    }

    private static func commitTogether(_ batch: [Write], in db: Database) throws -> [@Sendable () -> Void] {
        try db.beginTransaction(.immediate)
        var answers: [@Sendable () -> Void] = []
        do {
            for write in batch {
                answers.append(write.run(db))
                guard db.isInsideTransaction else { throw StoreError.full }
            }
            try db.commit()
        } catch {
            if db.isInsideTransaction { try? db.rollback() }
            throw error
        }
        return answers
    }
}
