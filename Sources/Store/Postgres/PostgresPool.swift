internal import CPostgres
internal import Synchronization

/// Connections to one PostgreSQL server: as many as threads at most, opened when needed.
///
/// While the server cannot be reached, one caller at a time tries to connect, after a pause that doubles with each failure. All others fail
/// at once with the last failure.
final class PostgresPool: Sendable {
    /// A connection that no thread uses. `@unchecked Sendable`: a thread removes it from the pool before it uses it, and keeps no reference
    /// after returning it.
    private struct Idle: @unchecked Sendable {
        let connection: PostgresConnection
    }

    private struct State {
        var idle: [Idle] = []
        /// Idle connections, and those that a thread uses or is opening.
        var count = 0
        /// False once a pooler has been noticed.
        var isPreparing = true
        /// Whether the server has been reached before. Until then failures are thrown, but not reported.
        var wasReached = false
        var outage: Outage?
        var isClosed = false
    }

    /// Failures to connect since the last success.
    private struct Outage {
        var failures = 0
        var error: PostgresError
        var isConnecting = false
        /// When the next attempt may begin.
        var nextAttempt: ContinuousClock.Instant
    }

    static let sizeDefault = 8
    /// The pauses between attempts to connect.
    private static let backOff = PostgresBackOff(first: .milliseconds(100), max: .seconds(1))

    let threads: StoreThreads
    let settings: PostgresSettings
    private let size: Int
    private let report: @Sendable (PostgresError?) -> Void
    private let state = Mutex(State())

    /// Connects to nothing yet.
    ///
    /// - Parameters:
    ///   - size: the maximum number of connections, and the number of threads.
    ///   - report: called with an error when the server can no longer be reached and when the error changes, and with nil when it can be
    ///     reached again.
    init(
        _ settings: PostgresSettings, size: Int = PostgresPool.sizeDefault,
        reporting report: @escaping @Sendable (PostgresError?) -> Void = { _ in }
    ) {
        self.settings = settings
        self.size = size
        self.report = report
        threads = StoreThreads(count: size, name: "postgres")
    }

    deinit { threads.end() }

    /// Lends a connection. Call on one of `threads`.
    ///
    /// - Parameter body: a transaction that it leaves open is rolled back.
    /// - Throws: `unreachable` without waiting if the server could not be reached shortly before.
    func with<T>(_ body: (PostgresConnection) throws -> T) throws -> T {
        let connection = try take()
        defer { giveBack(connection) }
        return try body(connection)
    }

    /// Closes the idle connections; the others when their callers return.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            state.count -= state.idle.count
            defer { state.idle = [] }
            return state.idle
        }
        for idle in idle { idle.connection.close() }
        threads.end()
    }

    // MARK: Lending

    private func take() throws(PostgresError) -> PostgresConnection {
        while let idle = try takeIdle() {
            if idle.connection.isAlive { return idle.connection }
            idle.connection.close()
            state.withLock { $0.count -= 1 }
        }
        return try connect()
    }

    private func takeIdle() throws(PostgresError) -> Idle? {
        try state.withLock { state throws(PostgresError) in
            guard !state.isClosed else { throw .poolIsClosed }
            return state.idle.popLast()
        }
    }

    /// Opens a connection, unless an outage forbids it.
    private func connect() throws(PostgresError) -> PostgresConnection {
        let (isPreparing, failures) = try state.withLock { state throws(PostgresError) in
            // There are as many connections as threads.
            guard state.count < size else { throw PostgresError(.other, "all connections are in use") }
            if let outage = state.outage {
                guard !outage.isConnecting, outage.nextAttempt <= .now else { throw outage.error }
                state.outage?.isConnecting = true
            }
            state.count += 1
            return (state.isPreparing, state.outage?.failures ?? 0)
        }
        do throws(PostgresError) {
            let connection = try PostgresConnection(settings, isPreparing: isPreparing)
            let isRecovered = state.withLock { state in
                defer { (state.outage, state.wasReached) = (nil, true) }
                return state.outage != nil && state.wasReached
            }
            if isRecovered { report(nil) }
            return connection
        } catch {
            let isNew = state.withLock { state in
                state.count -= 1
                // Several callers may have noticed the outage at once.
                guard failures == state.outage?.failures ?? 0 else { return false }
                let pause = Self.backOff.pause(after: failures + 1)
                defer { state.outage = Outage(failures: failures + 1, error: error, nextAttempt: .now + pause) }
                return state.wasReached && state.outage?.error != error
            }
            if isNew { report(error) }
            throw error
        }
    }

    private func giveBack(_ connection: PostgresConnection) {
        // Also of a standby, which answers.
        if connection.failure?.kind == .unreachable { connection.close() }
        if connection.isOpen {
            switch connection.transactionStatus {
            case PQTRANS_IDLE: break
            case PQTRANS_INTRANS, PQTRANS_INERROR: if (try? connection.run("ROLLBACK")) == nil { connection.close() }
            default: connection.close()
            }
        }
        let idle = Idle(connection: connection)
        let isKept = state.withLock { state in
            if !idle.connection.isPreparing { state.isPreparing = false }
            guard !state.isClosed, idle.connection.isOpen else {
                state.count -= 1
                return false
            }
            state.idle.append(idle)
            return true
        }
        if !isKept { idle.connection.close() }
    }
}

/// Pauses that double with each failure, half of each at random, so that callers do not collide again.
struct PostgresBackOff: Sendable {
    let first: Duration
    let max: Duration

    /// - Parameter failures: from 1.
    func pause(after failures: Int) -> Duration {
        min(first * (1 << min(failures - 1, 20)), max) * Double.random(in: 0.5...1)
    }
}
