internal import Dispatch

/// Every limit of the store.
package enum StoreLimits {
    /// Writes that wait for the disk. One more is refused (`StoreError.busy`).
    package static let writesWaitingMax = 1_024
    /// Writes that share one commit.
    package static let writesPerCommitMax = 64
    /// How long another process may hold the store, in seconds.
    package static let lockPatience = 5.0

    /// Threads that read, as many as processors within this: they share no lock, and more would only take turns.
    static let readersRange = 2...4
    /// What each keeps of the database at hand, in bytes.
    static let readerCacheMax = 8 << 20
    /// How much they give way to other threads, as `nice` counts it.
    static let readersNiceness: Int32 = 5

    /// Pages, 4 KiB each, after which the write-ahead log is brought into the database, beside the writers.
    static let pagesPerCheckpoint = 500
    /// Pages in the log at which it is begun anew.
    static let logPagesMax = 8_192
    /// Pages that may be left to be brought over while writers wait, and how often it is tried to have no more than that.
    static let logRestMax = 64
    static let logRoundsMax = 3
    /// How long writers wait for those who read from the log, in milliseconds.
    static let logReadersPatience = 20
    /// How long what was deleted may stand in the log, sealed.
    static let deletedInLogMax = DispatchTimeInterval.seconds(3)
    /// How often it is tried to empty the write-ahead log while others read, and the pause between: a second in all.
    static let logAttemptsMax = 10
    static let logPause = Duration.milliseconds(100)

    /// Passwords that wait to be hashed. One more is refused (`StoreError.busy`); at two a time it would wait for seconds.
    package static let passwordsWaitingMax = 64
    /// Passwords hashed at a time, 32 MiB each.
    package static let passwordsAtOnceMax = 2

    /// Devices of one user with a refresh token of their own. At one more, the one that was used the longest ago is forgotten.
    package static let familiesPerUserMax = 32

    /// Turns of one session: nine hours with one in three seconds. One more is refused.
    package static let turnsPerSessionMax = 10_000
    /// In bytes of UTF-8.
    package static let turnTextMax = 64 << 10
    package static let clientContextMax = 64 << 10
    package static let sessionsPerPageMax = 200
    /// Characters of a summary that a list shows.
    package static let snippetLength = 160

    /// How long the same idempotency key means the same session.
    package static let idempotencyWindow = Duration.seconds(24 * 3_600)
    /// How often a job is begun before it has failed: four days of `SummaryWorker.retryDelay(afterAttempts:)`.
    package static let jobAttemptsMax = 24
    /// How long a failed job is kept, for an operator to see.
    package static let failedJobsKept = Duration.seconds(7 * 86_400)

    /// How long a webhook is tried. After that it is dead, and the next of its room has its turn.
    package static let webhookPatience = Duration.seconds(24 * 3_600)
    /// How long a delivered or dead webhook can be sent again. Shorter than the shortest retention of what it tells about.
    package static let webhooksKept = Duration.seconds(3 * 86_400)

    /// Sessions deleted in one transaction, so that nobody waits long for the disk.
    static let deletionsPerCommit = 25
}
