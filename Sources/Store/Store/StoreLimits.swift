internal import Dispatch

/// The store's limits.
package enum StoreLimits {
    /// Queued writes. Further ones throw `StoreError.busy`.
    package static let writesWaitingMax = 1_024
    /// Writes per commit.
    package static let writesPerCommitMax = 64
    /// SQLite's page size, in bytes.
    static let pageSize = 4_096
    /// Disk space that only deletions use, in bytes: more than one commit of a deletion takes.
    static let deletionReserve = 8 << 20
    /// How long to wait for another process's lock, in seconds.
    package static let lockTimeout = 5.0

    /// PostgreSQL: the maximum number of rows and bytes that a request for rows of a long result returns, and the timeout of each statement
    /// of a long read or a migration.
    static let rowsPerFetch = 512
    static let bytesPerFetch = 4 << 20
    static let longReadTimeout = Duration.seconds(600)

    /// PostgreSQL: the interval between a node's beats, and the time without a beat after which others release its leases.
    static let nodeBeatInterval = Duration.seconds(2)
    static let nodeSilence = Duration.seconds(10)
    /// After a longer gap between two observations of the nodes, the time without a beat is counted from zero.
    static let nodeObservationGapMax = Duration.seconds(5)
    /// How often a new owner checks whether an earlier one has ended.
    static let nodePollInterval = Duration.milliseconds(500)

    /// The maximum number of rows, a power of two, and of bytes in an `INSERT` of a copy.
    static let rowsPerInsert = 128
    static let bytesPerInsert = 1 << 20
    /// SQLite's page cache for the file that a copy writes, in bytes.
    static let copyCacheMax = 64 << 20

    /// Reader threads, one per processor within this range.
    static let readersRange = 2...4
    /// Page cache per reader, in bytes.
    static let readerCacheMax = 8 << 20
    /// Reader threads' `nice` value: media threads go first.
    static let readersNiceness: Int32 = 5

    /// Checkpoint the write-ahead log after this many pages of 4 KiB, concurrently with writers.
    static let pagesPerCheckpoint = 500
    /// Truncate the log at this many pages.
    static let logPagesMax = 8_192
    /// Pages that a blocking checkpoint may have to copy, and how many concurrent checkpoints try to get there first.
    static let logRemainderMax = 64
    static let logRoundsMax = 3
    /// How long a blocking checkpoint waits for readers, in milliseconds.
    static let logReadersTimeout = 20
    /// How long deleted (encrypted) data may stay in the log.
    static let deletedInLogMax = DispatchTimeInterval.seconds(3)
    /// Attempts to truncate the log while readers block it, and the pause between them.
    static let logAttemptsMax = 10
    static let logPause = Duration.milliseconds(100)

    /// Passwords queued for hashing. Further ones throw `StoreError.busy`.
    package static let passwordsWaitingMax = 64
    /// Concurrent password hashes, 32 MiB each.
    package static let passwordsAtOnceMax = 2

    /// Refresh token families per user. The least recently used one is dropped.
    package static let familiesPerUserMax = 32

    /// How long a code for a password or an address is valid.
    package static let codeLifetime = Duration.seconds(900)
    /// Wrong codes after which the right one is void.
    package static let codeFailuresMax = 5
    /// The least time between two codes for the same purpose.
    package static let codeInterval = Duration.seconds(60)

    /// Sessions of a user that have not ended.
    package static let openSessionsPerUserMax = 1_000
    /// Turns per session: nine hours at one in three seconds.
    package static let turnsPerSessionMax = 10_000
    /// In bytes of UTF-8.
    package static let turnTextMax = 64 << 10
    /// How long assistants and services may add turns after the end of a session.
    package static let lateTurnsSpan = Duration.seconds(60)
    package static let clientContextMax = 64 << 10
    package static let sessionsPerPageMax = 200
    /// Length of a list's summary snippet, in characters.
    package static let snippetLength = 160

    /// Lines in a page of contacts or calls.
    package static let linesPerPageMax = 200
    package static let contactsPerUserMax = 1_000
    /// Calls in a user's history. The oldest ones are dropped.
    package static let callsPerUserMax = 5_000

    /// Devices of a user that can be woken. The least recently registered one is dropped.
    package static let pushDevicesPerUserMax = 16

    /// Conversations that a user has joined.
    package static let conversationsPerUserMax = 1_000
    /// Conversations that a user is invited to and has not joined.
    package static let invitationsPerUserMax = 100
    /// How many more of them contacts of the user may add.
    package static let invitationsOfContactsReserve = 100
    /// Invitations of one user that another has not answered.
    package static let invitationsPerInviterMax = 10
    package static let membersPerConversationMax = 256
    /// Beyond it, the oldest event of the user with the most events is dropped.
    package static let eventsPerConversationMax = 10_000
    /// In bytes of UTF-8.
    package static let conversationTextMax = 4_096

    /// How long an idempotency key identifies a session.
    package static let idempotencyWindow = Duration.seconds(24 * 3_600)
    /// Attempts before a job fails: four days of `SummaryWorker.backoff`.
    package static let jobAttemptsMax = 24
    /// How long failed jobs are kept for operators.
    package static let failedJobsKept = Duration.seconds(7 * 86_400)

    /// How long delivery of a webhook is retried before it is dead and its lane advances.
    package static let webhookLifetime = Duration.seconds(24 * 3_600)
    /// How long delivered and dead webhooks can be replayed. Shorter than the shortest retention.
    package static let webhooksKept = Duration.seconds(3 * 86_400)

    /// How long the epoch of a room is known after its last write: longer than a home that has been cut off writes about the room.
    package static let roomEpochsKept = Duration.seconds(86_400)

    /// Stored definitions of assistants.
    package static let assistantsMax = 1_000

    /// How often the generation of a speech clip is started, also by several processes, before it has failed.
    package static let clipAttemptsMax = 6
    /// A clip's time of use is at most this old.
    static let clipUseResolution = Duration.seconds(600)
    /// How long an unused clip is kept.
    package static let clipsKept = Duration.seconds(30 * 86_400)

    /// Sessions deleted per transaction, which bounds how long other writers wait.
    static let deletionsPerCommit = 25
}
