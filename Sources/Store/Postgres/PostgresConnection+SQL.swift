internal import Foundation

extension PostgresConnection: SQLConnection {
    func execute(_ sql: String, _ values: [any SQLValue]) throws -> Int { try result(sql, values).affectedRowCount }

    func one(_ sql: String, _ values: [any SQLValue]) throws -> Row? {
        let result = try result(sql, values)
        return result.rowCount > 0 ? Row(PostgresRow(result: result, index: 0)) : nil
    }

    func all(_ sql: String, _ values: [any SQLValue]) throws -> [Row] {
        let result = try result(sql, values)
        return (0..<result.rowCount).map { Row(PostgresRow(result: result, index: $0)) }
    }

    func each(_ sql: String, _ values: [any SQLValue], body: (Row) throws -> Void) throws {
        // A unique name, because `body` may run the same statement.
        let cursor = "each_\(UInt64.random(in: 0...(.max)))"
        _ = try result("DECLARE \(cursor) NO SCROLL CURSOR FOR \(sql)", values)
        // Changes by factors of two, because each number is prepared as a statement of its own.
        var count = StoreLimits.rowsPerFetch / 16
        while true {
            let rows = try result("FETCH \(count) FROM \(cursor)", [])
            for index in 0..<rows.rowCount { try body(Row(PostgresRow(result: rows, index: index))) }
            guard rows.rowCount == count else { break }
            if rows.size > StoreLimits.bytesPerFetch {
                count = max(1, count / 2)
            } else if rows.size < StoreLimits.bytesPerFetch / 4 {
                count = min(count * 2, StoreLimits.rowsPerFetch)
            }
        }
        _ = try result("CLOSE \(cursor)", [])
    }

    func cursor(_ sql: String, _ values: [any SQLValue]) throws -> any RowCursor { PostgresCursor(try result(sql, values)) }

    /// PostgreSQL checks its own files (`data_checksums`), and no foreign key can be violated.
    func findFaults(atMost limit: Int) throws -> [String] { [] }

    private func result(_ sql: String, _ values: [any SQLValue]) throws -> PostgresResult {
        try execute(PostgresDialect.statement(sql), values.map { PostgresParameter($0) })
    }
}

extension PostgresParameter {
    fileprivate init<Value: SQLValue>(_ value: Value) {
        switch (value.datum, Value.type) {
        case (.null, .integer): self = .int8(nil)
        case (.null, .real): self = .float8(nil)
        case (.null, .text): self = .text(nil)
        case (.null, .blob): self = .bytea(nil)
        case (.integer(let integer), _): self = .int8(integer)
        case (.real(let real), _): self = .float8(real)
        case (.text(let text), _): self = .text(text)
        case (.blob(let bytes), _): self = .bytea(bytes)
        }
    }
}

/// A row of a result, which it keeps.
private struct PostgresRow: SQLRow {
    let result: PostgresResult
    let index: Int

    func datum(_ name: String) -> Datum? { result.column(named: name).flatMap(datum) }

    func datum(_ column: Int) -> Datum? {
        guard column < result.columnCount else { return nil }
        guard !result.isNull(index, column) else { return .null }
        return switch result.type(of: column) {
        case PostgresParameter.Kind.bytea.rawValue: result.data(index, column).map(Datum.blob)
        case PostgresParameter.Kind.float8.rawValue: (try? result.double(index, column)).flatMap { $0 }.map(Datum.real)
        case PostgresParameter.Kind.text.rawValue: (try? result.text(index, column)).flatMap { $0 }.map(Datum.text)
        default: (try? result.integer(index, column)).flatMap { $0 }.map(Datum.integer)
        }
    }
}

/// A result read row by row.
private final class PostgresCursor: RowCursor {
    private let result: PostgresResult
    private var row = -1

    init(_ result: PostgresResult) { self.result = result }

    func next() throws -> Bool {
        row += 1
        return row < result.rowCount
    }

    func bytes(_ column: Int32) -> UnsafeRawBufferPointer? { result.bytes(row, Int(column)) }

    func integer(_ column: Int32) -> Int64? { try? result.integer(row, Int(column)) }

    func close() {}
}

extension PostgresError: EngineError {
    var storeError: StoreError {
        switch kind {
        case .retry, .timeout: .busy
        case .full: .full
        case .unreachable: .unreachable
        case .damaged: .damaged(location: "the database")
        case .missing: .failed("\(description); the database contains no store of this version: restore it from a backup")
        case .unique, .foreignKey, .other: .failed(description)
        }
    }
}
