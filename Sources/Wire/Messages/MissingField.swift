/// A field that is not as it must be, found by us and not by the decoder.
struct MissingField: Error, CustomStringConvertible {
    var name: String
    var fault = "is missing"
    var description: String { "`\(name)` \(fault)" }
}

func required<T>(_ field: T?, _ name: String) throws -> T {
    guard let field else { throw MissingField(name: name) }
    return field
}
