internal import CPostgres

/// An error of PostgreSQL, of libpq, or of the connection between them.
///
/// Neither the message nor the constraint contains values: the server's detail, context and statement are left out.
struct PostgresError: Error, Hashable, Sendable {
    /// The kinds of errors that callers handle differently, with their codes (PostgreSQL's documentation, appendix A, "PostgreSQL Error
    /// Codes").
    enum Kind: Hashable, Sendable {
        /// The transaction may succeed if it runs again: 40001 `serialization_failure`, 40P01 `deadlock_detected`, 53200 `out_of_memory`,
        /// for the locks of many serializable transactions at the same time (`max_pred_locks_per_transaction`), or a prepared statement that
        /// the connection no longer uses (`PostgresConnection.execute`).
        case retry
        /// 53100 `disk_full`.
        case full
        /// There is no server that can write: no or a lost connection (class 08), a shutdown (57P01 `admin_shutdown`,
        /// 57P02 `crash_shutdown`), a starting server (57P03 `cannot_connect_now`), too many connections (53300), a standby
        /// (25006 `read_only_sql_transaction`), a fatal error, which ends the connection, or a server that does not answer in time.
        case unreachable
        /// 57014 `query_canceled`, which the statement timeout causes; 55P03 `lock_not_available`.
        case timeout
        /// XX001 `data_corrupted`, XX002 `index_corrupted`.
        case damaged
        /// 42P01 `undefined_table`, 42703 `undefined_column`: the database was emptied or replaced.
        case missing
        /// 23505 `unique_violation`, with the constraint's name.
        case unique(constraint: String)
        /// 23503 `foreign_key_violation`.
        case foreignKey
        case other
    }

    let kind: Kind
    /// The error code of five characters; nil if libpq or this program found the error.
    let sqlState: String?
    let message: String

    init(_ kind: Kind, sqlState: String? = nil, _ message: String) {
        self.kind = kind
        self.sqlState = sqlState
        self.message = message
    }

    /// The error of a failed result.
    init(_ result: PostgresResult) {
        let state = patchbay_pg_sqlstate(result.pointer).map { String(cString: $0) }
        let isFatal = patchbay_pg_severity(result.pointer).map { String(cString: $0) != "ERROR" } ?? false
        let constraint = patchbay_pg_constraint(result.pointer).map { String(cString: $0) } ?? ""
        let message = patchbay_pg_message(result.pointer).map { String(cString: $0) } ?? "the statement failed"
        kind = isFatal ? .unreachable : Self.kind(of: state, constraint: constraint)
        sqlState = state
        // The messages of data exceptions (class 22) quote values.
        self.message = state?.hasPrefix("22") == true ? "a value is invalid" : message
    }

    private static func kind(of state: String?, constraint: String) -> Kind {
        switch state {
        case "40001", "40P01", "53200": .retry
        case "53100": .full
        case "25006", "53300", "57P01", "57P02", "57P03": .unreachable
        case "55P03", "57014": .timeout
        case "XX001", "XX002": .damaged
        case "42P01", "42703": .missing
        case "23505": .unique(constraint: constraint)
        case "23503": .foreignKey
        case let state?: state.hasPrefix("08") ? .unreachable : .other
        case nil: .other
        }
    }

    static let poolIsClosed = PostgresError(.other, "the store is closed")
    static let noAnswer = PostgresError(.unreachable, "the server did not answer in time")
}

extension PostgresError {
    /// What an operator can do about a connection that libpq refuses, by a part of libpq's message. These errors have no code.
    private static let remedies = [
        ("certificate verify failed", "set sslrootcert to the certificate of the authority that signed the server's"),
        ("does not match host name", "use a name of the server's certificate in the URI, or a certificate for this name"),
        ("server does not support SSL", "set up TLS in the server (`ssl = on`)"),
        ("session is read-only", "name the server that accepts writes, or all of them (postgresql://user@a,b/database)"),
    ]

    /// The error and, if it is known, what an operator can do about it.
    var explanation: String {
        let remedies = Self.remedies.filter { message.contains($0.0) }.map(\.1)
        return ([description] + remedies).joined(separator: "; ")
    }
}

extension PostgresError: CustomStringConvertible {
    var description: String { sqlState.map { "PostgreSQL \($0): \(message)" } ?? "PostgreSQL: \(message)" }
}
