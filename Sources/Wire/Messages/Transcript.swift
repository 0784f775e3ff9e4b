/// One piece of live transcript, replaced by revisions until it is final (PROTOCOL section 6).
public struct TranscriptSegment: Sendable, Hashable, Codable {
    /// Unique within the room.
    public var id: String
    /// A segment with a known `id` and a higher `rev` replaces the older one.
    public var rev: Int
    public var role: TranscriptRole
    /// Who spoke. A client may leave it out: it is then the sender itself.
    public var participant: Identity?
    public var track: TrackSID?
    public var text: String
    public var final: Bool
    /// BCP 47, empty if unknown.
    public var language: String
    /// On the track's own 48 kHz clock.
    public var startTs: UInt32?
    public var endTs: UInt32?
    public var words: [TranscriptWord]?
    public var spoken: SpokenState?
    /// How many characters (Unicode scalars) of `text` were heard.
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

/// How much of a segment was heard.
public enum SpokenState: String, Sendable, Codable, CaseIterable {
    case new
    case inProgress = "in_progress"
    case completed, interrupted
}

public struct TranscriptWord: Sendable, Hashable, Codable {
    public var text: String
    public var startTs: UInt32
    public var endTs: UInt32
    /// 0…1, if the recogniser tells.
    public var confidence: Double?

    public init(text: String, startTs: UInt32, endTs: UInt32, confidence: Double? = nil) {
        self.text = text
        self.startTs = startTs
        self.endTs = endTs
        self.confidence = confidence
    }
}
