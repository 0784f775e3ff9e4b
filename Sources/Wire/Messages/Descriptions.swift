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

    public init(sid: TrackSID, alias: TrackAlias, participant: Identity, description: PublishTrack, muted: Bool = false, epoch: UInt8 = 0) {
        self.sid = sid
        self.alias = alias
        self.participant = participant
        self.name = description.name
        self.source = description.source
        self.codec = description.codec
        self.mode = description.mode
        self.muted = muted
        self.frameMs = description.frameMs
        self.dtx = description.dtx
        self.fec = description.fec
        self.channels = description.channels
        self.epoch = epoch
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

/// One segment of a live transcript, replaced by revisions until it is final (PROTOCOL, "Transcripts").
public struct TranscriptSegment: Sendable, Hashable, Codable {
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

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try fields.decode(String.self, forKey: .id),
            rev: try fields.decodeIfPresent(Int.self, forKey: .rev) ?? 0,
            role: try fields.decode(TranscriptRole.self, forKey: .role),
            participant: try fields.decodeIfPresent(Identity.self, forKey: .participant),
            track: try fields.decodeIfPresent(TrackSID.self, forKey: .track),
            text: try fields.decode(String.self, forKey: .text),
            final: try fields.decodeIfPresent(Bool.self, forKey: .final) ?? false,
            language: try fields.decodeIfPresent(String.self, forKey: .language) ?? "",
            startTs: try fields.decodeIfPresent(UInt32.self, forKey: .startTs),
            endTs: try fields.decodeIfPresent(UInt32.self, forKey: .endTs),
            words: try fields.decodeIfPresent([TranscriptWord].self, forKey: .words),
            spoken: try fields.decodeIfPresent(SpokenState.self, forKey: .spoken),
            spokenChars: try fields.decodeIfPresent(Int.self, forKey: .spokenChars))
    }
}

public enum TranscriptRole: String, Sendable, Codable, CaseIterable {
    case user, assistant
}

/// How much of a segment was played.
public enum SpokenState: String, Sendable, Codable, CaseIterable {
    case new
    case inProgress = "in_progress"
    case completed, interrupted
}

public struct TranscriptWord: Sendable, Hashable, Codable {
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
