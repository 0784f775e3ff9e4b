/// The fields of each event.
extension Event: Message {
    func coded(by fields: inout some FieldCoder) throws -> Event {
        switch self {
        case .hello(let hello):
            fields.begin("hello", "the participant itself, first")
            return .hello(try fields.body(hello))
        case .participantJoined(let info):
            fields.begin("participant.joined", "all others")
            return .participantJoined(try fields.participant(info))
        case .participantLeft(let who, let reason):
            fields.begin("participant.left", "all others")
            return .participantLeft(try fields("participant", who), reason: try fields.word("reason", reason, unknown: .unknown))
        case .participantUpdated(let info, let connection):
            fields.begin("participant.updated", "all, including itself; a change of its connection: all others")
            return .participantUpdated(
                try fields.participant(info), connection: try fields("connection", connection, default: .connected))
        case .trackPublished(let track):
            fields.begin("track.published", "all others; the publisher gets the reply")
            fields.derived("participant", track.participant)
            return .trackPublished(try fields("track", track))
        case .trackUnpublished(let track, let who):
            fields.begin("track.unpublished", "all that remain, including the publisher")
            let (who, track) = try fields.owned(track, by: who)
            return .trackUnpublished(track, of: who)
        case .trackMuted(let track, let who):
            fields.begin("track.muted", "all, including the publisher")
            let (who, track) = try fields.owned(track, by: who)
            return .trackMuted(track, of: who)
        case .trackUnmuted(let track, let who):
            fields.begin("track.unmuted", "all, including the publisher")
            let (who, track) = try fields.owned(track, by: who)
            return .trackUnmuted(track, of: who)
        case .speakersChanged(let speakers):
            fields.begin("speakers.changed", "all")
            return .speakersChanged(try fields("speakers", speakers))
        case .qualityChanged(let who, let quality):
            fields.begin("quality.changed", "all, including itself")
            return .qualityChanged(try fields("participant", who), try fields("quality", quality))
        case .talkStarted(let who, let track, let time):
            fields.begin("talk.started", "all")
            return .talkStarted(try fields("participant", who), try fields("track", track), at: try fields.time("ts", time))
        case .talkStopped(let who, let track, let time, let reason):
            fields.begin("talk.stopped", "all")
            return .talkStopped(
                try fields("participant", who), try fields("track", track), at: try fields.time("ts", time),
                reason: try fields.word("reason", reason, unknown: .end))
        case .talkEarlier(let who, let track, let start, let live):
            fields.begin("talk.earlier", "an agent that was asked for, before the frames")
            return .talkEarlier(
                try fields("participant", who), try fields("track", track), from: try fields.time("ts", start),
                live: try fields.time("live_ts", live))
        case .silence(let who, let span):
            fields.begin("silence", "all")
            return .silence(try fields("participant", who), milliseconds: try fields("silent_ms", span))
        case .segment(let segment):
            fields.begin("transcript.segment", "all others")
            return .segment(try fields.body(segment))
        case .agentState(let who, let state):
            fields.begin("agent.state", "all others")
            return .agentState(try fields("participant", who), try fields("state", state))
        case .agentJoined(let info):
            fields.begin("agent.joined", "all others")
            return .agentJoined(try fields.participant(info))
        case .agentLost(let who, let reason):
            fields.begin("agent.lost", "all others")
            return .agentLost(try fields("participant", who), reason: try fields.word("reason", reason, unknown: .unknown))
        case .agentWaiting(let who, let reason):
            fields.begin("agent.waiting", "all")
            return .agentWaiting(try fields("participant", who), reason: try fields.word("reason", reason, unknown: .busy))
        case .data(let who, let topic, let payload):
            fields.begin("data", "the identities in `to`, otherwise all others")
            return .data(from: try fields("participant", who), topic: try fields("topic", topic), try fields.payload(payload))
        case .text(let id, let who, let topic, let text):
            fields.begin("text", "the identities in `to`, otherwise all others")
            return .text(
                id: try fields("id", id), from: try fields("participant", who), topic: try fields("topic", topic),
                text: try fields("text", text))
        case .procedureCalled(let id, let who, let method, let payload, let timeout):
            fields.begin("rpc.request", "the callee, which answers with `rpc.response`")
            return .procedureCalled(
                requestID: try fields("request_id", id), from: try fields("participant", who), method: try fields("method", method),
                payload: try fields("payload", payload), timeoutMilliseconds: try fields("timeout_ms", timeout))
        case .digits(let who, let digits):
            fields.begin("dtmf", "all others")
            return .digits(from: try fields("participant", who), try fields("digits", digits))
        case .playoutMarked(let track, let name, let status, let time):
            fields.begin("playout.marked", "the publisher")
            return .playoutMarked(
                try fields("track", track), name: try fields("name", name), try fields("status", status),
                at: try fields.nullable("played_ts", time?.ticks).map(MediaTime.init(ticks:)))
        case .playoutCleared(let cleared, let who):
            fields.begin("playout.cleared", "all")
            return .playoutCleared(try fields.body(cleared), by: try fields("by", who))
        case .playoutStarted(let track, let who, let epoch, let time):
            fields.begin("playout.started", "all")
            return .playoutStarted(
                try fields("track", track), of: try fields("participant", who), epoch: try fields("epoch", epoch),
                at: try fields.time("ts", time))
        case .playoutFinished(let track, let who, let epoch, let heard):
            fields.begin("playout.finished", "all")
            return .playoutFinished(
                try fields("track", track), of: try fields("participant", who), epoch: try fields("epoch", epoch), try fields.body(heard))
        case .playoutBacklog(let track, let state, let queued, let dropped):
            fields.begin("playout.backlog", "the publisher")
            return .playoutBacklog(
                try fields("track", track), try fields("state", state), queuedMs: try fields("queued_ms", queued),
                dropped: try fields("dropped", dropped))
        case .callHeld(let who):
            fields.begin("call.held", "all, including the participant concerned")
            return .callHeld(by: try fields("participant", who))
        case .callResumed(let who):
            fields.begin("call.resumed", "all, including the participant concerned")
            return .callResumed(by: try fields("participant", who))
        case .callMuted(let who):
            fields.begin("call.muted", "all, including the participant concerned")
            return .callMuted(by: try fields("participant", who))
        case .callUnmuted(let who):
            fields.begin("call.unmuted", "all, including the participant concerned")
            return .callUnmuted(by: try fields("participant", who))
        case .callEnded(let reason):
            fields.begin("call.ended", "all")
            return .callEnded(reason: try fields("reason", reason))
        case .roomUpdated(let room):
            fields.begin("room.updated", "all")
            return .roomUpdated(try fields("room", room))
        case .recordingStarted(let id):
            fields.begin("recording.started", "all")
            return .recordingStarted(try fields("recording", id))
        case .recordingStopped(let id, let reason):
            fields.begin("recording.stopped", "all")
            return .recordingStopped(try fields("recording", id), try fields.word("reason", reason, unknown: .asked))
        case .tokenRefreshed(let token, let expiry):
            fields.begin("token.refreshed", "the participant itself")
            return .tokenRefreshed(token: try fields("token", token), expiresAt: try fields("expires_at", expiry))
        case .serverDraining(let deadline):
            fields.begin("server.draining", "all")
            return .serverDraining(deadline: try fields("deadline", deadline))
        case .bye(let reason, let retryable):
            fields.begin("bye", "the participant concerned")
            return .bye(try fields.word("reason", reason, unknown: .unknown), retryable: try fields("retryable", retryable))
        case .stats(let stats):
            fields.begin("stats", "the participant itself")
            return .stats(try fields.body(stats))
        }
    }

