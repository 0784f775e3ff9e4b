import COpenSSL
import Identity
import Testing

@Suite("KeyRing")
struct KeyRingTests {
    private static func ring(_ algorithm: KeyAlgorithm, _ key: String, issuer: String = "i") throws(KeyError) -> KeyRing {
        try KeyRing([IssuerSettings(issuer: issuer, algorithm: algorithm, key: SecretText(key))])
    }

    @Test("finds an issuer's key and no other")
    func lookup() throws {
        #expect(Issuers.keys.key(of: Issuers.rs)?.algorithm == .rs256)
        #expect(Issuers.keys.key(of: Issuers.es)?.algorithm == .es256)
        #expect(Issuers.keys.key(of: Issuers.hs)?.algorithm == .hs256)
        #expect(Issuers.keys.key(of: "other") == nil)
        #expect(try KeyRing([]).key(of: "") == nil)
    }

    @Test("signs with the first secret of the configuration")
    func signer() throws {
        #expect(Issuers.keys.signer?.issuer == Issuers.hs)
        #expect(try Self.ring(.rs256, Issuers.rsa.publicPEM).signer == nil)
    }

    @Test("warns of a short secret and takes it", arguments: [("secret", 1), (String(repeating: "s", count: 31), 1), (Issuers.secret, 0)])
    func shortSecret(_ secret: String, _ warnings: Int) throws {
        let ring = try Self.ring(.hs256, secret)
        #expect(ring.warnings.count == warnings)
        #expect(ring.warnings.allSatisfy { !$0.contains("\"secret\"") && $0.contains("\"i\"") })
    }

    @Test("rejects weak keys")
    func refusals() {
        let stories: [(KeyAlgorithm, String, KeyError)] = [
            (.hs256, "", .emptySecret(issuer: "i")),
            (.hs256, Issuers.rsa.publicPEM, .pemAsSecret(issuer: "i")),
            (.rs256, "", .unreadablePublicKey(issuer: "i")),
            (.rs256, "not PEM", .unreadablePublicKey(issuer: "i")),
            (.rs256, String(Issuers.rsa.publicPEM.dropLast(40)), .unreadablePublicKey(issuer: "i")),
            (.rs256, KeyPair.rsa(bits: 1_024).publicPEM, .shortKey(issuer: "i", bits: 1_024)),
            (.rs256, Issuers.curve.publicPEM, .wrongKeyType(issuer: "i", algorithm: .rs256)),
            (.rs256, KeyPair.rsa(bits: 2_048, type: EVP_PKEY_RSA_PSS).publicPEM, .wrongKeyType(issuer: "i", algorithm: .rs256)),
            (.es256, Issuers.rsa.publicPEM, .wrongKeyType(issuer: "i", algorithm: .es256)),
            (.es256, Issuers.widerCurve.publicPEM, .wrongKeyType(issuer: "i", algorithm: .es256)),
            (.es256, KeyPair.curve(NID_secp256k1).publicPEM, .wrongKeyType(issuer: "i", algorithm: .es256)),
            (.es256, KeyPair.ed25519().publicPEM, .wrongKeyType(issuer: "i", algorithm: .es256)),
            (.rs256, Issuers.rsa.privatePEM, .privateKey(issuer: "i")),
            (.es256, Issuers.curve.privatePEM, .privateKey(issuer: "i")),
        ]
        for (algorithm, key, error) in stories {
            #expect(throws: error, "\(algorithm)") { try Self.ring(algorithm, key) }
            #expect("\(error)".hasSuffix("."))
        }
    }

    @Test("wants each issuer once and with a name")
    func issuers() {
        #expect(throws: KeyError.emptyIssuer) { try Self.ring(.hs256, "s", issuer: "") }
        let twice = IssuerSettings(issuer: "i", algorithm: .hs256, key: SecretText("s"))
        #expect(throws: KeyError.duplicateIssuer("i")) { try KeyRing([twice, twice]) }
    }

    @Test("takes PEM with text around it and other line ends")
    func aroundPEM() throws {
        let pem = "# the key of the shop\n" + Issuers.rsa.publicPEM.replacing("\n", with: "\r\n") + "\n"
        let ring = try Self.ring(.rs256, pem, issuer: Issuers.rs)
        let text = Forge.token(header: Forge.header("RS256"), payload: Payload(issuer: Issuers.rs).text, .rsa(Issuers.rsa))
        #expect(try TokenVerifier().verify(text, keys: ring, now: Issuers.now).identity == "ana")
    }

    @Test("does not ask the terminal for a passphrase")
    func encryptedPEM() {
        let lines = Issuers.rsa.publicPEM.split(separator: "\n")
        let encrypted = ([lines[0], "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,00000000000000000000000000000000", ""] + lines[1...])
        #expect(throws: KeyError.unreadablePublicKey(issuer: "i")) { try Self.ring(.rs256, encrypted.joined(separator: "\n") + "\n") }
    }
}
