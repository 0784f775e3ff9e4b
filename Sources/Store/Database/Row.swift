/// A row of a store that may be damaged: a value of another type, or a missing one, throws `StoreError.damaged`.
struct Row {
    private let columns: any SQLRow

    init(_ columns: any SQLRow) { self.columns = columns }

    /// An optional type for a column that may be NULL.
    subscript<Value: SQLValue>(_ name: String) -> Value {
        get throws { try Self.value(columns.datum(name), name) }
    }

    subscript<Value: SQLValue>(_ index: Int) -> Value {
        get throws { try Self.value(columns.datum(index), "\(index)") }
    }

    private static func value<Value: SQLValue>(_ datum: Datum?, _ column: @autoclosure () -> String) throws -> Value {
        guard let value = datum.flatMap(Value.value) else { throw StoreError.damaged(location: "the column \(column()) of a row") }
        return value
    }
}

/// A row of an engine's result.
protocol SQLRow {
    /// Nil if there is no such column, or it cannot be read.
    func datum(_ name: String) -> Datum?
    func datum(_ index: Int) -> Datum?
}

/// Iterates over a statement's rows without copying column values, for lists. A column is valid until `next()`.
struct RowReader: ~Copyable {
    private let cursor: any RowCursor

    init(_ cursor: any RowCursor) { self.cursor = cursor }

    /// - Returns: false at the end.
    mutating func next() throws -> Bool { try cursor.next() }

    /// Text or a blob; nil for NULL.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer? { cursor.bytes(column) }

    /// Nil for NULL.
    func text(_ column: Int32) -> String? { cursor.bytes(column).map { String(decoding: $0, as: UTF8.self) } }

    /// Nil for NULL.
    func integer(_ column: Int32) -> Int64? { cursor.integer(column) }

    deinit { cursor.close() }
}

/// A cursor over an engine's result. Bytes are valid until `next()` or `close()`.
protocol RowCursor: AnyObject {
    func next() throws -> Bool
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer?
    func integer(_ column: Int32) -> Int64?
    func close()
}
