import Foundation
import Identity
import Testing

@Suite("BodySignature")
struct BodySignatureTests {
    private var key: IssuerKey { Issuers.keys.signer! }
    private static let body = Array("{}".utf8)

    private static func payload(of token: String) throws -> [String: Any] {
        var text = String(token.split(separator: ".")[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        let data = try #require(Data(base64Encoded: text))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test("contains the digest, the issuer and no grant")
    func claims() throws {
        let token = try BodySignature.token(for: Self.body, at: Issuers.now, with: key)
        let claims = try Self.payload(of: token)
        // printf '{}' | openssl dgst -sha256 -binary | base64
        #expect(claims["sha256"] as? String == "RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=")
        #expect(Set(claims.keys) == ["iss", "nbf", "iat", "exp", "sha256"])
        #expect(claims["iss"] as? String == Issuers.hs)
    }

    @Test("is valid only for the signed bytes")
    func otherBody() throws {
        let token = try BodySignature.token(for: Self.body, at: Issuers.now, with: key)
        #expect(BodySignature.isValid(token, for: Self.body, at: Issuers.now, key: key))
        #expect(!BodySignature.isValid(token, for: Self.body + [0x20], at: Issuers.now, key: key))
    }

    @Test("is valid for five minutes")
    func age() throws {
        let token = try BodySignature.token(for: Self.body, at: Issuers.now, with: key)
        #expect(BodySignature.isValid(token, for: Self.body, at: Issuers.now + 299, key: key))
        #expect(!BodySignature.isValid(token, for: Self.body, at: Issuers.now + 300, key: key))
    }

    @Test("does not permit joining")
    func noGrant() throws {
        let token = try BodySignature.token(for: Self.body, at: Issuers.now, with: key)
        #expect((try? Issuers.verify(token).video) == nil)
    }

    @Test("cannot be made with a public key")
    func publicKey() throws {
        let key = try #require(Issuers.keys.key(of: Issuers.rs))
        #expect(throws: MintError.notASigningKey) { try BodySignature.token(for: Self.body, at: 0, with: key) }
    }
}
