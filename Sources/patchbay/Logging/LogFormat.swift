import Logging
import Store
import Wire

/// One record of the log, before it is formatted.
struct LogRecord: Sendable {
    var time: WallTime
    var level: Logger.Level
    /// The component, such as `patchbay.rooms`.
    var logger: String
    /// A fixed text; everything variable is metadata.
    var message: String
    var metadata: Logger.Metadata = [:]
}

/// How records become lines. Both formats keep a record on one line, whatever clients put into it.
enum LogFormat: String, CaseIterable {
    /// `2026-11-21T14:00:00.000Z info patchbay.rooms participant joined identity=ann room=lobby`
    case text
    /// `{"time":"2026-11-21T14:00:00.000Z","level":"info","logger":"patchbay.rooms","message":"participant joined","identity":"ann",…}`
    case json

    /// Whether a command line asks for JSON. It may be wrong otherwise, so it is not parsed.
    static func isJSON(_ arguments: [String], _ environment: [String: String]) -> Bool {
        guard ["serve", "agent"].contains(arguments.first) else { return false }
        let words = arguments.flatMap { $0.hasPrefix("--log-format=") ? $0.split(separator: "=", maxSplits: 1).map(String.init) : [$0] }
        guard let index = words.lastIndex(of: "--log-format") else { return environment["PATCHBAY_LOG_FORMAT"] == "json" }
        return words.dropFirst(index + 1).first == "json"
    }

    /// Longer values are cut, in bytes.
    static let valueBytesMax = 1_024

    /// Returns the metadata as it appears in a text line.
    static func details(of record: LogRecord) -> String {
        record.metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\(LogText.value(JSONValue($0.value)))" }.joined(separator: " ")
    }

    /// The line with its line feed. Times are RFC 3339 in UTC; metadata is sorted by key.
    func line(_ record: LogRecord) -> [UInt8] {
        switch self {
        case .text:
            let head = "\(record.time) \(record.level) \(record.logger) \(LogText.escaped(record.message))"
            let details = Self.details(of: record)
            return Array((details.isEmpty ? head : "\(head) \(details)").utf8) + [UInt8(ascii: "\n")]
        case .json:
            var members: [JSONValue.Member] = [
                .init("time", .string(record.time.description)), .init("level", .string(record.level.rawValue)),
                .init("logger", .string(record.logger)), .init("message", .string(record.message)),
            ]
            let reserved = Set(members.map(\.name))
            members += record.metadata.sorted { $0.key < $1.key }.map { key, value in
                .init(reserved.contains(key) ? "metadata.\(key)" : key, JSONValue(value))
            }
            // Encoding fails for infinite numbers only, and `JSONValue.init` converts those to text.
            return ((try? JSON.encode(JSONValue.object(members), names: .asDeclared)) ?? []) + [UInt8(ascii: "\n")]
        }
    }
}

/// Values in lines of text.
private enum LogText {
    /// The value, quoted if it is empty or contains blanks, quotes, `=` or characters that a terminal would interpret.
    static func value(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): quotedIfNeeded(text)
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .boolean(let boolean): String(boolean)
        case .null: "null"
        case .array(let elements): "[" + elements.map { Self.value($0) }.joined(separator: ",") + "]"
        case .object(let members): "{" + members.map { "\($0.name):\(Self.value($0.value))" }.joined(separator: ",") + "}"
        }
    }

    private static func quotedIfNeeded(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy { !isSpecial($0) && !isDelimiter($0) }
        return isPlain ? text : "\"" + escaped(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")) + "\""
    }

    /// The text without control characters, line separators and marks that change the direction of writing.
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isSpecial) else { return text }
        return text.unicodeScalars.reduce(into: "") { line, scalar in
            guard isSpecial(scalar) else { return line.unicodeScalars.append(scalar) }
            line += scalar == "\n" ? "\\n" : "\\u{\(String(scalar.value, radix: 16))}"
        }
    }

    private static func isDelimiter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case " ", "\"", "\\", "=", "[", "]", "{", "}", ",": true
        default: false
        }
    }

    private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
        // The category of other characters is looked up in tables of Unicode, which takes longer.
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}

extension JSONValue {
    /// Numbers and booleans keep their type.
    fileprivate init(_ value: Logger.Metadata.Value) {
        switch value {
        case .string(let text): self = .string(text.limited)
        case .stringConvertible(let integer as any FixedWidthInteger): self = .integer(Int64(clamping: integer))
        case .stringConvertible(let number as Double) where number.isFinite: self = .number(number)
        case .stringConvertible(let boolean as Bool): self = .boolean(boolean)
        case .stringConvertible(let other): self = .string(other.description.limited)
        case .array(let elements): self = .array(elements.map(JSONValue.init))
        case .dictionary(let members): self = .object(members.sorted { $0.key < $1.key }.map { Member($0.key, JSONValue($0.value)) })
        }
    }
}

extension String {
    /// The text, cut to `LogFormat.valueBytesMax`.
    fileprivate var limited: String {
        utf8.count <= LogFormat.valueBytesMax ? self : String(decoding: utf8.prefix(LogFormat.valueBytesMax), as: UTF8.self) + "…"
    }
}
