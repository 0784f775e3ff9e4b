import COpenSSL
import Identity
import Testing

/// Signatures with private keys on P-256.
struct ES256KeyTests {
    private static let pair = KeyPair.curve(NID_X9_62_prime256v1)

    /// A token without `exp` is refused after its signature was found to be right.
    @Test(arguments: 0..<20)
    func aProviderTokenIsSignedAsItsPublicKeyExpects(_: Int) throws {
        let key = try #require(ES256Key(pem: SecretText(Self.pair.privatePEM)))
        let token = try #require(key.providerToken(id: "ABC123DEFG", team: "TEAM", now: 1_795_000_000))
        func error(_ pair: KeyPair) throws -> TokenError? {
            let keys = try KeyRing([IssuerSettings(issuer: "TEAM", algorithm: .es256, key: SecretText(pair.publicPEM))])
            do throws(TokenError) {
                _ = try TokenVerifier().verify(token, keys: keys, now: 1_795_000_000)
                return nil
            } catch {
                return error
            }
        }
        #expect(try error(Self.pair) == .noExpiry)
        #expect(try error(KeyPair.curve(NID_X9_62_prime256v1)) == .badSignature)
    }

    @Test func onlyAPrivateKeyOnP256IsAccepted() {
        let others = [
            "", "no PEM", Self.pair.publicPEM, KeyPair.curve(NID_secp384r1).privatePEM, KeyPair.rsa(bits: 2_048).privatePEM,
            KeyPair.ed25519().privatePEM,
        ]
        for text in others { #expect(ES256Key(pem: SecretText(text)) == nil) }
        #expect(ERR_peek_error() == 0, "nothing is left in the queue of errors")
    }
}
