internal import CPostgres
internal import Glibc

/// A connection to a PostgreSQL server, through libpq. It blocks the calling thread, but never longer than its deadlines, and is used by
/// one thread at a time.
///
/// A connection that is lost, or whose server does not answer in time, is closed; every further call throws `unreachable`.
///
/// Statements with parameters are prepared once per connection. A pooler between gateway and server may hand each transaction to another
/// server connection, which does not know the statement: the connection then goes on without prepared statements.
final class PostgresConnection {
    /// Statements that stay prepared. Further ones are parsed each time.
    static let preparedMax = 256

    private struct Statement: Hashable {
        let sql: String
        let kinds: [PostgresParameter.Kind]
    }

    private let socket: PostgresSocket
    private let grace: Duration
    private var prepared: [Statement: String] = [:]
    /// Random, so that the names of two connections that share one of a pooler's differ. Otherwise they could run each other's statements.
    private let namePrefix = "patchbay_" + String(UInt64.random(in: 0 ... .max), radix: 36) + "_"
    /// Whether statements are prepared; false once the server did not know one, because a pooler is between.
    private(set) var isPreparing: Bool
    /// Why the transaction cannot commit, if it cannot: the last error since it began, for a conflict the first. Nil if there was none.
    private(set) var failure: PostgresError?
    /// How long the server may run a statement. The caller tells the server (`SET LOCAL statement_timeout`).
    var statementTimeout: Duration

    /// - Throws: `unreachable` if no server accepts the connection in time, whatever the reason; `other` if the target is no connection
    ///   string.
    init(_ settings: PostgresSettings, isPreparing: Bool = true) throws(PostgresError) {
        socket = try PostgresSocket(settings)
        grace = settings.grace
        statementTimeout = settings.statementTimeout
        self.isPreparing = isPreparing
    }

    var isOpen: Bool { socket.isOpen }

    /// Whether an idle connection is still open, without a request to the server.
    var isAlive: Bool { socket.isAlive }

    func close() { socket.close() }

    /// The state of the transaction as libpq knows it, without a request to the server.
    var transactionStatus: PGTransactionStatusType { socket.transactionStatus }

    /// Runs one statement with placeholders `$1`, `$2` and so on, and returns all its rows.
    ///
    /// - Throws: `retry` if the server does not know the prepared statement, or its table has changed since. The transaction succeeds when
    /// it runs again: without prepared statements, or on another connection.
    func execute(_ sql: String, _ parameters: [PostgresParameter] = []) throws(PostgresError) -> PostgresResult {
        try recordingFailure { () throws(PostgresError) -> PostgresResult in
            let kinds = parameters.map(\.kind)
            let types = kinds.map(\.rawValue)
            guard let (name, isNew) = try name(of: Statement(sql: sql, kinds: kinds), types: types) else {
                return try parameters.withArrays { values, lengths, formats throws(PostgresError) in
                    try perform { PQsendQueryParams($0, sql, Int32(types.count), types, values, lengths, formats, 1) }
                }
            }
            return try retryingWhatIsUnknown(isNew: isNew) { () throws(PostgresError) in
                try parameters.withArrays { values, lengths, formats throws(PostgresError) in
                    try perform { PQsendQueryPrepared($0, name, Int32(types.count), values, lengths, formats, 1) }
                }
            }
        }
    }

    /// Runs one or more statements without parameters, for example `BEGIN`.
    ///
    /// - Returns: the last statement's command tag, for example `COMMIT`.
    @discardableResult
    func run(_ script: String) throws(PostgresError) -> String {
        try recordingFailure { () throws(PostgresError) in try perform { PQsendQuery($0, script) }.command }
    }

    /// Forgets the failures of an earlier transaction.
    func forgetFailure() { failure = nil }

    private func perform(_ send: (OpaquePointer) -> Int32) throws(PostgresError) -> PostgresResult {
        try socket.perform(until: .now + statementTimeout + grace, send)
    }

    private func recordingFailure<T>(_ body: () throws(PostgresError) -> T) throws(PostgresError) -> T {
        do throws(PostgresError) {
            return try body()
        } catch {
            // After an error the server refuses all statements with 25P02 `in_failed_sql_transaction`.
            let isConsequence = failure != nil && error.sqlState == "25P02"
            if !isConsequence, failure?.kind != .retry || error.kind == .unreachable { failure = error }
            throw error
        }
    }

    // MARK: Prepared statements

    /// The name under which the server knows the statement, prepared if it is new; nil if it is to be sent without a name.
    private func name(of statement: Statement, types: [Oid]) throws(PostgresError) -> (name: String, isNew: Bool)? {
        guard isPreparing else { return nil }
        if let name = prepared[statement] { return (name, false) }
        guard prepared.count < Self.preparedMax else { return nil }
        let name = namePrefix + String(prepared.count)
        _ = try retryingWhatIsUnknown(isNew: true) { () throws(PostgresError) in
            try perform { PQsendPrepare($0, name, statement.sql, Int32(types.count), types) }
        }
        prepared[statement] = name
        return (name, true)
    }

    private func retryingWhatIsUnknown(
        isNew: Bool, _ body: () throws(PostgresError) -> PostgresResult
    ) throws(PostgresError) -> PostgresResult {
        do throws(PostgresError) {
            return try body()
        } catch {
            switch error.sqlState {
            // `invalid_sql_statement_name`, `duplicate_prepared_statement`: a pooler is between.
            case "26000", "42P05":
                isPreparing = false
                prepared = [:]
            // `feature_not_supported`, "cached plan must not change result type": a table has changed. Others may have changed, too.
            case "0A000" where !isNew: close()
            default: throw error
            }
            throw PostgresError(.retry, sqlState: error.sqlState, error.message)
        }
    }
}
