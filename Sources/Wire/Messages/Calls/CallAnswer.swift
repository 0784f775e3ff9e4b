/// The answer to a request that was done: the call as it is then, and a way into its room where one was asked for.
public struct CallReply: Sendable, Hashable, Codable {
    public var call: CallInfo?
    /// As in the answer to `POST /v1/sessions/start`.
    public var livekitUrl: String?
    public var livekitToken: String?
    public var roomName: String?
    /// Of a `ping`.
    public var t: Int64?
    /// Of a `token.renew`: for how many seconds the channel may go on.
    public var expiresIn: Int64?

    public init(_ call: CallInfo, livekitURL: String? = nil, livekitToken: String? = nil, roomName: String? = nil) {
        self.call = call
        self.livekitUrl = livekitURL
        self.livekitToken = livekitToken
        self.roomName = roomName
    }

    public init(pong t: Int64) {
        self.t = t
    }

    public init(expiresIn: Int64) {
        self.expiresIn = expiresIn
    }

    public func bytes(re id: UInt64) -> [UInt8] {
        Array(#"{"type":"reply","re":\#(id),"data":"#.utf8) + ControlCoding.bytes(of: self) + [UInt8(ascii: "}")]
    }
}

/// Why a request about a call was not done and, where somebody else was first, what is so already.
public struct CallError: Error, Sendable, Hashable {
    public var error: RequestError
    /// The call as it is, for a `conflict`.
    public var call: CallInfo?

    public init(_ code: RequestError.Code, _ message: String, retryable: Bool = false, call: CallInfo? = nil) {
        error = RequestError(code, message, retryable: retryable)
        self.call = call
    }

    public init(_ error: RequestError) {
        self.error = error
    }

    /// `re` is null where the request had no readable `id`.
    public func bytes(re id: UInt64?) -> [UInt8] {
        let id = id.map(String.init) ?? "null"
        return Array(#"{"type":"error","re":\#(id),"data":"#.utf8) + ControlCoding.bytes(of: self) + [UInt8(ascii: "}")]
    }
}

extension CallError: Codable {
    private enum Key: String, CodingKey { case call }

    public init(from decoder: any Decoder) throws {
        error = try RequestError(from: decoder)
        call = try decoder.container(keyedBy: Key.self).decodeIfPresent(CallInfo.self, forKey: .call)
    }

    public func encode(to encoder: any Encoder) throws {
        try error.encode(to: encoder)
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encodeIfPresent(call, forKey: .call)
    }
}
