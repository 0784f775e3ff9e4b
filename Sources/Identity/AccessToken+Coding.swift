import Wire

/// The claims as JSON. A claim of the wrong type is an error; an absent or null one has its default; unknown ones are ignored, and so
/// are `aud`, `iat` and `roomPreset`.
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

    /// What only Patchbay knows.
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
        // A kind of a newer LiveKit is taken for a plain participant, as LiveKit's server does.
        kind = ParticipantKind(rawValue: try text(.kind)) ?? .standard
        video = try claims.decodeIfPresent(VideoGrant.self, forKey: .video)
        sessionID = try claims.decodeIfPresent(String.self, forKey: .sessionID)
        receivesText = try claims.decodeIfPresent(OwnClaims.self, forKey: .own)?.text ?? true
        roomSettings = try claims.decodeIfPresent(TokenRoomSettings.self, forKey: .roomSettings)
    }

    /// Writes no empty name, metadata or attributes. `sub` is always there: LiveKit's SDKs write `""` in a service token.
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
