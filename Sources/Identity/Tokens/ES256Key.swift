import COpenSSL
import Wire

/// A private key on the curve P-256 that signs with ES256 (RFC 7518 section 3.4), for services that demand such tokens.
///
/// Keeps the PEM text and parses it for each signature: tokens are signed rarely.
package struct ES256Key: Sendable {
    private let pem: SecretText

    /// Nil for anything but an unencrypted private key on P-256 in PEM.
    package init?(pem: SecretText) {
        let isUsable = preservingErrorQueue { PrivateKey(pem: pem.revealedBytes)?.isOnP256 ?? false }
        guard isUsable else { return nil }
        self.pem = pem
    }

    /// The signature: `r` and `s`, 32 bytes each.
    ///
    /// - Returns: nil if OpenSSL fails, for example without memory.
    package func signature(of message: [UInt8]) -> [UInt8]? {
        preservingErrorQueue { PrivateKey(pem: pem.revealedBytes)?.signature(of: message).flatMap(Self.plain) }
    }

    /// A JSON Web Token as Apple's services take it (Apple, "Establishing a token-based connection to APNs").
    ///
    /// - Parameters:
    ///   - id: the key's identifier at the service.
    ///   - team: the issuer.
    ///   - now: seconds since 1970.
    package func providerToken(id: String, team: String, now: Int64) -> String? {
        struct Header: Encodable {
            let alg = "ES256"
            let kid: String
        }
        struct Claims: Encodable {
            let iss: String
            let iat: Int64
        }
        guard let header = try? JSON.encode(Header(kid: id), names: .asDeclared),
            let claims = try? JSON.encode(Claims(iss: team, iat: now), names: .asDeclared)
        else { return nil }
        let signed = Base64.urlSafe.encode(header) + "." + Base64.urlSafe.encode(claims)
        return signature(of: Array(signed.utf8)).map { signed + "." + Base64.urlSafe.encode($0) }
    }

    /// Converts OpenSSL's form, a DER sequence of two integers (X.690 section 8), to that of RFC 7518.
    private static func plain(_ der: [UInt8]) -> [UInt8]? {
        // 72 bytes at most, so that each length has one byte.
        var rest = der[...]
        func value(tagged tag: UInt8) -> ArraySlice<UInt8>? {
            guard rest.count >= 2, rest.popFirst() == tag, let count = rest.popFirst(), count < 0x80, rest.count >= Int(count) else {
                return nil
            }
            defer { rest = rest.dropFirst(Int(count)) }
            return rest.prefix(Int(count))
        }
        guard let sequence = value(tagged: 0x30), rest.isEmpty else { return nil }
        rest = sequence
        guard let r = value(tagged: 0x02)?.drop(while: { $0 == 0 }), let s = value(tagged: 0x02)?.drop(while: { $0 == 0 }),
            r.count <= 32, s.count <= 32
        else { return nil }
        return [r, s].flatMap { [UInt8](repeating: 0, count: 32 - $0.count) + $0 }
    }
}

/// Owns an `EVP_PKEY`.
@safe
private struct PrivateKey: ~Copyable {
    private let key: OpaquePointer

    init?(pem bytes: [UInt8]) {
        // The memory BIO reads the bytes in place, so they must outlive it.
        let key = unsafe bytes.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { unsafe BIO_free(source) }
            // PEM can be encrypted, and OpenSSL would then prompt on the terminal. The callback reports that there is no passphrase.
            return unsafe PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key = unsafe key else { return nil }
        unsafe self.key = key
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    var isOnP256: Bool {
        guard unsafe EVP_PKEY_get_id(key) == EVP_PKEY_EC else { return false }
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
        return name.prefix(length).map { UInt8(bitPattern: $0) } == Array("prime256v1".utf8)
    }

    /// In DER.
    func signature(of message: [UInt8]) -> [UInt8]? {
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer { unsafe EVP_MD_CTX_free(context) }
        var count = 0
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, nil, &count, message, message.count) == 1
        else { return nil }
        var signature = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else { return nil }
        return Array(signature.prefix(count))
    }
}
