/// What a token says of a user.
package struct UserClaims: Sendable, Hashable {
    package var issuer: String
    /// `sub`: who it is, in the issuer's words.
    package var subject: String
    package var email: String?
    /// Seconds since 1970.
    package var expires: Int64
}

/// What a user's token may hold besides what `AccessToken` reads.
struct AudienceClaims: Decodable {
    /// `aud`: one or several (RFC 7519 section 4.1.3).
    let audiences: [String]
    let email: String?

    private enum CodingKeys: String, CodingKey { case aud, email }

    init(from decoder: any Decoder) throws {
        let claims = try decoder.container(keyedBy: CodingKeys.self)
        email = try claims.decodeIfPresent(String.self, forKey: .email)
        if let one = try? claims.decodeIfPresent(String.self, forKey: .aud) {
            audiences = [one]
        } else {
            audiences = try claims.decodeIfPresent([String].self, forKey: .aud) ?? []
        }
    }
}
