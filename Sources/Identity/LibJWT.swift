import CJWT
import Glibc

/// One `jwt_t` and its only owner: what libjwt is used for here, and no more.
///
/// libjwt 1.10 must be handled with care, and the callers do:
/// * `jwt_decode` takes the algorithm from the token's own header, so a token signed HS256 with an RS256 key's public PEM as the secret
///   decodes without error; only `algorithm` tells.
/// * With an empty key it checks no signature at all.
/// * Its base64 reader accepts garbage, its JSON reader repeated names, and both use the stack, by the length of the token.
@safe
struct LibJWT: ~Copyable {
    private let handle: OpaquePointer

    /// An empty token, to be filled and signed.
    init?() {
        var handle: OpaquePointer?
        guard unsafe jwt_new(&handle) == 0, let made = unsafe handle else { return nil }
        unsafe self.handle = made
    }

    /// A token whose signature is right for the algorithm that its header names; nil if it is wrong or anything else is.
    ///
    /// - Parameters:
    ///   - token: base64url characters and two dots, at most a few KiB.
    ///   - publicKey: PEM, not empty.
    init?(verifying token: String, publicKey: [UInt8]) {
        precondition(!publicKey.isEmpty, "libjwt checks no signature if the key is empty")
        var handle: OpaquePointer?
        guard unsafe jwt_decode(&handle, token, publicKey, Int32(publicKey.count)) == 0, let decoded = unsafe handle else { return nil }
        unsafe self.handle = decoded
    }

    deinit {
        unsafe jwt_free(handle)
    }

    /// The algorithm that the header names. libjwt reads it without regard to case.
    var algorithm: jwt_alg_t { unsafe jwt_get_alg(handle) }

    /// Adds the members of the JSON object `json` to the claims.
    ///
    /// - Returns: whether it is one object in UTF-8 without repeated names, NUL characters, lone surrogates and numbers that fit
    ///   neither 64-bit integers nor doubles.
    mutating func add(claims json: String) -> Bool {
        unsafe jwt_add_grants_json(handle, json) == 0
    }

    /// The token in compact form, signed HS256.
    mutating func signed(secret: [UInt8]) -> String? {
        guard unsafe jwt_set_alg(handle, JWT_ALG_HS256, secret, Int32(secret.count)) == 0,
            let text = unsafe jwt_encode_str(handle)
        else { return nil }
        // libjwt allocates the text with malloc and leaves it to us.
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}
