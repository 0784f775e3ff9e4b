import CJWT
import Glibc

/// Owns a `jwt_t` of libjwt.
///
/// Known pitfalls of libjwt 1.10 that callers must avoid:
/// * `jwt_decode` takes the algorithm from the token's own header, so a token signed HS256 with an RS256 key's public PEM as the secret decodes
///   without error; only `algorithm` reveals it.
/// * With an empty key it does not check the signature.
/// * Its base64 decoder accepts garbage, its JSON parser accepts repeated names, and both use stack in proportion to the token's length.
@safe
struct LibJWT: ~Copyable {
    private let handle: OpaquePointer

    /// An empty token, to be filled and signed.
    init?() {
        var handle: OpaquePointer?
        guard unsafe jwt_new(&handle) == 0, let made = unsafe handle else { return nil }
        unsafe self.handle = made
    }

    /// Decodes a token and checks its signature with the algorithm that its header names. Nil if anything is invalid.
    ///
    /// - Parameters:
    ///   - token: base64url characters and two dots, at most a few KiB.
    ///   - publicKey: PEM, not empty.
    init?(verifying token: String, publicKey: [UInt8]) {
        precondition(!publicKey.isEmpty, "libjwt does not check signatures if the key is empty")
        var handle: OpaquePointer?
        guard unsafe jwt_decode(&handle, token, publicKey, Int32(publicKey.count)) == 0, let decoded = unsafe handle else { return nil }
        unsafe self.handle = decoded
    }

    deinit {
        unsafe jwt_free(handle)
    }

    /// The algorithm that the header names. libjwt ignores its case.
    var algorithm: jwt_alg_t { unsafe jwt_get_alg(handle) }

    /// Adds the members of the JSON object `json` to the claims.
    ///
    /// - Returns: whether `json` is one object in UTF-8 without repeated names, NUL characters, lone surrogates and numbers that fit neither
    ///   64-bit integers nor doubles.
    mutating func add(claims json: String) -> Bool {
        unsafe jwt_add_grants_json(handle, json) == 0
    }

    /// The token in compact form, signed with HS256.
    mutating func signed(secret: [UInt8]) -> String? {
        guard unsafe jwt_set_alg(handle, JWT_ALG_HS256, secret, Int32(secret.count)) == 0,
            let text = unsafe jwt_encode_str(handle)
        else { return nil }
        // libjwt allocates the text with malloc; the caller frees it.
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}
