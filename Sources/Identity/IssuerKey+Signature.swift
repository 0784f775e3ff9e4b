import CJWT
import COpenSSL

extension IssuerKey {
    /// Whether `token` was signed with this key. The caller has found that its header names this key's algorithm.
    func hasSigned(_ token: CompactToken) -> Bool {
        switch algorithm {
        case .hs256: hasSignedByHMAC(token)
        case .rs256: hasSignedByLibJWT(token, as: JWT_ALG_RS256)
        case .es256: hasSignedByLibJWT(token, as: JWT_ALG_ES256)
        }
    }

    /// Not `jwt_decode`: libjwt 1.10.2 compares HMACs with `strcmp`, whose time tells how much of a forged signature was right
    /// (CVE-2024-25189). Debian 12 has mended its build, others have not, and the version number is the same.
    private func hasSignedByHMAC(_ token: CompactToken) -> Bool {
        let expected = SHA2.hmac(of: token.signedBytes, key: material.revealedBytes)
        return areEqualInConstantTime(expected, token.signature)
    }

    /// Public keys hold no secret that a comparison's time could tell.
    private func hasSignedByLibJWT(_ token: CompactToken, as expected: jwt_alg_t) -> Bool {
        leavingErrorQueueAlone {
            guard let decoded = LibJWT(verifying: token.text, publicKey: material.revealedBytes) else { return false }
            // The header was compared already, by another JSON reader. Believe libjwt only if it read the same.
            return decoded.algorithm == expected
        }
    }
}
