/// A JSON object in the messages on sockets. Its members are declared once, in `coded`, for writing, reading and the reference.
protocol Fields: FieldValue {
    /// Goes over the members in their order.
    ///
    /// - Parameter value: what is written; nil to read.
    /// - Returns: what was written or read.
    /// - Throws: `FieldError` or `DecodingError`, when reading.
    static func coded(_ value: Self?, by fields: inout some FieldCoder) throws -> Self
}

/// The value of a member.
protocol FieldValue {
    static func read(_ value: JSONValueReader) throws -> Self
    func write(to json: inout JSONOutput)
    /// Any value, for the prototypes of messages.
    static var blank: Self { get }
}

/// Writes, reads or lists the members of an object. A reader takes an optional member that is null for a missing one.
protocol FieldCoder {
    /// Begins a message and its body.
    ///
    /// - Parameter parties: who receives an event, or may send a request; for the reference.
    mutating func begin(_ type: String, _ parties: StaticString)
    /// Throws if a message that needs a body has none.
    func requireBody() throws
    /// A member that must be there.
    mutating func callAsFunction<Value: FieldValue>(_ name: StaticString, _ value: Value?) throws -> Value
    /// A member that is not written if it is nil.
    mutating func optional<Value: FieldValue>(_ name: StaticString, _ value: Value?) throws -> Value?
    /// A member that is written as null if it is nil.
    mutating func nullable<Value: FieldValue>(_ name: StaticString, _ value: Value?) throws -> Value?
    /// A member that repeats another one, and is not read.
    mutating func derived(_ name: StaticString, _ value: some FieldValue)
}

extension FieldCoder {
    mutating func begin(_ type: String) { begin(type, "") }

    /// A member that is always written, and has a default when it is read.
    mutating func callAsFunction<Value: FieldValue>(
        _ name: StaticString, _ value: Value?, default: @autoclosure () -> Value
    ) throws -> Value {
        try optional(name, value) ?? `default`()
    }

    /// A word of which later versions may have more.
    mutating func word<Word: RawRepresentable<String>>(_ name: StaticString, _ word: Word, unknown: Word) throws -> Word {
        Word(rawValue: try self(name, word.rawValue)) ?? unknown
    }

    /// The members of an object, without the object around them.
    mutating func body<Body: Fields>(_ body: Body?) throws -> Body {
        try requireBody()
        return try Body.coded(body, by: &self)
    }
}

extension Fields {
    static func read(_ value: JSONValueReader) throws -> Self {
        var fields = FieldReader(object: value)
        return try coded(nil, by: &fields)
    }

    func write(to json: inout JSONOutput) {
        json.writeObject { json in
            do {
                _ = try Self.coded(self, by: &json)
            } catch {
                preconditionFailure("writing does not fail: \(error)")
            }
        }
    }

    static var blank: Self {
        var list = FieldList()
        do {
            return try coded(nil, by: &list)
        } catch {
            preconditionFailure("listing does not fail: \(error)")
        }
    }
}

// MARK: Coders

extension JSONOutput: FieldCoder {
    /// The body is closed with `end`.
    mutating func begin(_ type: String, _: StaticString) {
        writeMember("type", type)
        writeMember("data")
        beginObject()
    }

    func requireBody() {}

    mutating func callAsFunction<Value: FieldValue>(_ name: StaticString, _ value: Value?) -> Value {
        guard let value else { preconditionFailure("`\(name)` is missing in a message that is written") }
        writeMember(name)
        value.write(to: &self)
        return value
    }

    mutating func optional<Value: FieldValue>(_ name: StaticString, _ value: Value?) -> Value? {
        if let value { _ = self(name, value) }
        return value
    }

    mutating func nullable<Value: FieldValue>(_ name: StaticString, _ value: Value?) -> Value? {
        writeMember(name)
        if let value { value.write(to: &self) } else { writeNull() }
        return value
    }

    mutating func derived(_ name: StaticString, _ value: some FieldValue) { _ = self(name, value) }
}

/// Reads members by their names, in any order, and ignores others.
struct FieldReader: FieldCoder {
    /// Nil for a message without a body.
    let object: JSONValueReader?

    /// Nil if the member is missing or null.
    ///
    /// - Throws: `DecodingError` if the value is not an object.
    func member(_ name: StaticString) throws -> JSONValueReader? {
        guard let member = try object?.member(name), !member.isNull else { return nil }
        return member
    }

    mutating func begin(_: String, _: StaticString) {}

    func requireBody() throws {
        if object == nil { throw FieldError(name: "data") }
    }

    mutating func callAsFunction<Value: FieldValue>(_ name: StaticString, _: Value?) throws -> Value {
        guard let member = try object?.member(name) else { throw FieldError(name: "\(name)") }
        return try Value.read(member)
    }

    mutating func optional<Value: FieldValue>(_ name: StaticString, _: Value?) throws -> Value? { try member(name).map(Value.read) }
    mutating func nullable<Value: FieldValue>(_ name: StaticString, _: Value?) throws -> Value? { try member(name).map(Value.read) }
    mutating func derived(_: StaticString, _: some FieldValue) {}
}

/// Lists the members of a message, for the reference.
struct FieldList: FieldCoder {
    private(set) var type = ""
    private(set) var parties = ""
    /// `name`, `name?` if the member may be missing, `name|null` if it may be null.
    private(set) var names: [String] = []

