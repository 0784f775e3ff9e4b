/// What of a token's header (RFC 7515 section 4.1) is looked at. The algorithm is compared with the key's, never followed.
struct TokenHeader: Decodable {
    /// `alg`, case-sensitive by the RFC.
    let algorithm: String

    private enum CodingKeys: String, CodingKey {
        case algorithm = "alg"
        case type = "typ"
        case critical = "crit"
    }

    init(from decoder: any Decoder) throws {
        let header = try decoder.container(keyedBy: CodingKeys.self)
        algorithm = try header.decode(String.self, forKey: .algorithm)
        // libjwt refuses other types for RS256 and ES256. The same answer for HS256 keeps the issuers alike.
        if let type = try header.decodeIfPresent(String.self, forKey: .type), type.uppercased() != "JWT" { throw TokenError.malformed }
        // RFC 7515 section 4.1.11: extensions that must be understood, and none is.
        if header.contains(.critical) { throw TokenError.malformed }
    }
}

/// The issuer that a payload names, read before the signature is checked and used for nothing but finding the key.
struct ClaimedIssuer: Decodable {
    let issuer: String

    private enum CodingKeys: String, CodingKey {
        case issuer = "iss"
    }
}
