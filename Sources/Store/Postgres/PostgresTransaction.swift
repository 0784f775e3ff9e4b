internal import CPostgres
internal import Glibc

/// Transactions that run again after conflicts with others.
extension PostgresPool {
    enum Mode: Sendable {
        /// Reads one snapshot.
        case read
        /// Serializable: as if no other transaction ran at the same time. One of two conflicting transactions fails and runs again.
        case write
        /// Each statement reads what was committed before it, so that a process that has waited for a lock sees what the other did.
        case migration

        fileprivate var begin: String {
            switch self {
            case .read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            // A sequential scan conflicts with every write to its table ("Serializable Isolation Level" in PostgreSQL's documentation), and
            // the planner prefers it for small tables.
            case .write: "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE; SET LOCAL enable_seqscan = off"
            case .migration: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
            }
        }
    }

    /// The maximum number of attempts to run a transaction.
    static let attemptsMax = 100
    /// The pauses between attempts.
    private static let conflictBackOff = PostgresBackOff(first: .milliseconds(1), max: .milliseconds(50))

    /// The outcome of an attempt.
    private enum Attempt<T> {
        case committed(T)
        case conflict(PostgresError)
        /// The connection broke before the commit was sent: nothing was written.
        case lost(PostgresError)
    }

    /// Runs `body` in a transaction and commits. Call on one of `threads`.
    ///
    /// - Parameters:
    ///   - timeout: of each statement; nil: that of the settings.
    ///   - body: may run several times, and has no other effects than on the database. It runs again after conflicts, and once on a new
    ///     connection if the connection breaks before the commit. An error of its own rolls back.
    /// - Throws: the body's error, or `retry` after too many conflicts. `unreachable` if the connection breaks: if that happens during the
    ///   commit, it is unknown whether the transaction was written.
    func transaction<T>(_ mode: Mode, timeout: Duration? = nil, _ body: (PostgresConnection) throws -> T) throws -> T {
        var attempts = 0
        var hasReconnected = false
        while true {
            attempts += 1
            switch try with({ try attempt(mode, timeout ?? settings.statementTimeout, on: $0, body) }) {
            case .committed(let result): return result
            case .conflict(let error):
                guard attempts < Self.attemptsMax else { throw error }
                usleep(UInt32(Self.conflictBackOff.pause(after: attempts).milliseconds * 1_000))
            case .lost(let error):
                guard !hasReconnected else { throw error }
                hasReconnected = true
            }
        }
    }

    private func attempt<T>(
        _ mode: Mode, _ timeout: Duration, on connection: PostgresConnection, _ body: (PostgresConnection) throws -> T
    ) throws -> Attempt<T> {
        connection.forgetFailure()
        connection.statementTimeout = timeout
        let result: T
        do {
            try begin(mode, timeout, on: connection)
            result = try body(connection)
            // The body has caught the error of a statement. A commit would roll back without an error.
            if connection.transactionStatus != PQTRANS_INTRANS {
                throw connection.failure ?? PostgresError(.other, "the transaction has ended before its commit")
            }
        } catch {
            // The pool rolls back. The body may have made another error of that of the connection.
            guard let failure = connection.failure else { throw error }
            if failure.kind == .retry { return .conflict(failure) }
            // A server that hangs would let the next attempt wait as long.
            guard !connection.isOpen, failure != .noAnswer else { throw error }
            return .lost(failure)
        }
        do throws(PostgresError) {
            guard try connection.run("COMMIT") == "COMMIT" else { throw PostgresError(.other, "the transaction was rolled back") }
        } catch {
            // A conflict that the commit finds was reported by the server: nothing was written.
            if error.kind == .retry, connection.isOpen { return .conflict(error) }
            throw error
        }
        return .committed(result)
    }

    private func begin(_ mode: Mode, _ timeout: Duration, on connection: PostgresConnection) throws(PostgresError) {
        do throws(PostgresError) {
            try connection.run("\(mode.begin); SET LOCAL statement_timeout = \(max(1, timeout.milliseconds))")
        } catch {
            // 0A000 `feature_not_supported`: a standby knows no serializable transactions. The next connection may lead to the primary.
            guard error.sqlState == "0A000" else { throw error }
            connection.close()
            throw PostgresError(.unreachable, sqlState: error.sqlState, error.message)
        }
    }
}
