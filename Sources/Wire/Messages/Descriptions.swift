/// A participant as other participants see it.
public struct ParticipantInfo: Sendable, Hashable, Codable {
    public var sid: ParticipantSID
    public var identity: Identity
    public var name: String
    public var kind: ParticipantKind
    public var metadata: String
    public var attributes: [String: String]
    public var permission: Permission
    /// Seconds since 1970.
    public var joinedAt: Int64
    /// Its published tracks; nil in messages that do not list them.
    public var tracks: [TrackInfo]?

    public init(
        sid: ParticipantSID, identity: Identity, name: String, kind: ParticipantKind, metadata: String, attributes: [String: String],
        permission: Permission, joinedAt: Int64, tracks: [TrackInfo]?
    ) {
        self.sid = sid
        self.identity = identity
        self.name = name
        self.kind = kind
        self.metadata = metadata
        self.attributes = attributes
        self.permission = permission
        self.joinedAt = joinedAt
        self.tracks = tracks
    }
}

extension ParticipantInfo: Fields {
    static func coded(_ info: ParticipantInfo?, by fields: inout some FieldCoder) throws -> ParticipantInfo {
        try ParticipantInfo(
            sid: fields("sid", info?.sid), identity: fields("identity", info?.identity), name: fields("name", info?.name),
            kind: fields("kind", info?.kind), metadata: fields("metadata", info?.metadata),
            attributes: fields("attributes", info?.attributes), permission: fields("permission", info?.permission),
            joinedAt: fields("joined_at", info?.joinedAt), tracks: fields.optional("tracks", info?.tracks))
    }
}

/// LiveKit's kinds of participant.
public enum ParticipantKind: String, Sendable, Codable, CaseIterable {
    case standard, ingress, egress, sip, agent, connector, bridge

    /// Whether a room counts as empty when only participants of this kind are left.
    public var isDependent: Bool { self == .agent || self == .egress }

    /// Whether it stands for somebody who talks: a user or an agent, not a recorder or an imported stream.
    package var converses: Bool { self != .egress && self != .ingress }
}

/// A participant's permissions, with LiveKit's defaults resolved.
public struct Permission: Sendable, Hashable, Codable {
    public var canPublish: Bool
    public var canSubscribe: Bool
    public var canPublishData: Bool
    /// Sources that may be published; empty allows all.
    public var canPublishSources: [String]
    public var canUpdateMetadata: Bool
    public var hidden: Bool

    public init(
        canPublish: Bool = true, canSubscribe: Bool = true, canPublishData: Bool = true, canPublishSources: [String] = [],
        canUpdateMetadata: Bool = false, hidden: Bool = false
    ) {
        self.canPublish = canPublish
        self.canSubscribe = canSubscribe
        self.canPublishData = canPublishData
        self.canPublishSources = canPublishSources
        self.canUpdateMetadata = canUpdateMetadata
        self.hidden = hidden
    }
}

extension Permission: Fields {
    static func coded(_ permission: Permission?, by fields: inout some FieldCoder) throws -> Permission {
        try Permission(
            canPublish: fields("can_publish", permission?.canPublish), canSubscribe: fields("can_subscribe", permission?.canSubscribe),
            canPublishData: fields("can_publish_data", permission?.canPublishData),
            canPublishSources: fields("can_publish_sources", permission?.canPublishSources),
            canUpdateMetadata: fields("can_update_metadata", permission?.canUpdateMetadata), hidden: fields("hidden", permission?.hidden))
    }
}

/// A published track as other participants see it.
public struct TrackInfo: Sendable, Hashable, Codable {
    public var sid: TrackSID
    public var alias: TrackAlias
    /// The publisher.
    public var participant: Identity
    public var name: String
    public var source: TrackSource
    public var codec: String
    public var mode: TrackMode
    public var muted: Bool
    public var frameMs: Double
    public var dtx: Bool
    public var fec: Bool
    public var channels: Int
    public var epoch: UInt8
}

extension TrackInfo {
    public init(sid: TrackSID, alias: TrackAlias, participant: Identity, description: PublishTrack, muted: Bool = false, epoch: UInt8 = 0) {
        self.init(
            sid: sid, alias: alias, participant: participant, name: description.name, source: description.source,
            codec: description.codec, mode: description.mode, muted: muted, frameMs: description.frameMs, dtx: description.dtx,
            fec: description.fec, channels: description.channels, epoch: epoch)
    }
}

extension TrackInfo: Fields {
    static func coded(_ track: TrackInfo?, by fields: inout some FieldCoder) throws -> TrackInfo {
        try TrackInfo(
            sid: fields("sid", track?.sid), alias: fields("alias", track?.alias), participant: fields("participant", track?.participant),
            name: fields("name", track?.name), source: fields("source", track?.source), codec: fields("codec", track?.codec),
            mode: fields("mode", track?.mode), muted: fields("muted", track?.muted), frameMs: fields("frame_ms", track?.frameMs),
            dtx: fields("dtx", track?.dtx), fec: fields("fec", track?.fec), channels: fields("channels", track?.channels),
            epoch: fields("epoch", track?.epoch))
    }
}

