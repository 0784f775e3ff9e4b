internal import Foundation
internal import Identity

/// One transaction: SQL with the store's own types as values, and the keys that seal and open them.
///
/// The SQL is the same for all engines. Statements are cached by their text, so values must be arguments: `?` in order, or `?1`, `?2`.
struct Transaction {
    let connection: any SQLConnection
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
        try one("SELECT master_key, sealed FROM user_keys WHERE user_id = ?", user).map { row in
            try keychain.unwrap(row[1], wrappedWith: row[0], of: user)
        }
    }

    // MARK: SQL

    /// - Returns: the number of changed rows.
    @discardableResult
    func execute(_ sql: String, _ values: any SQLValue...) throws -> Int { try connection.execute(sql, values) }

    @discardableResult
    func execute(_ sql: String, with values: [any SQLValue]) throws -> Int { try connection.execute(sql, values) }

    /// The first row.
    func one(_ sql: String, _ values: any SQLValue...) throws -> Row? { try connection.one(sql, values) }

    func all(_ sql: String, _ values: any SQLValue...) throws -> [Row] { try connection.all(sql, values) }

    /// Calls `body` with each row, for results that are too long for the memory.
    func each(_ sql: String, with values: [any SQLValue], body: (Row) throws -> Void) throws {
        try connection.each(sql, values, body: body)
    }

    /// For lists: columns are not copied.
    func reader(_ sql: String, _ values: any SQLValue...) throws -> RowReader { RowReader(try connection.cursor(sql, values)) }

    /// The first column of the first row; nil for NULL.
    func value<T: SQLValue>(_ type: T.Type, _ sql: String, _ values: any SQLValue...) throws -> T? {
        try connection.one(sql, values).flatMap { try $0[0] as T? }
    }

    /// The first column of all rows.
    func values<T: SQLValue>(_ type: T.Type, _ sql: String, _ values: any SQLValue...) throws -> [T] {
        try connection.all(sql, values).map { try $0[0] as T }
    }

    /// Whether there is a row.
    func has(_ sql: String, _ values: any SQLValue...) throws -> Bool { try connection.one(sql, values) != nil }
}

/// One connection of an engine, within a transaction.
protocol SQLConnection {
    /// - Returns: the number of changed rows.
    func execute(_ sql: String, _ values: [any SQLValue]) throws -> Int
    func one(_ sql: String, _ values: [any SQLValue]) throws -> Row?
    func all(_ sql: String, _ values: [any SQLValue]) throws -> [Row]
    /// `body` may run other statements, also the same one.
    func each(_ sql: String, _ values: [any SQLValue], body: (Row) throws -> Void) throws
    func cursor(_ sql: String, _ values: [any SQLValue]) throws -> any RowCursor
    /// One sentence per fault that the engine finds in its own files.
    func findFaults(atMost limit: Int) throws -> [String]
}
