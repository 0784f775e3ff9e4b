internal import GRDB
internal import Glibc
internal import Synchronization

/// Group commit: the only path for writes.
///
/// Each commit waits for the disk (`synchronous=FULL`), so writes that arrive during a commit share the next one. Each write has its own
/// savepoint; a failing write does not affect the others. If the commit fails, or SQLite rolls back the whole transaction (disk full), each
/// write is retried alone.
///
/// A write's body may therefore run twice and must have no other effects.
///
/// Deletions have a reserve (`DeletionReserve`) of disk space, and of pages if the size of the database is limited.
final class CommitQueue: Sendable {
    enum Kind: Sendable {
        /// Frees space, or revokes something. Also written when the store is full.
        case deletion
        case other
    }

    private struct Write: Sendable {
        let kind: Kind
        /// Changes the database and returns the completion to call after the commit.
        let run: @Sendable (GRDB.Database) -> @Sendable () -> Void
        /// Completes with an error: nothing was committed.
        let fail: @Sendable (StoreError) -> Void
    }

    private struct State {
        var waiting: [Write] = []
        var isRunning = false
    }

    private let pool: DatabasePool
    private let log: WriteAheadLog
    /// Nil for a process that does not own the store.
    private let reserve: DeletionReserve?
    private let pagesMax: Int?
    private let observe: StoreObserver
    private let state = Mutex(State())

    /// - Parameter pagesMax: the maximum size of the database; nil for no limit.
    init(
        pool: DatabasePool, log: WriteAheadLog, reserve: DeletionReserve?, pagesMax: Int?, observing observe: @escaping StoreObserver
    ) {
        self.pool = pool
        self.log = log
        self.reserve = reserve
        self.pagesMax = pagesMax
        self.observe = observe
    }

    func write<T: Sendable>(as kind: Kind = .other, _ body: @escaping @Sendable (GRDB.Database) throws -> T) async throws(StoreError) -> T {
        let result: Result<T, StoreError> = await withCheckedContinuation { continuation in
            let write = Write(
                kind: kind,
                run: { db in
                    let result = Self.inSavepoint(of: db, body)
                    return { continuation.resume(returning: result) }
                },
                fail: { continuation.resume(returning: .failure($0)) })
            if !enqueue(write) { write.fail(.busy) }
        }
        return try result.get()
    }

    private static func inSavepoint<T>(of db: GRDB.Database, _ body: (GRDB.Database) throws -> T) -> Result<T, StoreError> {
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

    /// Schedules one commit at a time, so that other users of the writing connection (`Database.compact()`) get their turn.
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

    private func commit(_ batch: [Write], in db: GRDB.Database) {
        let began = ContinuousClock.now
        do {
            let answers = try commitTogether(batch, in: db)
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

    private func commitTogether(_ batch: [Write], in db: GRDB.Database) throws -> [@Sendable () -> Void] {
        try db.beginTransaction(.immediate)
        var answers: [@Sendable () -> Void] = []
        do {
            for write in batch {
                answers.append(try run(write, in: db))
                guard db.isInsideTransaction else { throw StoreError.full }
            }
            try db.commit()
        } catch {
            if db.isInsideTransaction { try? db.rollback() }
            throw error
        }
        return answers
    }

    private func run(_ write: Write, in db: GRDB.Database) throws -> @Sendable () -> Void {
        switch write.kind {
        case .other:
            guard reserve?.admitsWrites ?? true else { return { write.fail(.full) } }
            return write.run(db)
        case .deletion:
            guard let pagesMax else { return write.run(db) }
            try db.limitPages(to: pagesMax + StoreLimits.deletionReserve / StoreLimits.pageSize)
            // Below the database's size, that is the limit.
            defer { try? db.limitPages(to: pagesMax) }
            return write.run(db)
        }
    }
}

extension GRDB.Database {
    func limitPages(to count: Int) throws { try execute(sql: "PRAGMA max_page_count = \(count)") }
}

/// Disk space that only deletions use, so that users can free space and erase their data in a full store: a file that takes up
/// `StoreLimits.deletionReserve` bytes.
///
/// A deletion that finds the disk full empties the file. From then on only deletions are written, until the file has its size again; this is
/// tried at every other write.
final class DeletionReserve: Sendable {
    private struct State {
        /// Deletions that are using the reserve.
        var users = 0
        var lastAttempt: ContinuousClock.Instant?
    }

    private static let attemptInterval = Duration.seconds(1)

    private let path: String
    private let size: Int
    private let state = Mutex(State())

    /// - Parameter directory: the store's.
    init(directory: String, size: Int = StoreLimits.deletionReserve) {
        path = directory + "/" + Self.fileName
        self.size = size
    }

    static let fileName = "deletions.reserve"

    /// Whether other writes than deletions may be written: the reserve is there, or there is space for it again.
    var admitsWrites: Bool {
        if isComplete { return true }
        return state.withLock { state in
            let now = ContinuousClock.now
            guard state.users == 0, state.lastAttempt.map({ now - $0 >= Self.attemptInterval }) ?? true else { return false }
            state.lastAttempt = now
            return allocate()
        }
    }

    /// Gives the space up while `body` deletes.
    func using<T, E>(_ body: () async throws(E) -> T) async throws(E) -> T {
        state.withLock { state in
            state.users += 1
            truncate(path, 0)
        }
        defer { state.withLock { $0.users -= 1 } }
        return try await body()
    }

    private var isComplete: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size >= size
    }

    private func allocate() -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        guard posix_fallocate(file, 0, off_t(size)) == 0 else {
            // The part that fitted.
            ftruncate(file, 0)
            return false
        }
        return true
    }
}
