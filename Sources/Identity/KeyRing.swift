/// Whose tokens are believed: the issuers by id, each with one key and one pinned algorithm.
package struct KeyRing: Sendable {
    /// RFC 7518 section 3.2: an HS256 secret should be as long as the hash, in bytes.
    package static let secretBytesAdvised = 32

    /// What an operator should mend though it works: sentences without secrets, in the order of the configuration.
    package let warnings: [String]
    /// What the gateway signs its own tokens with: the first HS256 key of the configuration; nil if there is none.
    package let signer: IssuerKey?
    private let keys: [String: IssuerKey]

    /// - Throws: the first thing that is wrong, in the order of `issuers`. No issuers at all is not wrong: nobody gets in.
    package init(_ issuers: [IssuerSettings]) throws(KeyError) {
        var keys: [String: IssuerKey] = [:]
        var warnings: [String] = []
        var signer: IssuerKey?
        for settings in issuers {
            let key = try IssuerKey(settings)
            guard keys.updateValue(key, forKey: key.issuer) == nil else { throw .duplicateIssuer(key.issuer) }
            guard key.algorithm == .hs256 else { continue }
            signer = signer ?? key
            if key.material.byteCount < Self.secretBytesAdvised {
                warnings.append("The secret of the issuer \"\(key.issuer)\" is shorter than \(Self.secretBytesAdvised) bytes.")
            }
        }
        self.keys = keys
        self.warnings = warnings
        self.signer = signer
    }

    /// The key of `issuer`, nil if it is not known.
    package func key(of issuer: String) -> IssuerKey? {
        keys[issuer]
    }
}
