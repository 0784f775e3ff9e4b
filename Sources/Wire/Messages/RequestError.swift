/// Why a request failed: `{"type":"error","re":id,"data":{"code","message","retryable"}}`.
public struct RequestError: Error, Sendable, Hashable, CustomStringConvertible {
    public var code: Code
    /// A sentence for people, with the remedy.
    public var message: String
    public var retryable: Bool

    public init(_ code: Code, _ message: String, retryable: Bool = false) {
        self.code = code
        self.message = message
        self.retryable = retryable
    }

    public init(_ error: ProcedureError) {
        self.init(Code(rpc: error.code), error.message)
    }

    public var description: String { "\(code): \(message)" }

    /// A string, or a number for LiveKit's RPC error codes.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        fileprivate enum Form: Hashable { case word(String), number(Int) }
        fileprivate let form: Form

        fileprivate init(_ word: String) { form = .word(word) }
        public init(rpc number: Int) { form = .number(number) }

        /// The message is not JSON, or not an object with `type`.
        public static let malformed = Code("malformed")
        public static let unknownType = Code("unknown_type")
        /// A field is missing, of the wrong type or out of range.
        public static let invalidArgument = Code("invalid_argument")
        public static let notFound = Code("not_found")
        /// A concurrent request or an existing object takes precedence.
        public static let conflict = Code("conflict")
        /// The idempotency key was used for another request.
        public static let idempotencyKeyReused = Code("idempotency_key_reused")
        /// The token's grant does not allow it.
        public static let notAllowed = Code("not_allowed")
        public static let limitExceeded = Code("limit_exceeded")
        public static let unsupported = Code("unsupported")

        /// All of them, without LiveKit's.
        package static let words = [
            malformed, unknownType, invalidArgument, notFound, conflict, idempotencyKeyReused, notAllowed, limitExceeded, unsupported,
        ]

        /// LiveKit's code, if this is the error of a remote procedure call.
        public var rpc: Int? {
            if case .number(let number) = form { number } else { nil }
        }

        public var description: String {
            switch form {
            case .word(let word): word
            case .number(let number): String(number)
            }
        }
    }
}

extension RequestError.Code: FieldValue {
    static func read(_ value: JSONValueReader) throws -> Self {
        if let number = try? value.decode(Int.self) { Self(rpc: number) } else { Self(try value.decode(String.self)) }
    }

    func write(to json: inout JSONOutput) {
        switch form {
        case .word(let word): json.write(word)
        case .number(let number): json.write(number)
        }
    }

    static var blank: Self { .malformed }
}

extension RequestError: Fields {
    static func coded(_ error: RequestError?, by fields: inout some FieldCoder) throws -> RequestError {
        try RequestError(
            fields("code", error?.code), fields("message", error?.message), retryable: fields("retryable", error?.retryable))
    }
}

/// The error of a remote procedure call, with LiveKit's codes (1400 to 1505 are predefined, 1001 to 1999 reserved).
public struct ProcedureError: Error, Sendable, Hashable {
    public var code: Int
    public var message: String

    public init(code: Int, message: String) {
        self.code = code
        self.message = message
    }

    public static let unsupportedMethod = ProcedureError(code: 1400, message: "the callee has no such method")
    public static let recipientNotFound = ProcedureError(code: 1401, message: "no such participant in the room")
    public static let requestTooLarge = ProcedureError(code: 1402, message: "the payload is over 15,360 bytes")
    public static let applicationError = ProcedureError(code: 1500, message: "the callee's method failed")
    public static let responseTimeout = ProcedureError(code: 1502, message: "the callee did not answer in time")
    public static let recipientDisconnected = ProcedureError(code: 1503, message: "the callee left before it answered")
    public static let responseTooLarge = ProcedureError(code: 1504, message: "the callee's answer is over 15,360 bytes")
}

extension ProcedureError: Fields {
    static func coded(_ error: ProcedureError?, by fields: inout some FieldCoder) throws -> ProcedureError {
        try ProcedureError(code: fields("code", error?.code), message: fields("message", error?.message))
    }
}
