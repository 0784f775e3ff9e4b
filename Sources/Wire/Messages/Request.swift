/// A request from a client (docs/protocol/requests.md).
public enum Request: Sendable, Hashable {
    case publish(PublishTrack)
    case unpublish(TrackSID)
    case mute(TrackSID, muted: Bool)
    case subscribe(TrackSID, subscribed: Bool)
    case updateParticipant(ParticipantUpdate)
    case sendData(DataMessage)
    case sendText(TextMessage)
    case callProcedure(ProcedureCall)
    case answerProcedure(ProcedureAnswer)
    case segment(TranscriptSegment)
    case agentState(AgentState)
    case hold(Bool)
    case playoutMark(PlayoutMark)
    case playoutClear(TrackSID, reason: String?)
    case playoutProgress(PlayoutProgress)
    case sendDigits(String)
    /// The client's clock in any unit, returned unchanged.
    case ping(Int64)
    case refreshToken
    case leave(reason: String?)
}

/// `track.publish`.
public struct PublishTrack: Sendable, Hashable {
    public var name: String
    public var source: TrackSource
    public var codec: String
    public var mode: TrackMode
    /// Milliseconds of audio in a packet: 2.5, 5, 10, 20, 40, 60, 80, 100 or 120.
    public var frameMs: Double
    public var dtx: Bool
    public var fec: Bool
    /// 1 or 2.
    public var channels: Int

    public init(
        name: String = "", source: TrackSource = .microphone, codec: String = "opus", mode: TrackMode = .live, frameMs: Double = 20,
        dtx: Bool = false, fec: Bool = false, channels: Int = 1
    ) {
        self.name = name
        self.source = source
        self.codec = codec
        self.mode = mode
        self.frameMs = frameMs
        self.dtx = dtx
        self.fec = fec
        self.channels = channels
    }
}

public enum TrackSource: String, Sendable, Codable, CaseIterable {
    case microphone, assistant
}

/// How a track's frames are queued: `live` frames are dropped when they are late, `ahead` frames are paced by the media clock.
public enum TrackMode: String, Sendable, Codable, CaseIterable {
    case live, ahead
}

/// `participant.update`: nil leaves a value unchanged; an attribute with an empty value is removed.
public struct ParticipantUpdate: Sendable, Hashable {
    public var name: String?
    public var metadata: String?
    public var attributes: [String: String]?

    public init(name: String? = nil, metadata: String? = nil, attributes: [String: String]? = nil) {
        self.name = name
        self.metadata = metadata
        self.attributes = attributes
    }
}

/// The payload of `data.send` and `data`.
public enum DataPayload: Sendable, Hashable {
    case text(String)
    /// Base64 as received: validated, and forwarded without decoding.
    case base64(String)

    /// Size of the decoded payload, in bytes.
    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .base64(let text): text.utf8.count / 4 * 3 - text.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
        }
    }

    /// Whether the payload is text: sent as text, or bytes that are UTF-8 without control characters. LiveKit's SDKs send all data as bytes, so the
    /// form alone does not show. O(n) in its size.
    public var isReadable: Bool {
        guard case .base64(let encoded) = self else { return true }
        guard let bytes = Base64.standard.decode(encoded.utf8), let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\t" || $0 == "\n" || $0 == "\r" }
    }
}

/// `data.send`: to all other participants, or to those listed.
public struct DataMessage: Sendable, Hashable {
    public var topic: String
    public var payload: DataPayload
    public var to: [Identity]?

    public init(topic: String, payload: DataPayload, to: [Identity]? = nil) {
        self.topic = topic
        self.payload = payload
        self.to = to
    }
}

/// `text.send`: to all other participants, or to those listed.
public struct TextMessage: Sendable, Hashable {
    /// LiveKit's topic for chat.
    public static let chatTopic = "lk.chat"

    public var text: String
    public var topic: String
    public var to: [Identity]?

    public init(text: String, topic: String = TextMessage.chatTopic, to: [Identity]? = nil) {
        self.text = text
        self.topic = topic
        self.to = to
    }
}

/// `rpc.request`: calls a method on another participant.
public struct ProcedureCall: Sendable, Hashable {
    public var to: Identity
    public var method: String
    public var payload: String
    /// How long to wait for the response. Default 10,000, at most 60,000.
    public var timeoutMs: Int

    public init(to: Identity, method: String, payload: String = "", timeoutMs: Int = 10_000) {
        self.to = to
        self.method = method
        self.payload = payload
        self.timeoutMs = timeoutMs
    }
}

/// `rpc.response`: the callee's result or error.
public struct ProcedureAnswer: Sendable, Hashable {
    public var requestId: String
    public var payload: String?
    public var error: ProcedureError?
}

extension ProcedureAnswer {
    public init(requestId: String, payload: String) { self.init(requestId: requestId, payload: payload, error: nil) }
    public init(requestId: String, error: ProcedureError) { self.init(requestId: requestId, payload: nil, error: error) }
}

/// What an assistant is doing; also stored as attribute `lk.agent.state`.
public enum AgentState: String, Sendable, Codable, CaseIterable {
    case initializing, idle, listening, thinking, speaking, error

    /// LiveKit's name of the attribute.
    public static let attribute = "lk.agent.state"
}
