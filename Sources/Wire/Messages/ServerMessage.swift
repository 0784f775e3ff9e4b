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
    /// - Throws: `DecodingError` if it does not conform to PROTOCOL.
    public init(parsing text: [UInt8]) throws {
        self = try ControlCoding.decode(Envelope.self, from: text).message
    }
}

/// All fields that replies can have; the request determines which are set.
public struct ReplyFields: Sendable, Hashable, Codable {
    public var track: TrackInfo?
    public var id: String?
    public var payload: String?
    public var t: Int64?
    public var token: String?
    public var expiresAt: Int64?
    // Reply to `playout.clear`.
    public var epoch: UInt8?
    public var playedTs: UInt32?
    public var playedMs: Int?
    public var discardedMs: Int?
    public var estimated: Bool?
}

/// Encodes replies and errors.
public enum EncodedReply {
    public static func bytes(of reply: Reply, re id: UInt64) -> [UInt8] {
        let fields: any Encodable =
            switch reply {
            case .done: ReplyFields()
            case .published(let track): ReplyFields(track: track)
            case .textSent(let id): ReplyFields(id: id)
            case .procedureAnswered(let payload): ReplyFields(payload: payload)
            case .pong(let t): ReplyFields(t: t)
            case .token(let token, let expiry): ReplyFields(token: token, expiresAt: expiry)
            case .cleared(let cut): ClearedFields(cut)
            }
        return Array(#"{"type":"reply","re":\#(id),"data":"#.utf8) + ControlCoding.bytes(of: fields) + [UInt8(ascii: "}")]
    }

    /// `re` is null if the request had no readable `id`.
    public static func bytes(of error: RequestError, re id: UInt64?) -> [UInt8] {
        let id = id.map(String.init) ?? "null"
        return Array(#"{"type":"error","re":\#(id),"data":"#.utf8) + ControlCoding.bytes(of: error) + [UInt8(ascii: "}")]
    }
}

private struct Envelope: Decodable {
    var message: ServerMessage

    private enum Key: String, CodingKey { case type, seq, re, data }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        switch try fields.decode(String.self, forKey: .type) {
        case "reply":
            message = .reply(
                re: try fields.decode(UInt64.self, forKey: .re),
                try fields.decodeIfPresent(ReplyFields.self, forKey: .data) ?? ReplyFields())
        case "error":
            message = .error(
                re: try fields.decodeIfPresent(UInt64.self, forKey: .re), try fields.decode(RequestError.self, forKey: .data))
        case let name:
            let seq = try fields.decode(UInt64.self, forKey: .seq)
            if let type = EventType(rawValue: name) {
                message = .event(try Event(type, from: fields.superDecoder(forKey: .data)), seq: seq)
            } else {
                message = .unknownEvent(type: name, seq: seq)
            }
        }
    }
}

extension Event {
    fileprivate init(_ type: EventType, from decoder: any Decoder) throws {
        let fields = FieldReader(decoder)
        switch type {
        case .hello: self = .hello(try Hello(from: decoder))
        case .participantJoined: self = .participantJoined(try ParticipantFields(from: decoder).info)
        case .participantLeft: self = .participantLeft(try fields[\.participant], reason: try fields.disconnectReason)
        case .participantUpdated:
            let update = try ParticipantFields(from: decoder)
            self = .participantUpdated(update.info, connection: update.connection ?? .connected)
        case .trackPublished: self = .trackPublished(try fields.trackInfo)
        case .trackUnpublished: self = .trackUnpublished(try fields.trackSID, of: try fields[\.participant])
        case .trackMuted: self = .trackMuted(try fields.trackSID, of: try fields[\.participant])
        case .trackUnmuted: self = .trackUnmuted(try fields.trackSID, of: try fields[\.participant])
        case .speakersChanged: self = .speakersChanged(try fields[\.speakers])
        case .qualityChanged: self = .qualityChanged(try fields[\.participant], try fields[\.quality])
        case .talkStarted:
            self = .talkStarted(try fields[\.participant], try fields.trackSID, at: MediaTime(ticks: try fields[\.ts]))
        case .talkStopped:
            self = .talkStopped(
                try fields[\.participant], try fields.trackSID, at: MediaTime(ticks: try fields[\.ts]),
                reason: TalkEnd(rawValue: try fields[\.reason]) ?? .end)
        case .silence: self = .silence(try fields[\.participant], milliseconds: try fields[\.silentMs])
        case .segment: self = .segment(try TranscriptSegment(from: decoder))
        case .agentState: self = .agentState(try fields[\.participant], try fields[\.state])
        case .agentJoined: self = .agentJoined(try ParticipantFields(from: decoder).info)
        case .agentLost: self = .agentLost(try fields[\.participant], reason: try fields.disconnectReason)
        case .data: self = .data(from: try fields[\.participant], topic: try fields[\.topic], try fields.payload)
        case .text:
            self = .text(
                id: try fields[\.id], from: try fields[\.participant], topic: try fields[\.topic], text: try fields[\.text])
        case .procedureCalled:
            self = .procedureCalled(
                requestID: try fields[\.requestId], from: try fields[\.participant], method: try fields[\.method],
                payload: try fields[\.payload], timeoutMilliseconds: try fields[\.timeoutMs])
        case .digits: self = .digits(from: try fields[\.participant], try fields[\.digits])
        case .playoutMarked:
            let mark = try PlayoutFields(from: decoder)
            self = .playoutMarked(
                mark.track, name: try required(mark.name, "name"), try required(mark.status, "status"),
                at: mark.playedTs.map(MediaTime.init(ticks:)))
        case .playoutCleared:
            let cleared = try PlayoutFields(from: decoder)
            self = .playoutCleared(try required(cleared.cut, "epoch"), by: try required(cleared.by, "by"))
        case .playoutStarted:
            self = .playoutStarted(
                try fields.trackSID, of: try fields[\.participant], epoch: try fields[\.epoch],
                at: MediaTime(ticks: try fields[\.ts]))
        case .playoutFinished:
            let finished = try PlayoutFields(from: decoder)
            self = .playoutFinished(
                finished.track, of: try required(finished.participant, "participant"), epoch: try required(finished.epoch, "epoch"),
                finished.heard)
        case .playoutBacklog:
            let backlog = try BacklogFields(from: decoder)
            self = .playoutBacklog(backlog.track, backlog.state, queuedMs: backlog.queuedMs, dropped: backlog.dropped)
        case .callHeld: self = .callHeld(by: try fields[\.participant])
        case .callResumed: self = .callResumed(by: try fields[\.participant])
        case .callMuted: self = .callMuted(by: try fields[\.participant])
        case .callUnmuted: self = .callUnmuted(by: try fields[\.participant])
        case .callEnded: self = .callEnded(reason: try fields[\.reason])
        case .roomUpdated: self = .roomUpdated(try fields[\.room])
        case .recordingStarted: self = .recordingStarted(try fields[\.recording])
        case .recordingStopped:
            self = .recordingStopped(try fields[\.recording], RecordingEnd(rawValue: try fields[\.reason]) ?? .asked)
        case .tokenRefreshed: self = .tokenRefreshed(token: try fields[\.token], expiresAt: try fields[\.expiresAt])
        case .serverDraining: self = .serverDraining(deadline: try fields[\.deadline])
        case .bye: self = .bye(try fields.disconnectReason, retryable: try fields[\.retryable])
        case .stats: self = .stats(try ConnectionStats(from: decoder))
        }
    }
}

/// Decodes an event's body and names the field that is missing.
private struct FieldReader {
    private let fields: Result<EventFields, any Error>

    init(_ decoder: any Decoder) {
        fields = Result { try EventFields(from: decoder) }
    }

    subscript<T>(_ path: KeyPath<EventFields, T?>) -> T {
        get throws {
            guard let value = try fields.get()[keyPath: path] else { throw FieldError(name: "\(path)") }
            return value
        }
    }

    /// Reasons unknown to this version become `unknown`.
    var disconnectReason: DisconnectReason {
        get throws { DisconnectReason(rawValue: try self[\.reason]) ?? .unknown }
    }

    var trackSID: TrackSID {
        get throws {
            switch try self[\.track] {
            case .sid(let sid): sid
            case .info(let info): info.sid
            }
        }
    }

    var trackInfo: TrackInfo {
        get throws {
            guard case .info(let info) = try self[\.track] else { throw FieldError(name: "track", problem: "is not an object") }
            return info
        }
    }

    var payload: DataPayload {
        get throws {
            let fields = try fields.get()
            if let text = fields.payload { return .text(text) }
            return .base64(try self[\.payloadBase64])
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
