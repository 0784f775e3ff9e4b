internal import GRDB
internal import GRDBSQLite

/// Goes through a statement's rows and looks at their columns where SQLite has them, for lists: GRDB's rows copy each value that is kept
/// outside of them. A column is good until `next()`.
struct RowReader: ~Copyable {
    private let statement: Statement
    private let handle: OpaquePointer

    /// - Parameter statement: one of `cachedStatement(sql:)`, with one value for each question mark.
    init(_ statement: Statement, _ arguments: StatementArguments) {
        self.statement = statement
        handle = statement.sqliteStatement
        statement.setUncheckedArguments(arguments)
    }

    /// - Returns: whether there is one more.
    mutating func next() throws -> Bool {
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
    }

    /// Text or a blob; nil for NULL.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
        // In this order, as SQLite's documentation has it.
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// Nil for NULL.
    func text(_ column: Int32) -> String? { bytes(column).map { String(decoding: $0, as: UTF8.self) } }

    /// Nil for NULL.
    func integer(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
    }

    deinit {
        sqlite3_reset(handle)
    }
}
