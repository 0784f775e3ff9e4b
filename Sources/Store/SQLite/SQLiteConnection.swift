internal import Foundation
internal import GRDB
internal import GRDBSQLite

extension GRDB.Database: SQLConnection {
    func execute(_ sql: String, _ values: [any SQLValue]) throws -> Int {
        try cachedStatement(sql: sql).execute(arguments: Self.arguments(values))
        return changesCount
    }

    func one(_ sql: String, _ values: [any SQLValue]) throws -> Row? {
        try GRDB.Row.fetchOne(cachedStatement(sql: sql), arguments: Self.arguments(values)).map { Row($0) }
    }

    func all(_ sql: String, _ values: [any SQLValue]) throws -> [Row] {
        try GRDB.Row.fetchAll(cachedStatement(sql: sql), arguments: Self.arguments(values)).map { Row($0) }
    }

    func each(_ sql: String, _ values: [any SQLValue], body: (Row) throws -> Void) throws {
        // Not a cached statement: `body` may run the same one.
        try GRDB.Row.fetchCursor(self, sql: sql, arguments: Self.arguments(values)).forEach { try body(Row($0)) }
    }

    func cursor(_ sql: String, _ values: [any SQLValue]) throws -> any RowCursor {
        SQLiteCursor(try cachedStatement(sql: sql), Self.arguments(values))
    }

    func findFaults(atMost limit: Int) throws -> [String] {
        let files = try String.fetchAll(self, sql: "PRAGMA integrity_check(\(limit))").filter { $0 != "ok" }.map { "SQLite says: \($0)." }
        let references = try GRDB.Row.fetchAll(self, sql: "PRAGMA foreign_key_check").map { row -> String in
            "A row of \(row["table"] as String? ?? "") refers to one of \(row["parent"] as String? ?? "") that is not there."
        }
        return files + references
    }

    private static func arguments(_ values: [any SQLValue]) -> StatementArguments { StatementArguments(values.map(\.datum.databaseValue)) }
}

extension GRDB.Row: SQLRow {
    func datum(_ name: String) -> Datum? { (try? decode(DatabaseValue.self, forColumn: name)).map(Datum.init) }
    func datum(_ index: Int) -> Datum? { (try? decode(DatabaseValue.self, atIndex: index)).map(Datum.init) }
}

extension Datum {
    fileprivate init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let integer): .integer(integer)
            case .double(let real): .real(real)
            case .string(let text): .text(text)
            case .blob(let bytes): .blob(bytes)
            }
    }

    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let integer): integer.databaseValue
        case .real(let real): real.databaseValue
        case .text(let text): text.databaseValue
        case .blob(let bytes): bytes.databaseValue
        }
    }
}

/// A running statement. GRDB's rows would copy each value.
private final class SQLiteCursor: RowCursor {
    private let statement: Statement
    private let handle: OpaquePointer

    /// - Parameter statement: from `cachedStatement(sql:)`, with one argument for each parameter.
    init(_ statement: Statement, _ arguments: StatementArguments) {
        self.statement = statement
        handle = statement.sqliteStatement
        statement.setUncheckedArguments(arguments)
    }

    func next() throws -> Bool {
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
    }

    func bytes(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
        // SQLite documents this order of the two calls.
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    func integer(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
    }

    func close() { sqlite3_reset(handle) }
}

extension DatabaseError: EngineError {
    var storeError: StoreError {
        switch resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR: .full
        case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
        case .SQLITE_INTERRUPT: .cancelled
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .damaged(location: "the database")
        default: .failed("\(extendedResultCode): \(message ?? "")")
        }
    }
}
