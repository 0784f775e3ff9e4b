package import Wire

/// Checks values against a schema.
extension Schema {
    /// Why a value violates the schema, starting with the path of the offending member; nil if it is valid.
    package func fault(in value: JSONValue) -> String? { fault(in: value, at: "") }

    private func fault(in value: JSONValue, at path: String) -> String? {
        func fault(_ message: String) -> String { (path.isEmpty ? "it" : path) + " " + message }
        switch self {
        case .anything: return nil
        case .named(_, let schema): return schema.fault(in: value, at: path)
        case .nullable(let schema): return value == .null ? nil : schema.fault(in: value, at: path)
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
            return elements.indices.lazy.compactMap { element.fault(in: elements[$0], at: "\(path)[\($0)]") }.first
        case .map(let element):
            guard case .object(let members) = value else { return fault("must be an object") }
            return members.lazy.compactMap { element.fault(in: $0.value, at: Self.append($0.name, to: path)) }.first
        case .object(let fields):
            guard case .object(let members) = value else { return fault("must be an object") }
            return Self.fault(in: members, of: fields, at: path)
        }
        return nil
    }

    private static func fault(in members: [JSONValue.Member], of fields: [Field], at path: String) -> String? {
        for member in members {
            guard let field = fields.first(where: { $0.name == member.name }) else {
                return "\(Self.append(member.name, to: path)) is no field here"
            }
            if let fault = field.schema.fault(in: member.value, at: Self.append(field.name, to: path)) { return fault }
        }
        let missing = fields.first { field in field.isRequired && !members.contains { $0.name == field.name } }
        return missing.map { "\(Self.append($0.name, to: path)) is missing" }
    }

    /// Truncates the name, which comes from the client.
    private static func append(_ name: String, to path: String) -> String {
        let name = name.unicodeScalars.count > 64 ? String(String.UnicodeScalarView(name.unicodeScalars.prefix(64))) + "…" : name
        return path.isEmpty ? name : path + "." + name
    }

    /// Why a query or path value violates the schema; nil if it is valid.
    func fault(inText text: String) -> String? {
        let value: JSONValue
        switch self {
        case .named(_, let schema): return schema.fault(inText: text)
        case .integer:
            // In the only spelling that handlers parse.
            guard let integer = Int64(text), String(integer) == text else { return "must be an integer" }
            value = .integer(integer)
        case .number:
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