    /// All types, for the reference.
    package static var descriptions: [MessageDescription] { types.descriptions }

    static let types = MessageTypes<Event>([
        .hello(.blank), .participantJoined(.blank), .participantUpdated(.blank, connection: .connected),
        .participantLeft(.blank, reason: .unknown), .agentJoined(.blank), .agentLost(.blank, reason: .unknown),
        .agentState(.blank, .blank), .agentWaiting(.blank, reason: .busy), .trackPublished(.blank), .trackUnpublished(.blank, of: .blank),
        .trackMuted(.blank, of: .blank), .trackUnmuted(.blank, of: .blank), .talkStarted(.blank, .blank, at: MediaTime(ticks: 0)),
        .talkStopped(.blank, .blank, at: MediaTime(ticks: 0), reason: .end),
        .talkEarlier(.blank, .blank, from: MediaTime(ticks: 0), live: MediaTime(ticks: 0)), .speakersChanged([]),
        .silence(.blank, milliseconds: 0),
        .playoutStarted(.blank, of: .blank, epoch: 0, at: MediaTime(ticks: 0)),
        .playoutFinished(.blank, of: .blank, epoch: 0, .blank), .playoutCleared(.blank, by: .blank),
        .playoutMarked(.blank, name: "", .blank, at: nil), .playoutBacklog(.blank, .blank, queuedMs: 0, dropped: 0),
        .data(from: .blank, topic: "", .text("")), .text(id: "", from: .blank, topic: "", text: ""),
        .procedureCalled(requestID: "", from: .blank, method: "", payload: "", timeoutMilliseconds: 0), .digits(from: .blank, ""),
        .segment(.blank), .callHeld(by: .blank), .callResumed(by: .blank), .callMuted(by: .blank), .callUnmuted(by: .blank),
        .callEnded(reason: ""), .roomUpdated(.blank), .recordingStarted(.blank), .recordingStopped(.blank, .asked),
        .qualityChanged(.blank, .blank), .stats(.blank), .tokenRefreshed(token: "", expiresAt: 0), .serverDraining(deadline: 0),
        .bye(.unknown, retryable: false),
    ])
}

