package import Wire

/// Holding a value to a schema.
extension Schema {
    /// What is wrong with a value, in words that begin with where; nil if it is as it should be.
    package func fault(in value: JSONValue) -> String? { fault(in: value, at: "") }

    private func fault(in value: JSONValue, at place: String) -> String? {
        func fault(_ words: String) -> String { (place.isEmpty ? "it" : place) + " " + words }
        switch self {
        case .anything: return nil
        case .named(_, let schema): return schema.fault(in: value, at: place)
        case .nullable(let schema): return value == .null ? nil : schema.fault(in: value, at: place)
        case .boolean:
            guard case .boolean = value else { return fault("must be true or false") }
        case .integer(let range):
            guard case .integer(let integer) = value else { return fault("must be an integer") }
            guard range ~= integer else { return fault("must be \(range.lowerBound) to \(range.upperBound)") }
        case .number(let range):
            switch value {
            case .integer(let integer):
                guard range ~= Double(integer) else { return fault("must be \(range.lowerBound) to \(range.upperBound)") }
            case .number(let number): guard range ~= number else { return fault("must be \(range.lowerBound) to \(range.upperBound)") }
            default: return fault("must be a number")
            }
        case .string(let format, let length):
            guard case .string(let text) = value else { return fault("must be a string") }
            guard length ~= text.unicodeScalars.count else {
                return fault("must have \(length.lowerBound) to \(length.upperBound) characters")
            }
            guard format?.describes(text) ?? true else { return fault("must be a string of the format \(format?.rawValue ?? "")") }
        case .choice(let choices):
            guard case .string(let text) = value else { return fault("must be a string") }
            guard choices.contains(text) else { return fault("must be one of \(choices.joined(separator: ", "))") }
        case .array(let element, let count):
            guard case .array(let elements) = value else { return fault("must be an array") }
            if let count, elements.count > count.upperBound { return fault("must have at most \(count.upperBound) elements") }
            if let count, elements.count < count.lowerBound { return fault("must have at least \(count.lowerBound) elements") }
            return elements.indices.lazy.compactMap { element.fault(in: elements[$0], at: "\(place)[\($0)]") }.first
        case .map(let element):
            guard case .object(let members) = value else { return fault("must be an object") }
            return members.lazy.compactMap { element.fault(in: $0.value, at: Self.place($0.name, in: place)) }.first
        case .object(let fields):
            guard case .object(let members) = value else { return fault("must be an object") }
            return Self.fault(in: members, of: fields, at: place)
        }
        return nil
    }

    private static func fault(in members: [JSONValue.Member], of fields: [Field], at place: String) -> String? {
        for member in members {
            guard let field = fields.first(where: { $0.name == member.name }) else {
                return "\(Self.place(member.name, in: place)) is no field here"
            }
            if let fault = field.schema.fault(in: member.value, at: Self.place(field.name, in: place)) { return fault }
        }
        let missing = fields.first { field in field.isRequired && !members.contains { $0.name == field.name } }
        return missing.map { "\(Self.place($0.name, in: place)) is missing" }
    }

    /// A name from outside may be of any length.
    private static func place(_ name: String, in place: String) -> String {
        let name = name.unicodeScalars.count > 64 ? String(String.UnicodeScalarView(name.unicodeScalars.prefix(64))) + "…" : name
        return place.isEmpty ? name : place + "." + name
    }

    /// What is wrong with a value of a query or a path.
    func fault(inText text: String) -> String? {
        let value: JSONValue
        switch self {
        case .named(_, let schema): return schema.fault(inText: text)
        case .integer, .number:
            guard let number = try? JSONValue(parsing: Array(text.utf8)) else { return "must be a number" }
            value = number
        case .boolean:
            guard let truth = Bool(text) else { return "must be true or false" }
            value = .boolean(truth)
        default: value = .string(text)
        }
        return fault(in: value).map { String($0.trimmingPrefix("it ")) }
    }
}
