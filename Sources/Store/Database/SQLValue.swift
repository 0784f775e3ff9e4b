internal import Foundation
internal import Identity

/// A value of a column or an argument.
enum Datum: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
}

/// The type of a column or an argument. NULL has a type as well, because PostgreSQL needs it to prepare a statement.
enum SQLType: Sendable {
    case integer, real, text, blob
}

/// A type that can be an argument of a statement, and that a column can contain.
protocol SQLValue: Sendable {
    static var type: SQLType { get }
    var datum: Datum { get }
    /// Nil for a datum of another type, or with none of the type's values.
    static func value(of datum: Datum) -> Self?
}

extension Optional: SQLValue where Wrapped: SQLValue {
    static var type: SQLType { Wrapped.type }
    var datum: Datum { self?.datum ?? .null }
    static func value(of datum: Datum) -> Wrapped?? {
        // The result is nil, and not an optional that contains nil, if the datum has another type.
        datum == .null ? .some(nil) : Wrapped.value(of: datum).map(Optional.some)
    }
}

extension Int64: SQLValue {
    static var type: SQLType { .integer }
    var datum: Datum { .integer(self) }
    static func value(of datum: Datum) -> Int64? { if case .integer(let integer) = datum { integer } else { nil } }
}

extension Double: SQLValue {
    static var type: SQLType { .real }
    var datum: Datum { .real(self) }
    static func value(of datum: Datum) -> Double? { if case .real(let real) = datum { real } else { nil } }
}

extension String: SQLValue {
    static var type: SQLType { .text }
    var datum: Datum { .text(self) }
    static func value(of datum: Datum) -> String? { if case .text(let text) = datum { text } else { nil } }
}

extension Data: SQLValue {
    static var type: SQLType { .blob }
    var datum: Datum { .blob(self) }
    static func value(of datum: Datum) -> Data? { if case .blob(let bytes) = datum { bytes } else { nil } }
}

extension Int: SQLValue {
    static var type: SQLType { .integer }
    var datum: Datum { .integer(Int64(self)) }
    static func value(of datum: Datum) -> Int? { Int64.value(of: datum).flatMap { Int(exactly: $0) } }
}

extension Bool: SQLValue {
    static var type: SQLType { .integer }
    var datum: Datum { .integer(self ? 1 : 0) }
    static func value(of datum: Datum) -> Bool? { Int64.value(of: datum).map { $0 != 0 } }
}

extension RecordID: SQLValue {
    static var type: SQLType { .text }
    var datum: Datum { .text(text) }
    static func value(of datum: Datum) -> RecordID? { String.value(of: datum).flatMap { RecordID(text: $0) } }
}

extension WallTime: SQLValue {
    static var type: SQLType { .integer }
    var datum: Datum { .integer(milliseconds) }
    static func value(of datum: Datum) -> WallTime? { Int64.value(of: datum).map { WallTime(milliseconds: $0) } }
}

/// Fixed words.
extension SQLValue where Self: RawRepresentable<String> {
    static var type: SQLType { .text }
    var datum: Datum { .text(rawValue) }
    static func value(of datum: Datum) -> Self? { String.value(of: datum).flatMap { Self(rawValue: $0) } }
}
