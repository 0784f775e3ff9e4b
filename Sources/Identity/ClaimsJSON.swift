import Wire

/// Reads the JSON of a token's header or payload.
///
/// The same bytes are read several times: for the algorithm, for the issuer before the signature is checked, for the claims after.
/// So they are first held to one meaning: a name that occurs twice could otherwise mean one thing to one reader and another to the next
/// (RFC 7515 section 4, RFC 7519 section 4).
enum ClaimsJSON {
    /// Objects and arrays inside each other. LiveKit's deepest claim needs five; a bomb of thousands would be paid in stack.
    static let depthMax = 32

    /// - Throws: `malformed` for anything but one unambiguous object whose members have the types that `Claims` wants, or the
    ///   `TokenError` that `Claims` throws.
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

    /// Whether every reader finds the same in `bytes`: an object, no name twice, no NUL.
    static func isUnambiguous(_ bytes: [UInt8]) -> Bool {
        // libjwt reads C strings: it would stop at a NUL and not see what follows.
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
