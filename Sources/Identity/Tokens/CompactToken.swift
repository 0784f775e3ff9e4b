import Wire

/// The parts of a token (RFC 7515 section 7.1, compact serialization), not yet verified.
struct CompactToken {
    /// The complete token: base64url characters and two dots.
    let text: String
    /// The signed part: header, dot and payload as received.
    let signedBytes: [UInt8]
    /// Decoded JSON.
    let header: [UInt8]
    /// Decoded JSON.
    let payload: [UInt8]
    let signature: [UInt8]

    /// - Throws: `malformed` unless there are exactly three non-empty base64url parts.
    init(_ text: String) throws(TokenError) {
        let bytes = Array(text.utf8)
        // Keep empty parts: omitting them would turn "a..b.c" into three parts.
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }),
            let header = Base64.urlSafe.decode(parts[0]), let payload = Base64.urlSafe.decode(parts[1]),
            let signature = Base64.urlSafe.decode(parts[2])
        else { throw .malformed }
        self.text = text
        self.signedBytes = Array(bytes[..<parts[1].endIndex])
        self.header = header
        self.payload = payload
        self.signature = signature
    }
}

/// The relevant part of a token's header (RFC 7515 section 4.1). The algorithm is compared with the key's and never followed.
struct TokenHeader: Decodable {
    /// `alg`, case-sensitive.
    let algorithm: String

    private enum CodingKeys: String, CodingKey {
        case algorithm = "alg"
        case type = "typ"
        case critical = "crit"
    }

    init(from decoder: any Decoder) throws {
        let header = try decoder.container(keyedBy: CodingKeys.self)
        algorithm = try header.decode(String.self, forKey: .algorithm)
        // libjwt rejects other types for RS256 and ES256; rejecting them for HS256 keeps the algorithms consistent.
        if let type = try header.decodeIfPresent(String.self, forKey: .type), type.uppercased() != "JWT" { throw TokenError.malformed }
        // Critical extensions must be understood (RFC 7515 section 4.1.11), and none is supported.
        if header.contains(.critical) { throw TokenError.malformed }
    }
}

/// The issuer in an unverified payload, used only to look up the key.
struct ClaimedIssuer: Decodable {
    let issuer: String

    private enum CodingKeys: String, CodingKey {
        case issuer = "iss"
    }
}

/// Decodes the JSON of a token's header or payload.
///
/// The same bytes are decoded several times: for the algorithm, for the issuer, and for the claims. They are therefore first checked to be
/// unambiguous: a repeated name could mean different things to different parsers (RFC 7515 section 4, RFC 7519 section 4).
enum ClaimsJSON {
    /// Maximum nesting. LiveKit's deepest claim needs five; libjwt's parser recurses, so input must be limited.
    static let depthMax = 32

    /// - Throws: `malformed` for anything but one unambiguous object with members of the types that `Claims` expects, or the `TokenError` that
    ///   `Claims` throws.
    static func decode<Claims: Decodable>(_ type: Claims.Type, from bytes: [UInt8]) throws(TokenError) -> Claims {
        guard isUnambiguous(bytes) else { throw .malformed }
        do {
            return try JSON.decode(type, from: bytes, names: .asDeclared)
        } catch let error as TokenError {
            throw error
        } catch {
            throw .malformed
        }
    }

    /// Whether all parsers agree about `bytes`: one object, no repeated names, no NUL.
    static func isUnambiguous(_ bytes: [UInt8]) -> Bool {
        // libjwt takes C strings and would ignore everything after a NUL.
        guard !bytes.contains(0), isShallow(bytes), let text = String(validating: bytes, as: UTF8.self),
            var reader = LibJWT()
        else { return false }
        return reader.add(claims: text)
    }

    private static func isShallow(_ bytes: [UInt8]) -> Bool {
        var depth = 0
        var isInText = false
        var isEscaped = false
        for byte in bytes {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = isInText
            } else if byte == UInt8(ascii: "\"") {
                isInText.toggle()
            } else if !isInText {
                if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { depth += 1 }
                if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { depth -= 1 }
                if depth > depthMax { return false }
            }
        }
        return true
    }
}

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
