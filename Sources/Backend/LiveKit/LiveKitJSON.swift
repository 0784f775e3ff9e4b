internal import LiveKitProtocol
internal import SwiftProtobuf
internal import Wire

/// Writes messages as JSON in the form of LiveKit's server: names in snake case, and also what has no value: zeros, empty text, empty lists
/// and maps, and null for messages. Fields of a `oneof` appear only if set.
///
/// SwiftProtobuf leaves out what has no value; the definitions of the messages tell what is missing.
struct LiveKitJSON: Sendable {
    private struct Field: Sendable {
        var name: String
        /// Nil: it appears only if set.
        var zero: JSONValue?
        /// The type of its value or elements; nil unless they are messages.
        var message: String?
    }

    static let shared = LiveKitJSON(liveKitDescriptors)

    private let fields: [String: [Field]]

    /// - Parameter descriptors: a FileDescriptorSet in base64.
    private init(_ descriptors: String) {
        guard let bytes = Base64.standard.decode(descriptors.utf8),
            let files = try? Google_Protobuf_FileDescriptorSet(serializedBytes: bytes).file
        else { preconditionFailure("the definitions of LiveKit's messages are damaged") }
        var zeros: [String: JSONValue] = [:]
        var messages: [(name: String, descriptor: Google_Protobuf_DescriptorProto)] = []
        for file in files {
            let package = "." + file.package
            for enumeration in file.enumType { zeros["\(package).\(enumeration.name)"] = .string(enumeration.value[0].name) }
            for message in file.messageType {
                let name = "\(package).\(message.name)"
                messages.append((name, message))
                for enumeration in message.enumType { zeros["\(name).\(enumeration.name)"] = .string(enumeration.value[0].name) }
            }
        }
        var fields: [String: [Field]] = [:]
        for (name, message) in messages {
            let maps = Set(message.nestedType.lazy.filter(\.options.mapEntry).map { "\(name).\($0.name)" })
            fields[name] = message.field.map { Self.field($0, zeros, isMap: maps.contains($0.typeName)) }
        }
        self.fields = fields
    }

    private static func field(_ field: Google_Protobuf_FieldDescriptorProto, _ zeros: [String: JSONValue], isMap: Bool) -> Field {
        let zero: JSONValue? =
            if isMap {
                .object([])
            } else if field.label == .repeated {
                .array([])
            } else if field.hasOneofIndex {
                nil
            } else {
                switch field.type {
                case .message: .null
                case .string, .bytes: .string("")
                case .bool: .boolean(false)
                case .enum: zeros[field.typeName]
                // 64-bit integers are strings in the JSON of Protocol Buffers.
                case .int64, .uint64: .string("0")
                default: .integer(0)
                }
            }
        return Field(name: field.name, zero: zero, message: field.type == .message && !isMap ? field.typeName : nil)
    }

    /// - Throws: `JSONEncodingError` for a number that is not finite, and text that is not UTF-8; the gateway's messages have neither.
    func bytes<M: Message>(of message: M) throws -> [UInt8] {
        var options = JSONEncodingOptions()
        options.preserveProtoFieldNames = true
        let value = try JSONValue(parsing: try message.jsonUTF8Bytes(options: options))
        return try JSON.encode(completed(value, "." + M.protoMessageName), names: .asDeclared)
    }

    private func completed(_ value: JSONValue, _ message: String) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map { completed($0, message) })
        case .object:
            guard let fields = fields[message] else { return value }
            return .object(
                fields.compactMap { field in
                    let present = value[field.name].map { known in field.message.map { completed(known, $0) } ?? known }
                    return (present ?? field.zero).map { .init(field.name, $0) }
                })
        default: return value
        }
    }
}
