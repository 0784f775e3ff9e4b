/// A text message from the gateway, as a client decodes it.
public enum ServerMessage: Sendable {
    case event(Event, seq: UInt64)
    /// An event of a later protocol version, to be ignored.
    case unknownEvent(type: String, seq: UInt64)
    case reply(re: UInt64, ReplyFields)
    /// `re` is nil if the gateway could not read the request's `id`.
    case error(re: UInt64?, RequestError)

    /// Parses one text message from the gateway.
    ///
    /// - Throws: an error if it does not conform to the protocol.
    public init(parsing text: [UInt8]) throws {
        var message = FieldReader(object: try JSONValueReader(parsing: text))
        let type: String = try message("type", nil)
        switch type {
        case "reply": self = .reply(re: try message("re", nil), try message.optional("data", nil) ?? ReplyFields())
        case "error": self = .error(re: try message.optional("re", nil), try message("data", nil))
        default:
            let seq: UInt64 = try message("seq", nil)
            let event = try Event.types.read(type, try message.member("data"))
            self = event.map { .event($0, seq: seq) } ?? .unknownEvent(type: type, seq: seq)
        }
    }
}

/// A successful reply: `{"type":"reply","re":id,"data":{…}}`.
public enum Reply: Sendable, Hashable {
    case done
    case published(TrackInfo)
    case textSent(id: String)
    case procedureAnswered(payload: String)
    case pong(Int64)
    case cleared(ClearedPlayout)
    case token(String, expiresAt: Int64)
}

/// All fields that replies can have; the request determines which are set.
public struct ReplyFields: Sendable, Hashable {
    public var track: TrackInfo?
    public var id: String?
    public var payload: String?
    public var t: Int64?
    public var token: String?
    public var expiresAt: Int64?
    /// The new epoch, in the reply to `playout.clear`, as all that follow.
    public var epoch: UInt8?
    public var playedTs: UInt32?
    public var playedMs: Int?
    public var discardedMs: Int?
    public var estimated: Bool?
}

extension ReplyFields: Fields {
    static func coded(_ reply: ReplyFields?, by fields: inout some FieldCoder) throws -> ReplyFields {
        var coded = try ReplyFields(
            track: fields.optional("track", reply?.track), id: fields.optional("id", reply?.id),
            payload: fields.optional("payload", reply?.payload), t: fields.optional("t", reply?.t),
            token: fields.optional("token", reply?.token), expiresAt: fields.optional("expires_at", reply?.expiresAt),
            epoch: fields.optional("epoch", reply?.epoch))
        guard coded.epoch != nil else { return coded }
        coded.playedTs = try fields.nullable("played_ts", reply?.playedTs)
        coded.playedMs = try fields.optional("played_ms", reply?.playedMs)
        coded.discardedMs = try fields.optional("discarded_ms", reply?.discardedMs)
        coded.estimated = try fields.optional("estimated", reply?.estimated)
        return coded
    }

    fileprivate init(_ reply: Reply) {
        switch reply {
        case .done: self.init()
        case .published(let track): self.init(track: track)
        case .textSent(let id): self.init(id: id)
        case .procedureAnswered(let payload): self.init(payload: payload)
        case .pong(let t): self.init(t: t)
        case .token(let token, let expiry): self.init(token: token, expiresAt: expiry)
        case .cleared(let cut):
            // Without what the requester already knows: track, reason and requester.
            self.init(
                epoch: cut.epoch, playedTs: cut.heard.playedTs, playedMs: cut.heard.playedMs, discardedMs: cut.discardedMs,
                estimated: cut.heard.isEstimated)
        }
    }
}

/// Encodes replies and errors.
public enum EncodedReply {
    public static func bytes(of reply: Reply, re id: UInt64) -> [UInt8] { JSONOutput.bytes(ofReply: "reply", re: id, ReplyFields(reply)) }

    /// `re` is null if the request had no readable `id`.
    public static func bytes(of error: RequestError, re id: UInt64?) -> [UInt8] { JSONOutput.bytes(ofReply: "error", re: id, error) }
}

/// An event encoded once for all recipients. Only `seq` differs between connections and is inserted when the event is written.
public struct EncodedEvent: Sendable {
    private let text: [UInt8]
    /// Offset of the digits of `seq`.
    private let seqOffset: UInt32
    /// How many milliseconds the event may be deferred to be coalesced with later messages to the same participant; 0 sends it at once.
    public let deferralMilliseconds: UInt8
    /// Whether the event (`stats`) makes an earlier queued one to the same participant obsolete.
    public let supersedesPrevious: Bool

    public init(_ event: Event) {
        let message = JSONOutput.bytes(of: event)
        deferralMilliseconds = event.deferralMilliseconds
        supersedesPrevious = if case .stats = event { true } else { false }
        // Behind the type, which has no quotes in it.
        let seq = message.dropFirst(#"{"type":""#.utf8.count).firstIndex(of: UInt8(ascii: "\"")).map { $0 + 1 } ?? 0
        var text: [UInt8] = []
        // Allocated exactly: event logs retain the text.
        text.reserveCapacity(message.count + Self.member.count)
        text += message[..<seq]
        text += Self.member
        seqOffset = UInt32(text.count)
        text += message[seq...]
        self.text = text
    }

    private static let member = Array(#","seq":"#.utf8)

    /// Length of the message without the digits of `seq`.
    public var byteCount: Int { text.count }

    /// The complete message for a connection on which this is event number `seq`.
    public func bytes(seq: UInt64) -> [UInt8] {
        let count = byteCount(seq: seq)
        return Array(unsafeUninitializedCapacity: count) { bytes, written in
            write(seq: seq, to: UnsafeMutableRawPointer(bytes.baseAddress!))
            written = count
        }
    }

    /// Length of `bytes(seq:)`.
    package func byteCount(seq: UInt64) -> Int { text.count + Self.digits(of: seq) }

    /// Writes `bytes(seq:)` to memory with room for `byteCount(seq:)` bytes.
    package func write(seq: UInt64, to start: UnsafeMutableRawPointer) {
        let digits = Self.digits(of: seq)
        let (head, tail) = (Int(seqOffset), text.count - Int(seqOffset))
        text.withUnsafeBytes {
            start.copyMemory(from: $0.baseAddress!, byteCount: head)
            (start + head + digits).copyMemory(from: $0.baseAddress! + head, byteCount: tail)
        }
        var rest = seq
        for offset in (head..<head + digits).reversed() {
            start.storeBytes(of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: offset, as: UInt8.self)
            rest /= 10
        }
    }

    private static func digits(of number: UInt64) -> Int {
        var (digits, rest) = (1, number)
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        return digits
    }
}

extension Event {
    /// Status displays tolerate a delay; the end of a talkspurt or of playout does not, because assistants react to it. The start of a
    /// talkspurt is visible in the frames as well, and active speakers are a mean over 400 ms.
    var deferralMilliseconds: UInt8 {
        switch self {
        case .talkStarted, .agentState, .playoutStarted: 20
        case .speakersChanged, .stats: 100
        default: 0
        }
    }
}
