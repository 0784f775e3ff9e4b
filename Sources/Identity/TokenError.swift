/// Why a token was not believed.
///
/// All of them are failed authentications, HTTP 401. What a believed token does not allow is a `GrantError`, 403.
/// Neither `code` nor `message` ever holds a part of the token or of a key, so both may be sent and logged.
package enum TokenError: Error, Hashable, Sendable, CaseIterable {
    /// No token at all.
    case missing
    /// Longer than the verifier reads. Decided before a byte is parsed.
    case tooLarge
    /// Not three base64url parts with JSON objects in them, or a claim of the wrong type.
    case malformed
    /// `iss` names no issuer of the key ring.
    case unknownIssuer
    /// The header names another algorithm than the issuer's key is pinned to.
    case wrongAlgorithm
    case badSignature
    /// No `exp`: a token that never ends can't be taken back.
    case noExpiry
    case expired
    case notYetValid
    /// It was made for somebody else: `aud`.
    case wrongAudience
    /// The identity is empty where one is needed, or over 256 bytes.
    case badIdentity
    /// A room's name is over 256 bytes.
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

    /// The HTTP status with which an upgrade or a request is refused.
    package var httpStatus: Int { 401 }

    /// One sentence for people.
    package var message: String {
        switch self {
        case .missing: "An access token is needed."
        case .tooLarge: "The access token is too long."
        case .malformed: "The access token is not well formed."
        case .unknownIssuer: "The access token was made by an issuer that this gateway does not know."
        case .wrongAlgorithm: "The access token is not signed with the algorithm that its issuer uses."
        case .badSignature: "The access token's signature is wrong."
        case .noExpiry: "The access token does not say when it expires."
        case .expired: "The access token has expired."
        case .notYetValid: "The access token is not valid yet."
        case .wrongAudience: "The access token was made for another service."
        case .badIdentity: "The access token's identity is empty or longer than 256 bytes."
        case .badRoom: "The access token names a room whose name is longer than 256 bytes."
        }
    }
}

extension TokenError: CustomStringConvertible {
    package var description: String { "\(code): \(message)" }
}
