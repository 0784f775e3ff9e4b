package import Wire

/// The claims of a LiveKit access token, plus `session_id`, which binds it to one session.
///
/// `TokenVerifier` returns verified values; values built by hand are input for `TokenMinter`. Times are wall-clock seconds since 1970
/// (NumericDate, RFC 7519 section 2).
package struct AccessToken: Sendable, Hashable {
    /// `iss`: the issuer whose key signed the token.
    package var issuer: String
    /// `sub`, or `jti` if `sub` is empty, as in LiveKit: at most 256 bytes.
    ///
    /// Empty only in service tokens, which backends use for the server API: those have a `video` grant without `roomJoin` and belong to no user.
    /// Code that acts for a user reads `user` instead.
    package var identity: String
    /// `nbf`; nil if the token has no start time.
    package var notBefore: Int64?
    /// `exp`.
    package var expires: Int64
    /// The display name.
    package var name: String
    /// Opaque to the gateway.
    package var metadata: String
    package var attributes: [String: String]
    package var kind: ParticipantKind
    package var video: VideoGrant?
    /// `session_id`.
    package var sessionID: String?
    /// `patchbay.text`: whether the participant receives text for people. False for screens in cars.
    package var receivesText: Bool
    /// `roomConfig`.
    package var roomSettings: TokenRoomSettings?

    package init(
        issuer: String = "", identity: String, notBefore: Int64? = nil, expires: Int64, name: String = "", metadata: String = "",
        attributes: [String: String] = [:], kind: ParticipantKind = .standard, video: VideoGrant? = nil, sessionID: String? = nil,
        receivesText: Bool = true, roomSettings: TokenRoomSettings? = nil
    ) {
        self.issuer = issuer
        self.identity = identity
        self.notBefore = notBefore
        self.expires = expires
        self.name = name
        self.metadata = metadata
        self.attributes = attributes
        self.kind = kind
        self.video = video
        self.sessionID = sessionID
        self.receivesText = receivesText
        self.roomSettings = roomSettings
    }

    /// The user the token speaks for; nil for a service token.
    package var user: String? { identity.isEmpty ? nil : identity }
}

/// JSON coding. A claim of the wrong type is an error, an absent or null one has its default, and unknown ones, `aud`, `iat` and `roomPreset`
/// are ignored.
extension AccessToken: Codable {
    private enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case subject = "sub"
        case tokenID = "jti"
        case notBefore = "nbf"
        case expires = "exp"
        case name, metadata, attributes, kind, video
        case sessionID = "session_id"
        case roomSettings = "roomConfig"
        case own = "patchbay"
    }

    /// Claims that LiveKit does not have.
    private struct OwnClaims: Codable {
        var text: Bool?
    }

    /// - Throws: `TokenError.noExpiry`, or a `DecodingError`.
    package init(from decoder: any Decoder) throws {
        let claims = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String { try claims.decodeIfPresent(String.self, forKey: key) ?? "" }
        issuer = try claims.decode(String.self, forKey: .issuer)
        let subject = try text(.subject)
        let tokenID = try text(.tokenID)
        identity = subject.isEmpty ? tokenID : subject
        notBefore = try claims.decodeIfPresent(NumericDate.self, forKey: .notBefore)?.seconds
        guard let end = try claims.decodeIfPresent(NumericDate.self, forKey: .expires) else { throw TokenError.noExpiry }
        expires = end.seconds
        name = try text(.name)
        metadata = try text(.metadata)
        attributes = try claims.decodeIfPresent([String: String].self, forKey: .attributes) ?? [:]
        // Kinds unknown to this version become `standard`, as in LiveKit's server.
        kind = ParticipantKind(rawValue: try text(.kind)) ?? .standard
        video = try claims.decodeIfPresent(VideoGrant.self, forKey: .video)
        sessionID = try claims.decodeIfPresent(String.self, forKey: .sessionID)
        receivesText = try claims.decodeIfPresent(OwnClaims.self, forKey: .own)?.text ?? true
        roomSettings = try claims.decodeIfPresent(TokenRoomSettings.self, forKey: .roomSettings)
    }

    /// Omits empty name, metadata and attributes. Always writes `sub`: LiveKit's SDKs write `""` in service tokens.
    package func encode(to encoder: any Encoder) throws {
        var claims = encoder.container(keyedBy: CodingKeys.self)
        try claims.encode(issuer, forKey: .issuer)
        try claims.encode(identity, forKey: .subject)
        try claims.encodeIfPresent(notBefore, forKey: .notBefore)
        try claims.encode(expires, forKey: .expires)
        if !name.isEmpty { try claims.encode(name, forKey: .name) }
        if !metadata.isEmpty { try claims.encode(metadata, forKey: .metadata) }
        if !attributes.isEmpty { try claims.encode(attributes, forKey: .attributes) }
        try claims.encode(kind.rawValue, forKey: .kind)
        try claims.encodeIfPresent(video, forKey: .video)
        try claims.encodeIfPresent(sessionID, forKey: .sessionID)
        if !receivesText { try claims.encode(OwnClaims(text: false), forKey: .own) }
        try claims.encodeIfPresent(roomSettings, forKey: .roomSettings)
    }
}

extension AccessToken {
    /// Tolerated clock difference in seconds: LiveKit's leeway for `exp` and `nbf`.
    package static let leewaySeconds: Int64 = 60

    /// - Parameter now: wall-clock seconds since 1970, any value.
    func checkTimes(now: Int64) throws(TokenError) {
        // Wider integers: an extreme clock or claim must not trap.
        let (now, leeway) = (Int128(now), Int128(Self.leewaySeconds))
        if Int128(expires) < now - leeway { throw .expired }
        if let notBefore, Int128(notBefore) > now + leeway { throw .notYetValid }
    }

    /// Validates lengths, and that an identity is present where one is needed.
    func checkNames() throws(TokenError) {
        guard identity.utf8.count <= ProtocolLimits.identityBytesMax else { throw .badIdentity }
        guard !identity.isEmpty || isForServices else { throw .badIdentity }
        guard let video else { return }
        guard video.room.utf8.count <= ProtocolLimits.roomNameBytesMax,
            video.destinationRoom.utf8.count <= ProtocolLimits.roomNameBytesMax
        else { throw .badRoom }
    }

    /// LiveKit's SDKs sign server API calls with an empty `sub`. Such a token must not act for a user.
    private var isForServices: Bool {
        guard let video else { return false }
        return !video.roomJoin && sessionID == nil
    }
}

/// Whole seconds since 1970 (RFC 7519 section 2).
///
/// The RFC allows fractions, but no LiveKit SDK writes them, so they are rejected. Numbers beyond ±(2^53 - 1) are rejected because JSON
/// parsers disagree about them (RFC 8259 section 6).
struct NumericDate: Decodable {
    static let secondsMax: Int64 = 9_007_199_254_740_991

    let seconds: Int64

    init(from decoder: any Decoder) throws {
        let number = try decoder.singleValueContainer().decode(Int64.self)
        guard number.magnitude <= Self.secondsMax.magnitude else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "the date is out of range"))
        }
        seconds = number
    }
}