/// A room as its participants see it.
public struct RoomInfo: Sendable, Hashable, Codable {
    public var sid: RoomSID
    public var name: String
    public var metadata: String
    /// Seconds since 1970.
    public var createdAt: Int64
    /// 0 means no limit.
    public var maxParticipants: Int

    public init(sid: RoomSID, name: String, metadata: String, createdAt: Int64, maxParticipants: Int) {
        self.sid = sid
        self.name = name
        self.metadata = metadata
        self.createdAt = createdAt
        self.maxParticipants = maxParticipants
    }
}

extension RoomInfo: Fields {
    static func coded(_ room: RoomInfo?, by fields: inout some FieldCoder) throws -> RoomInfo {
        try RoomInfo(
            sid: fields("sid", room?.sid), name: fields("name", room?.name), metadata: fields("metadata", room?.metadata),
            createdAt: fields("created_at", room?.createdAt), maxParticipants: fields("max_participants", room?.maxParticipants))
    }
}

/// One segment of a live transcript, replaced by revisions until it is final (docs/protocol/transcripts.md).
public struct TranscriptSegment: Sendable, Hashable, Decodable {
    /// Unique within the room.
    public var id: String
    /// A higher revision replaces the older segment with the same `id`.
    public var rev: Int
    public var role: TranscriptRole
    /// The speaker. Defaults to the sender.
    public var participant: Identity?
    public var track: TrackSID?
    public var text: String
    public var final: Bool
    /// BCP 47 tag, empty if unknown.
    public var language: String
    /// On the track's 48 kHz clock.
    public var startTs: UInt32?
    public var endTs: UInt32?
    public var words: [TranscriptWord]?
    public var spoken: SpokenState?
    /// How many characters (Unicode scalars) of `text` were played.
    public var spokenChars: Int?

    public init(
        id: String, rev: Int = 0, role: TranscriptRole, participant: Identity? = nil, track: TrackSID? = nil, text: String,
        final: Bool = false, language: String = "", startTs: UInt32? = nil, endTs: UInt32? = nil, words: [TranscriptWord]? = nil,
        spoken: SpokenState? = nil, spokenChars: Int? = nil
    ) {
        self.id = id
        self.rev = rev
        self.role = role
        self.participant = participant
        self.track = track
        self.text = text
        self.final = final
        self.language = language
        self.startTs = startTs
        self.endTs = endTs
        self.words = words
        self.spoken = spoken
        self.spokenChars = spokenChars
    }
}

extension TranscriptSegment: Fields {
    static func coded(_ segment: TranscriptSegment?, by fields: inout some FieldCoder) throws -> TranscriptSegment {
        try TranscriptSegment(
            id: fields("id", segment?.id), rev: fields("rev", segment?.rev, default: 0), role: fields("role", segment?.role),
            participant: fields.optional("participant", segment?.participant), track: fields.optional("track", segment?.track),
            text: fields("text", segment?.text), final: fields("final", segment?.final, default: false),
            language: fields("language", segment?.language, default: ""), startTs: fields.optional("start_ts", segment?.startTs),
            endTs: fields.optional("end_ts", segment?.endTs), words: fields.optional("words", segment?.words),
            spoken: fields.optional("spoken", segment?.spoken), spokenChars: fields.optional("spoken_chars", segment?.spokenChars))
    }
}

public enum TranscriptRole: String, Sendable, Decodable, CaseIterable {
    case user, assistant
}

/// How much of a segment was played.
public enum SpokenState: String, Sendable, Decodable, CaseIterable {
    case new
    case inProgress = "in_progress"
    case completed, interrupted
}

public struct TranscriptWord: Sendable, Hashable, Decodable {
    public var text: String
    public var startTs: UInt32
    public var endTs: UInt32
    /// 0 to 1, if the recognizer provides it.
    public var confidence: Double?

    public init(text: String, startTs: UInt32, endTs: UInt32, confidence: Double? = nil) {
        self.text = text
        self.startTs = startTs
        self.endTs = endTs
        self.confidence = confidence
    }
}

extension TranscriptWord: Fields {
    static func coded(_ word: TranscriptWord?, by fields: inout some FieldCoder) throws -> TranscriptWord {
        try TranscriptWord(
            text: fields("text", word?.text), startTs: fields("start_ts", word?.startTs), endTs: fields("end_ts", word?.endTs),
            confidence: fields.optional("confidence", word?.confidence))
    }
}

/// The same members as in messages, within other documents. `JSON.decode` reads them with names in snake case.
extension JSONOutput {
    package mutating func write(_ room: RoomInfo) { room.write(to: &self) }
    package mutating func write(_ permission: Permission) { permission.write(to: &self) }
    package mutating func write(_ track: TrackInfo) { track.write(to: &self) }
    package mutating func write(_ speaker: Speaker) { speaker.write(to: &self) }
    package mutating func write(_ segment: TranscriptSegment) { segment.write(to: &self) }
}
