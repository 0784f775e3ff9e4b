/// Why a token was rejected.
///
/// All cases are failed authentications, HTTP 401. Missing permissions of a valid token are a `GrantError`, HTTP 403. Neither `code` nor
/// `message` contains any part of the token or of a key, so both may be sent and logged.
package enum TokenError: Error, Hashable, Sendable, CaseIterable {
    /// The request has no token.
    case missing
    /// Longer than the verifier accepts. Checked before parsing.
    case tooLarge
    /// Not three base64url parts with JSON objects, or a claim of the wrong type.
    case malformed
    /// The key ring has no issuer named `iss`.
    case unknownIssuer
    /// The header's algorithm differs from the one pinned to the issuer's key.
    case wrongAlgorithm
    case badSignature
    /// No `exp`: a token that never expires cannot be revoked.
    case noExpiry
    case expired
    case notYetValid
    /// `aud` names another service.
    case wrongAudience
    /// The identity is missing where one is needed, or longer than 256 bytes.
    case badIdentity
    /// A room name is longer than 256 bytes.
    case badRoom
}

extension TokenError {
    /// A stable name for programs.
    package var code: String {
        switch self {
        case .missing: "missing_token"
        case .tooLarge: "token_too_large"
        case .malformed: "malformed_token"
        case .unknownIssuer: "unknown_issuer"
        case .wrongAlgorithm: "wrong_algorithm"
        case .badSignature: "bad_signature"
        case .noExpiry: "missing_expiry"
        case .expired: "token_expired"
        case .notYetValid: "token_not_yet_valid"
        case .wrongAudience: "wrong_audience"
        case .badIdentity: "bad_identity"
        case .badRoom: "bad_room"
        }
    }

    /// HTTP status of the response.
    package var httpStatus: Int { 401 }

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
