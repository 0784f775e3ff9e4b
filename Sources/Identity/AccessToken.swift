package import Wire

/// The claims of a LiveKit access token, plus `session_id`, which binds it to one session.
///
/// One that came from `TokenVerifier` has been checked; one built by hand is what `TokenMinter` signs.
/// Times are wall-clock seconds since 1970 (RFC 7519 section 2, NumericDate).
package struct AccessToken: Sendable, Hashable {
    /// `iss`: whose key signed it.
    package var issuer: String
    /// `sub`, or `jti` when `sub` is empty, as LiveKit has it: at most 256 bytes.
    ///
    /// Empty only in a service token, which a backend uses for the server API: it has a `video` grant without `roomJoin` and
    /// belongs to no user. Whatever acts for a user asks `user` instead.
    package var identity: String
    /// `nbf`; nil means valid from ever.
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
    /// `patchbay.text`: whether it may be sent what people read. A car's screen may not.
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

    /// The user for whom the token speaks; nil for a service token.
    package var user: String? { identity.isEmpty ? nil : identity }
}
