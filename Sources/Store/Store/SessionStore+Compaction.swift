internal import GRDB

extension SessionStore {
    /// Gives pages that hold nothing back to the disk, and empties the write-ahead log, in which older pages stand. Until then what was deleted
    /// may be found there, sealed. Writes go on in between.
    ///
    /// - Throws: `busy` if somebody reads for so long (`verify()`, `backup(to:)`) that the log can't be emptied.
    package func compact() async throws(StoreError) {
        do {
            while try await givePagesBack() {}
            var attempts = 1
            while try await !log.empty() {
                guard attempts < StoreLimits.logAttemptsMax else { throw StoreError.busy }
                attempts += 1
                try await Task.sleep(for: StoreLimits.logPause)
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// The same for who has deleted something: that is done, whoever reads. What still stands in the log goes with the next compaction.
    func compactUnlessRead() async throws(StoreError) {
        do { try await compact() } catch .busy {}
    }

    /// A few at a time.
    ///
    /// - Returns: whether there may be more.
    private func givePagesBack() async throws -> Bool {
        try await pool.writeWithoutTransaction { db in
            guard let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count"), free > 0 else { return false }
            try db.execute(sql: "PRAGMA incremental_vacuum(500)")
            return true
        }
    }
}
