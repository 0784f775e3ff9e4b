internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Identity

/// One transaction: SQL with the store's own types as values, and the keys that seal and open them.
///
/// Statements are cached by their text, so values must be arguments.
struct Transaction {
    private let database: GRDB.Database
    let keychain: Keychain

    init(database: GRDB.Database, keychain: Keychain) {
        self.database = database
        self.keychain = keychain
    }

    /// The key of data that belongs to no single user.
    var shared: SealingKey { keychain.shared }

    /// - Throws: `notFound` if the user does not exist or is being deleted.
    func key(of user: UserID) throws -> SealingKey {
        guard let key = try key(ofExisting: user) else { throw StoreError.notFound }
        return key
    }

    /// Nil if the user does not exist or is being deleted.
    func key(ofExisting user: UserID) throws -> SealingKey? {
        try one("SELECT master_key, sealed FROM user_keys WHERE user_id = ?", user).map { row in
            try keychain.unwrap(row[1], wrappedWith: row[0], of: user)
        }
    }

    // MARK: SQL

    /// - Returns: the number of changed rows.
    @discardableResult
    func execute(_ sql: String, _ values: (any SQLValue)?...) throws -> Int { try execute(sql, with: values) }

    @discardableResult
    func execute(_ sql: String, with values: [(any SQLValue)?]) throws -> Int {
        try database.cachedStatement(sql: sql).execute(arguments: arguments(values))
        return database.changesCount
    }

    /// The first row.
    func one(_ sql: String, _ values: (any SQLValue)?...) throws -> Row? {
        try GRDB.Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments(values)).map(Row.init)
    }

    func all(_ sql: String, _ values: (any SQLValue)?...) throws -> [Row] {
        try GRDB.Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments(values)).map(Row.init)
    }

    /// Calls `body` with each row, for results that are too long for the memory.
    func each(_ sql: String, with values: [any SQLValue], body: (Row) throws -> Void) throws {
        // Not a cached statement: `body` may run the same one.
        try GRDB.Row.fetchCursor(database, sql: sql, arguments: arguments(values)).forEach { try body(Row($0)) }
    }

    /// For lists: columns are not copied.
    func reader(_ sql: String, _ values: (any SQLValue)?...) throws -> RowReader {
        RowReader(try database.cachedStatement(sql: sql), arguments(values))
    }

    /// The first column of the first row; nil for NULL.
    func value<T: SQLValue>(_ type: T.Type, _ sql: String, _ values: (any SQLValue)?...) throws -> T? {
        try GRDB.Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments(values)).flatMap { try Row($0)[0] as T? }
    }

    /// The first column of all rows.
    func values<T: SQLValue>(_ type: T.Type, _ sql: String, _ values: (any SQLValue)?...) throws -> [T] {
        try GRDB.Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments(values)).map { try Row($0)[0] as T }
    }

    /// Whether there is a row.
    func has(_ sql: String, _ values: (any SQLValue)?...) throws -> Bool {
        try GRDB.Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments(values)) != nil
    }

    private func arguments(_ values: [(any SQLValue)?]) -> StatementArguments {
        StatementArguments(values.map { ($0?.datum ?? .null).databaseValue })
    }
}

/// A value as databases have it.
typealias Datum = DatabaseValue.Storage

extension Datum {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .int64(let integer): integer.databaseValue
        case .double(let real): real.databaseValue
        case .string(let text): text.databaseValue
        case .blob(let bytes): bytes.databaseValue
        }
    }
}

/// A type that can be an argument of a statement, and that a column can contain.
protocol SQLValue: Sendable {
    var datum: Datum { get }
    /// Nil for a datum of another type, or with none of the type's values.
    static func value(of datum: Datum) -> Self?
}

extension Int64: SQLValue {
    var datum: Datum { .int64(self) }
    static func value(of datum: Datum) -> Int64? { if case .int64(let integer) = datum { integer } else { nil } }
}

extension Double: SQLValue {
    var datum: Datum { .double(self) }
    static func value(of datum: Datum) -> Double? { if case .double(let real) = datum { real } else { nil } }
}

extension String: SQLValue {
    var datum: Datum { .string(self) }
    static func value(of datum: Datum) -> String? { if case .string(let text) = datum { text } else { nil } }
}

extension Data: SQLValue {
    var datum: Datum { .blob(self) }
    static func value(of datum: Datum) -> Data? { if case .blob(let bytes) = datum { bytes } else { nil } }
}

extension Int: SQLValue {
    var datum: Datum { .int64(Int64(self)) }
    static func value(of datum: Datum) -> Int? { Int64.value(of: datum).flatMap { Int(exactly: $0) } }
}

extension Bool: SQLValue {
    var datum: Datum { .int64(self ? 1 : 0) }
    static func value(of datum: Datum) -> Bool? { Int64.value(of: datum).map { $0 != 0 } }
}

extension RecordID: SQLValue {
    var datum: Datum { .string(text) }
    static func value(of datum: Datum) -> RecordID? { String.value(of: datum).flatMap { RecordID(text: $0) } }
}

extension WallTime: SQLValue {
    var datum: Datum { .int64(milliseconds) }
    static func value(of datum: Datum) -> WallTime? { Int64.value(of: datum).map { WallTime(milliseconds: $0) } }
}

/// Fixed words.
extension SQLValue where Self: RawRepresentable<String> {
    var datum: Datum { .string(rawValue) }
    static func value(of datum: Datum) -> Self? { String.value(of: datum).flatMap { Self(rawValue: $0) } }
}

/// A row of a store that may be damaged: a value of another type, or a missing one, throws `StoreError.damaged`.
struct Row {
    private let row: GRDB.Row

    init(_ row: GRDB.Row) { self.row = row }

    subscript<Value: SQLValue>(_ name: String) -> Value { get throws { try Self.value(try datum(name), name) } }

    /// Nil for NULL.
    subscript<Value: SQLValue>(_ name: String) -> Value? { get throws { try Self.value(ifPresent: try datum(name), name) } }

    subscript<Value: SQLValue>(_ index: Int) -> Value { get throws { try Self.value(try datum(index), "\(index)") } }

    /// Nil for NULL.
    subscript<Value: SQLValue>(_ index: Int) -> Value? { get throws { try Self.value(ifPresent: try datum(index), "\(index)") } }

    private func datum(_ name: String) throws -> Datum { try row.decode(DatabaseValue.self, forColumn: name).storage }
    private func datum(_ index: Int) throws -> Datum { try row.decode(DatabaseValue.self, atIndex: index).storage }

    private static func value<Value: SQLValue>(_ datum: Datum, _ column: @autoclosure () -> String) throws -> Value {
        guard let value = Value.value(of: datum) else { throw StoreError.damaged(location: "the column \(column()) of a row") }
        return value
    }

    private static func value<Value: SQLValue>(ifPresent datum: Datum, _ column: @autoclosure () -> String) throws -> Value? {
        if case .null = datum { nil } else { try value(datum, column()) as Value }
    }
}

/// Iterates over a statement's rows without copying column values, unlike GRDB's rows; for lists. A column is valid until `next()`.
struct RowReader: ~Copyable {
    private let statement: Statement
    private let handle: OpaquePointer

    /// - Parameter statement: from `cachedStatement(sql:)`, with one argument for each question mark.
    init(_ statement: Statement, _ arguments: StatementArguments) {
        self.statement = statement
        handle = statement.sqliteStatement
        statement.setUncheckedArguments(arguments)
    }

    /// - Returns: false at the end.
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
        // SQLite documents this order of the two calls.
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
