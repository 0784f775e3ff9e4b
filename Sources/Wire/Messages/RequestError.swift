/// Why a request failed: `{"type":"error","re":id,"data":{"code","message","retryable"}}`.
public struct RequestError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
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
    public struct Code: Sendable, Hashable, Codable, CustomStringConvertible {
        private enum Form: Hashable { case word(String), number(Int) }
        private let form: Form

        private init(_ word: String) { form = .word(word) }
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

        public init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let number = try? value.decode(Int.self) {
                form = .number(number)
            } else {
                form = .word(try value.decode(String.self))
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch form {
            case .word(let word): try value.encode(word)
            case .number(let number): try value.encode(number)
            }
        }
    }
}

/// The error of a remote procedure call, with LiveKit's codes (1400 to 1505 are predefined, 1001 to 1999 reserved).
public struct ProcedureError: Error, Sendable, Hashable, Codable {
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