/// Fields that several events have.
extension FieldCoder {
    /// A participant's description, next to its identity as in other events.
    fileprivate mutating func participant(_ info: ParticipantInfo) throws -> ParticipantInfo {
        let info = try body(info)
        derived("participant", info.identity)
        return info
    }

    fileprivate mutating func owned(_ track: TrackSID, by publisher: Identity) throws -> (Identity, TrackSID) {
        (try self("participant", publisher), try self("track", track))
    }

    fileprivate mutating func time(_ name: StaticString, _ time: MediaTime) throws -> MediaTime {
        MediaTime(ticks: try self(name, time.ticks))
    }

    /// Text as it is, or base64.
    ///
    /// - Throws: `FieldError` for both, for none, and for what is not base64.
    mutating func payload(_ payload: DataPayload) throws -> DataPayload {
        var (text, base64): (String?, String?) = (nil, nil)
        switch payload {
        case .text(let payload): text = payload
        case .base64(let payload): base64 = payload
        }
        (text, base64) = (try optional("payload", text), try optional("payload_base64", base64))
        switch (text, base64) {
        case (let text?, nil): return .text(text)
        case (nil, let base64?):
            guard Base64.standard.isWellFormed(base64) else {
                throw FieldError(name: "payload_base64", problem: "is not base64 (RFC 4648 section 4, with padding)")
            }
            return .base64(base64)
        case (nil, nil): throw FieldError(name: "payload", problem: "or `payload_base64` is missing")
        case (_?, _?): throw FieldError(name: "payload", problem: "and `payload_base64` exclude each other; send one of them")
        }
    }
}

extension Speaker: Fields {
    static func coded(_ speaker: Speaker?, by fields: inout some FieldCoder) throws -> Speaker {
        try Speaker(
            participant: fields("participant", speaker?.participant), track: fields("track", speaker?.track),
            level: fields("level", speaker?.level), active: fields("active", speaker?.active))
    }
}

extension ConnectionStats: Fields {
    static func coded(_ stats: ConnectionStats?, by fields: inout some FieldCoder) throws -> ConnectionStats {
        try ConnectionStats(
            rttMs: fields("rtt_ms", stats?.rttMs), sent: fields("sent", stats?.sent), dropped: fields("dropped", stats?.dropped),
            lateP99Ms: fields("late_p99_ms", stats?.lateP99Ms))
    }
}
