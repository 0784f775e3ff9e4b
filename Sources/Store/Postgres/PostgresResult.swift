internal import CPostgres
internal import Foundation

/// The rows of a statement in binary format, which this object owns.
///
/// Rows and columns count from 0; reading beyond them traps.
final class PostgresResult {
    let pointer: OpaquePointer

    /// - Parameter pointer: a `PGresult`, which this object frees.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQclear(pointer) }

    var rowCount: Int { Int(PQntuples(pointer)) }
    var columnCount: Int { Int(PQnfields(pointer)) }

    /// The memory that the rows take, in bytes.
    var size: Int { Int(PQresultMemorySize(pointer)) }

    /// The number of inserted, updated, deleted or selected rows; 0 for other statements.
    var affectedRowCount: Int { PQcmdTuples(pointer).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The command's tag, for example `COMMIT`.
    var command: String { PQcmdStatus(pointer).map { String(cString: $0) } ?? "" }

    /// The first column of this name, in lower case as in the statement; nil if there is none.
    func column(named name: String) -> Int? {
        let index = PQfnumber(pointer, name)
        return index < 0 ? nil : Int(index)
    }

    /// The object identifier of a column's type.
    func type(of column: Int) -> Oid {
        precondition(0..<columnCount ~= column, "no column \(column)")
        return PQftype(pointer, Int32(column))
    }

    func isNull(_ row: Int, _ column: Int) -> Bool {
        checkBounds(row, column)
        return PQgetisnull(pointer, Int32(row), Int32(column)) == 1
    }

    /// The field's bytes, valid as long as this object; nil for NULL.
    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        guard !isNull(row, column) else { return nil }
        let count = Int(PQgetlength(pointer, Int32(row), Int32(column)))
        return UnsafeRawBufferPointer(start: PQgetvalue(pointer, Int32(row), Int32(column)), count: count)
    }

    /// A copy of the field's bytes; nil for NULL.
    func data(_ row: Int, _ column: Int) -> Data? { bytes(row, column).map { Data($0) } }

    /// A `bool` (0 or 1), `int2`, `int4` or `int8`; nil for NULL.
    ///
    /// - Throws: `other` for another type.
    func integer(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        guard let bytes = bytes(row, column) else { return nil }
        switch (type(of: column), bytes.count) {
        case (16, 1): return bytes[0] == 0 ? 0 : 1
        case (21, 2): return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case (23, 4): return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (20, 8): return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        default: throw isAnother(column, than: "an integer")
        }
    }

    /// A `float4` or `float8`; nil for NULL.
    ///
    /// - Throws: `other` for another type.
    func double(_ row: Int, _ column: Int) throws(PostgresError) -> Double? {
        guard let bytes = bytes(row, column) else { return nil }
        switch (type(of: column), bytes.count) {
        case (700, 4): return Double(Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))))
        case (701, 8): return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
        default: throw isAnother(column, than: "a floating-point number")
        }
    }

    /// A `text`, `varchar`, `bpchar`, `name` or literal; nil for NULL.
    ///
    /// - Throws: `other` for another type.
    func text(_ row: Int, _ column: Int) throws(PostgresError) -> String? {
        guard let bytes = bytes(row, column) else { return nil }
        switch type(of: column) {
        case 19, 25, 705, 1042, 1043: return String(decoding: bytes, as: UTF8.self)
        default: throw isAnother(column, than: "text")
        }
    }

    private func isAnother(_ column: Int, than wanted: String) -> PostgresError {
        PostgresError(.other, "column \(column) is not \(wanted) but of type \(type(of: column))")
    }

    /// libpq would answer with NULL and a warning on the standard error stream.
    private func checkBounds(_ row: Int, _ column: Int) {
        precondition(0..<rowCount ~= row && 0..<columnCount ~= column, "no field \(row), \(column)")
    }
}
