internal import GRDB
internal import Synchronization

/// The one way into the database for what changes it.
///
/// A commit waits for the disk (`synchronous=FULL`), and the disk takes one after the other. So all writes that have come while one was on its way
/// share the next: each has a savepoint of its own, one that fails leaves the others alone, and all are answered after the commit. When
/// the commit itself fails, or SQLite gives the whole transaction up (a full disk), each is tried once more by itself: nobody fails for a neighbour.
///
/// So the body of a write may run twice. It changes the database and nothing else.
final class CommitQueue: Sendable {
    private struct Write: Sendable {
        /// Changes the database and tells how to answer once that is committed.
        let run: @Sendable (Database) -> @Sendable () -> Void
        /// Answers that nothing was committed.
        let fail: @Sendable (StoreError) -> Void
    }

    private struct State {
        var waiting: [Write] = []
        var isRunning = false
    }

    private let pool: DatabasePool
    private let log: WriteAheadLog
    private let state = Mutex(State())

    init(pool: DatabasePool, log: WriteAheadLog) {
        self.pool = pool
        self.log = log
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

    /// One commit at a time, so that others who need the writing connection (`SessionStore.compact()`) have their turn in between.
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
        do {
            for answer in try Self.commitTogether(batch, in: db) { answer() }
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
