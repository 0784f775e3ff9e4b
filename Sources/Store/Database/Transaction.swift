internal import Foundation
internal import GRDB
internal import Identity

/// One transaction: SQL with the store's own types as values, and the keys that seal and open them.
///
/// Statements are cached by their text, so values must be arguments.
struct Transaction {
    let database: Database
    let keychain: Keychain

    /// The key of data that belongs to no single user.
    var shared: SealingKey { keychain.shared }

    /// - Throws: `notFound` if the user does not exist or is being deleted.
    func key(of user: UserID) throws -> SealingKey {
        guard let key = try key(ofExisting: user) else { throw StoreError.notFound }
        return key
    }

    /// Nil if the user does not exist or is being deleted.
    func key(ofExisting user: UserID) throws -> SealingKey? {
        try row("SELECT master_key, sealed FROM user_keys WHERE user_id = ?", user).map { row in
            try keychain.unwrap(row[1], wrappedWith: row[0], of: user)
        }
    }

    /// - Returns: the number of changed rows.
    @discardableResult
    func execute(_ sql: String, _ values: (any SQLValue)?...) throws -> Int { try execute(sql, with: values) }

    @discardableResult
    func execute(_ sql: String, with values: [(any SQLValue)?]) throws -> Int {
        try database.cachedStatement(sql: sql).execute(arguments: arguments(values))
        return database.changesCount
    }

    func row(_ sql: String, _ values: (any SQLValue)?...) throws -> Row? {
        try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments(values))
    }

    func rows(_ sql: String, _ values: (any SQLValue)?...) throws -> [Row] {
        try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments(values))
    }

    /// Calls `body` with each row, for results that are too long for the memory.
    func forEachRow(_ sql: String, with values: [any SQLValue], body: (Row) throws -> Void) throws {
        // Not a cached statement: `body` may run the same one.
        try Row.fetchCursor(database, sql: sql, arguments: arguments(values)).forEach(body)
    }

    /// For lists: columns are not copied.
    func reader(_ sql: String, _ values: (any SQLValue)?...) throws -> RowReader {
        RowReader(try database.cachedStatement(sql: sql), arguments(values))
    }

    /// The first column of the first row.
    func value<T: DatabaseValueConvertible>(_ type: T.Type, _ sql: String, _ values: (any SQLValue)?...) throws -> T? {
        try T.fetchOne(database.cachedStatement(sql: sql), arguments: arguments(values))
    }

    /// The first column of all rows.
    func values<T: DatabaseValueConvertible>(_ type: T.Type, _ sql: String, _ values: (any SQLValue)?...) throws -> [T] {
        try T.fetchAll(database.cachedStatement(sql: sql), arguments: arguments(values))
    }

    /// Whether there is a row.
    func has(_ sql: String, _ values: (any SQLValue)?...) throws -> Bool {
        try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments(values)) != nil
    }

    private func arguments(_ values: [(any SQLValue)?]) -> StatementArguments { StatementArguments(values.map { $0?.sqlValue }) }
}

/// A type that can be an argument of a statement.
protocol SQLValue: Sendable {
    var sqlValue: DatabaseValue { get }
}

extension SQLValue where Self: DatabaseValueConvertible {
    var sqlValue: DatabaseValue { databaseValue }
}

extension String: SQLValue {}
extension Int: SQLValue {}
extension Int64: SQLValue {}
extension Bool: SQLValue {}
extension Data: SQLValue {}

/// A type of the store that a column contains.
protocol ColumnValue: SQLValue {
    init?(column: DatabaseValue)
}

extension RecordID: ColumnValue {
    var sqlValue: DatabaseValue { text.databaseValue }
    init?(column: DatabaseValue) {
        guard let text = String.fromDatabaseValue(column) else { return nil }
        self.init(text: text)
    }
}

extension WallTime: ColumnValue {
    var sqlValue: DatabaseValue { milliseconds.databaseValue }
    init?(column: DatabaseValue) {
        guard let milliseconds = Int64.fromDatabaseValue(column) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}

/// Fixed words.
extension ColumnValue where Self: RawRepresentable<String> {
    var sqlValue: DatabaseValue { rawValue.databaseValue }
    init?(column: DatabaseValue) {
        guard let word = String.fromDatabaseValue(column) else { return nil }
        self.init(rawValue: word)
    }
}

/// Values of rows in a store that may be damaged: a value of another type, or a missing one, throws `RowDecodingError`, which becomes
/// `StoreError.damaged`. GRDB's own subscripts, which these hide, end the process.
extension Row {
    subscript<Value: DatabaseValueConvertible>(_ name: String) -> Value {
        get throws { try decode(Value.self, forColumn: name) }
    }

    subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ name: String) -> Value {
        get throws { try decode(Value.self, forColumn: name) }
    }

    subscript<Value: DatabaseValueConvertible>(_ index: Int) -> Value {
        get throws { try decode(Value.self, atIndex: index) }
    }

    subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ index: Int) -> Value {
        get throws { try decode(Value.self, atIndex: index) }
    }

    subscript<Value: ColumnValue>(_ name: String) -> Value {
        get throws { try Self.value(try decode(DatabaseValue.self, forColumn: name), in: name) }
    }

    /// Nil for NULL.
    subscript<Value: ColumnValue>(_ name: String) -> Value? {
        get throws {
            let column = try decode(DatabaseValue.self, forColumn: name)
            return column.isNull ? nil : try Self.value(column, in: name)
        }
    }

    subscript<Value: ColumnValue>(_ index: Int) -> Value {
        get throws { try Self.value(try decode(DatabaseValue.self, atIndex: index), in: "\(index)") }
    }

    private static func value<Value: ColumnValue>(_ column: DatabaseValue, in name: String) throws -> Value {
        guard let value = Value(column: column) else { throw StoreError.damaged(location: "the column \(name) of a row") }
        return value
    }
}
