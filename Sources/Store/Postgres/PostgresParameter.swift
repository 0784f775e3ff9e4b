internal import CPostgres
internal import Foundation

/// A value for a placeholder (`$1`) of a statement, in PostgreSQL's binary format.
///
/// NULL has a kind, too, so that the server never has to guess the type of a placeholder.
struct PostgresParameter: Sendable {
    /// The object identifiers of the types (`pg_type.dat` of PostgreSQL).
    enum Kind: Oid, Sendable {
        case bytea = 17
        case int8 = 20
        case text = 25
        case float8 = 701
    }

    let kind: Kind
    /// Big-endian for numbers, UTF-8 for text; nil for NULL.
    let bytes: Data?

    static func int8(_ value: Int64?) -> Self {
        Self(kind: .int8, bytes: value.map { withUnsafeBytes(of: $0.bigEndian) { Data($0) } })
    }

    static func float8(_ value: Double?) -> Self {
        Self(kind: .float8, bytes: value.map { withUnsafeBytes(of: $0.bitPattern.bigEndian) { Data($0) } })
    }

    /// The server refuses text with a NUL character (SQLSTATE 22021).
    static func text(_ value: String?) -> Self { Self(kind: .text, bytes: value.map { Data($0.utf8) }) }

    static func bytea(_ value: Data?) -> Self { Self(kind: .bytea, bytes: value) }
}

extension [PostgresParameter] {
    /// Calls `body` with libpq's arrays of values (nil for NULL), lengths in bytes, and formats (1: binary).
    func withArrays<T>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) throws(PostgresError) -> T
    ) throws(PostgresError) -> T {
        // One byte more: an empty value has an address, and only NULL has none.
        var storage = [CChar]()
        storage.reserveCapacity(reduce(1) { $0 + ($1.bytes?.count ?? 0) })
        var offsets: [Int?] = []
        for parameter in self {
            offsets.append(parameter.bytes == nil ? nil : storage.count)
            if let bytes = parameter.bytes { bytes.withUnsafeBytes { storage.append(contentsOf: $0.bindMemory(to: CChar.self)) } }
        }
        storage.append(0)
        let lengths = map { Int32($0.bytes?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: count)
        return try storage.withUnsafeBufferPointer { storage throws(PostgresError) in
            let values = offsets.map { offset in offset.flatMap { offset in storage.baseAddress.map { $0 + offset } } }
            return try body(values, lengths, formats)
        }
    }
}
