/// Why a token was rejected.
///
/// All cases are failed authentications, HTTP 401. Missing permissions of a valid token are a `GrantError`, HTTP 403. Neither `code`, the raw
/// value, nor `message` contains any part of the token or of a key, so both may be sent and logged.
package enum TokenError: String, Error, Hashable, Sendable, CaseIterable {
    /// The request has no token.
    case missing = "missing_token"
    /// Longer than the verifier accepts. Checked before parsing.
    case tooLarge = "token_too_large"
    /// Not three base64url parts with JSON objects, or a claim of the wrong type.
    case malformed = "malformed_token"
    /// The key ring has no issuer named `iss`.
    case unknownIssuer = "unknown_issuer"
    /// The header's algorithm differs from the one pinned to the issuer's key.
    case wrongAlgorithm = "wrong_algorithm"
    case badSignature = "bad_signature"
    /// No `exp`: a token that never expires cannot be revoked.
    case noExpiry = "missing_expiry"
    case expired = "token_expired"
    case notYetValid = "token_not_yet_valid"
    /// `aud` names another service.
    case wrongAudience = "wrong_audience"
    /// The identity is missing where one is needed, or longer than 256 bytes.
    case badIdentity = "bad_identity"
    /// A room name is longer than 256 bytes.
    case badRoom = "bad_room"
}

extension TokenError {
    /// A stable name for programs.
    package var code: String { rawValue }

    /// One sentence for people.
    package var message: String {
        switch self {
        case .missing: "An access token is required."
        case .tooLarge: "The access token is too long."
        case .malformed: "The access token is not well formed."
        case .unknownIssuer: "The access token's issuer is unknown to this gateway. Check `iss` against the configured keys."
        case .wrongAlgorithm: "The access token is not signed with its issuer's configured algorithm."
        case .badSignature: "The access token's signature is wrong."
        case .noExpiry: "The access token has no expiry. Mint it with `exp`."
        case .expired: "The access token has expired. Request a new one."
        case .notYetValid: "The access token is not valid yet."
        case .wrongAudience: "The access token is meant for another service. Check `aud`."
        case .badIdentity: "The access token's identity is missing or longer than 256 bytes."
        case .badRoom: "The access token's room name is longer than 256 bytes."
        }
    }
}

extension TokenError: CustomStringConvertible {
    package var description: String { "\(code): \(message)" }
}
