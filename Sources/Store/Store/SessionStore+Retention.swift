internal import GRDB

extension SessionStore {
    /// Deletes what has been kept long enough: ended sessions by their user's `retentionDays`, sent webhooks, expired tokens, and what is left of users who
    /// were being deleted when the process ended. At the end no byte of it is left. To be called every hour or so.
    ///
    /// - Returns: how many sessions are gone.
    @discardableResult
    package func expire(at now: WallTime) async throws(StoreError) -> Int {
        let count = try await deleteInSteps(
            // The second line is for the index: nobody's days are fewer.
            """
            SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id
            WHERE s.ended_at < \(Self.cutoff(days: UserSettings.retentionDaysRange.lowerBound, before: now))
            AND s.ended_at < \(now.milliseconds) - u.retention_days * 86400000
            """, [])
        let forgotten = try await reading { db in
            try String.fetchAll(db, sql: "SELECT id FROM users WHERE NOT EXISTS (SELECT 1 FROM user_keys k WHERE k.user_id = users.id)")
        }
        for id in forgotten.compactMap(UserID.init(text:)) { try await deleteRemains(of: id) }

        try await writing { db in
            try Self.expireWebhooks(in: db, at: now)
            for (table, time, span) in [
                ("refresh_families", "expires_at", Duration.zero), ("session_starts", "started_at", StoreLimits.idempotencyWindow),
                ("webhooks", "closed_at", StoreLimits.webhooksKept), ("jobs", "failed_at", StoreLimits.failedJobsKept),
            ] {
                try db.execute(
                    sql: "DELETE FROM \(table) WHERE \(time) <= ?", arguments: [(now - span).milliseconds])
            }
        }
        try await compactUnlessRead()
        return count
    }

    private static func cutoff(days: Int, before now: WallTime) -> Int64 { (now - .seconds(days * 86_400)).milliseconds }
}