    mutating func begin(_ type: String, _ parties: StaticString) {
        self.type = type
        self.parties = "\(parties)"
    }

    func requireBody() {}

    mutating func callAsFunction<Value: FieldValue>(_ name: StaticString, _ value: Value?) -> Value {
        names.append("\(name)")
        return value ?? .blank
    }

    mutating func optional<Value: FieldValue>(_ name: StaticString, _ value: Value?) -> Value? {
        names.append("\(name)?")
        return value
    }

    mutating func nullable<Value: FieldValue>(_ name: StaticString, _ value: Value?) -> Value? {
        names.append("\(name)|null")
        return value
    }

    mutating func derived(_ name: StaticString, _: some FieldValue) { names.append("\(name)") }
}

/// A field that is missing or has an invalid value.
struct FieldError: Error, CustomStringConvertible {
    var name: String
    var problem = "is missing"
    var description: String { "`\(name)` \(problem)" }
}

// MARK: Values

extension String: FieldValue, JSONWritable {
    static func read(_ value: JSONValueReader) throws -> String { try value.decode(String.self) }
    package func write(to json: inout JSONOutput) { json.write(self) }
    static var blank: String { "" }
}

extension Bool: FieldValue, JSONWritable {
    static func read(_ value: JSONValueReader) throws -> Bool { try value.decode(Bool.self) }
    package func write(to json: inout JSONOutput) { json.write(self) }
    static var blank: Bool { false }
}

extension Double: FieldValue {
    static func read(_ value: JSONValueReader) throws -> Double { try value.decode(Double.self) }
    /// - Precondition: the number is finite.
    func write(to json: inout JSONOutput) {
        do {
            try json.write(self)
        } catch {
            preconditionFailure("a message has a number that is not finite")
        }
    }
    static var blank: Double { 0 }
}

extension FieldValue where Self: FixedWidthInteger & Decodable {
    static func read(_ value: JSONValueReader) throws -> Self { try value.decode(Self.self) }
    func write(to json: inout JSONOutput) { json.write(self) }
    static var blank: Self { 0 }
}

extension Int: FieldValue {}
extension Int64: FieldValue {}
extension UInt8: FieldValue {}
extension UInt32: FieldValue {}
extension UInt64: FieldValue {}

extension Array: FieldValue where Element: FieldValue {
    static func read(_ value: JSONValueReader) throws -> [Element] { try value.elements().map(Element.read) }
    func write(to json: inout JSONOutput) { json.writeArray(self) { $1.write(to: &$0) } }
    static var blank: [Element] { [] }
}

extension [String: String]: FieldValue {
    static func read(_ value: JSONValueReader) throws -> [String: String] { try value.decodeTexts() }
    func write(to json: inout JSONOutput) { json.write(self) }
    static var blank: [String: String] { [:] }
}

extension FieldValue where Self: RawRepresentable<String> & CaseIterable {
    static func read(_ value: JSONValueReader) throws -> Self {
        guard let word = Self(rawValue: try value.decode(String.self)) else { throw value.notAllowed("an unknown word") }
        return word
    }
    func write(to json: inout JSONOutput) { json.write(rawValue) }
    static var blank: Self { allCases[allCases.startIndex] }
}

extension ParticipantKind: FieldValue {}
extension ConnectionState: FieldValue {}
extension ConnectionQuality: FieldValue {}
extension AgentState: FieldValue {}
extension TrackSource: FieldValue {}
extension TrackMode: FieldValue {}
extension TranscriptRole: FieldValue {}
extension SpokenState: FieldValue {}
extension MarkStatus: FieldValue {}
extension BacklogState: FieldValue {}

extension FieldValue where Self: ServerIdentifier {
    static func read(_ value: JSONValueReader) throws -> Self { Self(text: try value.decode(String.self)) }
    func write(to json: inout JSONOutput) { json.write(text) }
    static var blank: Self { Self(text: "") }
}

extension RoomSID: FieldValue {}
extension ParticipantSID: FieldValue {}
extension TrackSID: FieldValue {}
extension RecordingID: FieldValue {}
extension Identity: FieldValue {}
extension CallID: FieldValue {}
extension JobID: FieldValue {}
extension DeviceID: FieldValue {}

extension TrackAlias: FieldValue {
    static func read(_ value: JSONValueReader) throws -> TrackAlias { TrackAlias(try value.decode(UInt16.self)) }
    func write(to json: inout JSONOutput) { json.write(value) }
    static var blank: TrackAlias { TrackAlias(0) }
}

/// Bodies of HTTP requests and responses that messages contain as well: `Codable` declares their members for both.
protocol CodableFieldValue: FieldValue, Codable {}

extension CodableFieldValue {
    static func read(_ value: JSONValueReader) throws -> Self { try value.decode(Self.self) }
    func write(to json: inout JSONOutput) { json.write(coded: self) }
}

extension CallParty: CodableFieldValue { static var blank: Self { .user(.blank) } }
extension CallInfo: CodableFieldValue {
    static var blank: Self { Self(id: .blank, room: "", seq: 0, status: .started, caller: .blank, members: []) }
}
extension JobInfo: CodableFieldValue { static var blank: Self { Self(id: .blank, room: "", assistant: "", reason: .request) } }
extension TurnMetrics: CodableFieldValue { static var blank: Self { Self(turn: 0) } }
extension AssistantDefinition: CodableFieldValue { static var blank: Self { Self(id: "") } }
