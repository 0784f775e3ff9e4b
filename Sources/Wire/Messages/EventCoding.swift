/// The `type` of each event.
enum EventType: String, CaseIterable {
    case hello
    case participantJoined = "participant.joined"
    case participantLeft = "participant.left"
    case participantUpdated = "participant.updated"
    case trackPublished = "track.published"
    case trackUnpublished = "track.unpublished"
    case trackMuted = "track.muted"
    case trackUnmuted = "track.unmuted"
    case speakersChanged = "speakers.changed"
    case qualityChanged = "quality.changed"
    case talkStarted = "talk.started"
    case talkStopped = "talk.stopped"
    case silence
    case segment = "transcript.segment"
    case agentState = "agent.state"
    case agentJoined = "agent.joined"
    case agentLost = "agent.lost"
    case data
    case text
    case procedureCalled = "rpc.request"
    case digits = "dtmf"
    case playoutMarked = "playout.marked"
    case playoutCleared = "playout.cleared"
    case playoutStarted = "playout.started"
    case playoutFinished = "playout.finished"
    case playoutBacklog = "playout.backlog"
    case callHeld = "call.held"
    case callResumed = "call.resumed"
    case callMuted = "call.muted"
    case callUnmuted = "call.unmuted"
    case callEnded = "call.ended"
    case roomUpdated = "room.updated"
    case recordingStarted = "recording.started"
    case recordingStopped = "recording.stopped"
    case tokenRefreshed = "token.refreshed"
    case serverDraining = "server.draining"
    case bye
    case stats
}

/// The body of every event except `hello`, `transcript.segment`, `stats` and those of `PlayoutFields`.
struct EventFields: Codable {
    var participant: Identity?
    var track: TrackReference?
    var reason: String?
    var connection: ConnectionState?
    var speakers: [Speaker]?
    var quality: ConnectionQuality?
    var ts: UInt32?
    var silentMs: Int?
    var state: AgentState?
    var id: String?
    var requestId: String?
    var topic: String?
    var payload: String?
    var payloadBase64: String?
    var text: String?
    var method: String?
    var timeoutMs: Int?
    var digits: String?
    var room: RoomInfo?
    var token: String?
    var expiresAt: Int64?
    var deadline: Int64?
    var retryable: Bool?
    var epoch: UInt8?
    var recording: RecordingID?

    /// A track's sid, or its full description.
    enum TrackReference: Codable {
        case sid(TrackSID), info(TrackInfo)

        init(from decoder: any Decoder) throws {
            if let sid = try? decoder.singleValueContainer().decode(TrackSID.self) {
                self = .sid(sid)
            } else {
                self = .info(try TrackInfo(from: decoder))
            }
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .sid(let sid): try sid.encode(to: encoder)
            case .info(let info): try info.encode(to: encoder)
            }
        }
    }
}

/// A participant's description flattened into an event body, next to `participant` (its identity).
struct ParticipantFields: Codable {
    var info: ParticipantInfo
    var connection: ConnectionState?

    private enum Key: String, CodingKey { case participant, connection }

    init(_ info: ParticipantInfo, connection: ConnectionState? = nil) {
        self.info = info
        self.connection = connection
    }

    init(from decoder: any Decoder) throws {
        info = try ParticipantInfo(from: decoder)
        connection = try decoder.container(keyedBy: Key.self).decodeIfPresent(ConnectionState.self, forKey: .connection)
    }

    func encode(to encoder: any Encoder) throws {
        try info.encode(to: encoder)
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(info.identity, forKey: .participant)
        try fields.encodeIfPresent(connection, forKey: .connection)
    }
}

extension Event {
    var typeAndBody: (EventType, [UInt8]) {
        let (type, fields) = typeAndFields
        return (type, ControlCoding.bytes(of: fields))
    }

