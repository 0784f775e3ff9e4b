import Wire

/// Names in a token that has not been verified, for the log of refusals. Never used for a decision.
package struct ClaimedNames: Sendable, Hashable {
    /// `iss`.
    package let issuer: String?
    /// `sub`.
    package let identity: String?
    /// `video.room`.
    package let room: String?

    /// Longer tokens are not parsed, and longer names are omitted, in bytes.
    private static let nameBytesMax = 256

    /// Nil for a text that is not a token.
    package init?(token: String) {
        guard token.utf8.count <= TokenVerifier.tokenBytesMaxByDefault, let parts = try? CompactToken(token),
            let claims = try? ClaimsJSON.decode(Claims.self, from: parts.payload)
        else { return nil }
        func name(_ text: String?) -> String? { text.flatMap { 1...Self.nameBytesMax ~= $0.utf8.count ? $0 : nil } }
        issuer = name(claims.iss)
        identity = name(claims.sub)
        room = name(claims.video?.room)
    }

    private struct Claims: Decodable {
        struct Video: Decodable {
            var room: String?
        }

        var iss: String?
        var sub: String?
        var video: Video?
    }
}