    private var typeAndFields: (EventType, any Encodable) {
        switch self {
        case .hello(let hello): (.hello, hello)
        case .participantJoined(let info): (.participantJoined, ParticipantFields(info))
        case .participantLeft(let who, let reason): (.participantLeft, EventFields(participant: who, reason: reason.rawValue))
        case .participantUpdated(let info, let connection): (.participantUpdated, ParticipantFields(info, connection: connection))
        case .trackPublished(let track): (.trackPublished, EventFields(participant: track.participant, track: .info(track)))
        case .trackUnpublished(let track, let who): (.trackUnpublished, EventFields(participant: who, track: .sid(track)))
        case .trackMuted(let track, let who): (.trackMuted, EventFields(participant: who, track: .sid(track)))
        case .trackUnmuted(let track, let who): (.trackUnmuted, EventFields(participant: who, track: .sid(track)))
        case .speakersChanged(let speakers): (.speakersChanged, EventFields(speakers: speakers))
        case .qualityChanged(let who, let quality): (.qualityChanged, EventFields(participant: who, quality: quality))
        case .talkStarted(let who, let track, let time):
            (.talkStarted, EventFields(participant: who, track: .sid(track), ts: time.ticks))
        case .talkStopped(let who, let track, let time, let reason):
            (.talkStopped, EventFields(participant: who, track: .sid(track), reason: reason.rawValue, ts: time.ticks))
        case .silence(let who, let span): (.silence, EventFields(participant: who, silentMs: span))
        case .segment(let segment): (.segment, segment)
        case .agentState(let who, let state): (.agentState, EventFields(participant: who, state: state))
        case .agentJoined(let info): (.agentJoined, ParticipantFields(info))
        case .agentLost(let who, let reason): (.agentLost, EventFields(participant: who, reason: reason.rawValue))
        case .data(let who, let topic, .text(let text)): (.data, EventFields(participant: who, topic: topic, payload: text))
        case .data(let who, let topic, .base64(let text)): (.data, EventFields(participant: who, topic: topic, payloadBase64: text))
        case .text(let id, let who, let topic, let text): (.text, EventFields(participant: who, id: id, topic: topic, text: text))
        case .procedureCalled(let id, let who, let method, let payload, let timeout):
            (.procedureCalled, EventFields(participant: who, requestId: id, payload: payload, method: method, timeoutMs: timeout))
        case .digits(let who, let digits): (.digits, EventFields(participant: who, digits: digits))
        case .playoutMarked(let track, let name, let status, let time):
            (.playoutMarked, PlayoutFields(track: track, playedTs: time?.ticks, name: name, status: status))
        case .playoutCleared(let cut, let who): (.playoutCleared, PlayoutFields(cut, by: who))
        case .playoutStarted(let track, let who, let epoch, let time):
            (.playoutStarted, EventFields(participant: who, track: .sid(track), ts: time.ticks, epoch: epoch))
        case .playoutFinished(let track, let who, let epoch, let heard):
            (.playoutFinished, PlayoutFields(track: track, participant: who, epoch: epoch, heard: heard))
        case .playoutBacklog(let track, let state, let queued, let dropped):
            (.playoutBacklog, BacklogFields(track: track, queuedMs: queued, state: state, dropped: dropped))
        case .callHeld(let who): (.callHeld, EventFields(participant: who))
        case .callResumed(let who): (.callResumed, EventFields(participant: who))
        case .callMuted(let who): (.callMuted, EventFields(participant: who))
        case .callUnmuted(let who): (.callUnmuted, EventFields(participant: who))
        case .callEnded(let reason): (.callEnded, EventFields(reason: reason))
        case .roomUpdated(let room): (.roomUpdated, EventFields(room: room))
        case .recordingStarted(let id): (.recordingStarted, EventFields(recording: id))
        case .recordingStopped(let id, let reason): (.recordingStopped, EventFields(reason: reason.rawValue, recording: id))
        case .tokenRefreshed(let token, let expiry): (.tokenRefreshed, EventFields(token: token, expiresAt: expiry))
        case .serverDraining(let deadline): (.serverDraining, EventFields(deadline: deadline))
        case .bye(let reason, let retryable): (.bye, EventFields(reason: reason.rawValue, retryable: retryable))
        case .stats(let stats): (.stats, stats)
        }
    }
}
