import Identity
import Testing

@Suite("Secrets")
struct SecretTests {
    @Test("Secrets are never printed")
    func neverShown() throws {
        let settings = IssuerSettings(issuer: "i", algorithm: .hs256, key: SecretText(Issuers.secret))
        let ring = try KeyRing([settings])
        let shown: [Any] = [settings.key, settings, ring, try #require(ring.signer), [settings], ["key": settings.key]]
        let hex = Issuers.secret.utf8.prefix(4).map(String.init).joined(separator: ", ")
        for value in shown {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [dumped, String(describing: value), String(reflecting: value), "\(value)"] {
                #expect(!text.contains("guessed") && !text.contains(hex))
            }
        }
        #expect("\(settings.key)" == "<secret>")
        #expect(Mirror(reflecting: settings.key).children.isEmpty)
    }

    @Test("No error or warning shows a secret")
    func neverInErrors() throws {
        let pem = Issuers.rsa.privatePEM
        let line = String(pem.split(separator: "\n")[3])
        #expect {
            try KeyRing([IssuerSettings(issuer: "i", algorithm: .rs256, key: SecretText(pem))])
        } throws: { error in
            !"\(error)".contains(line) && !String(reflecting: error).contains(line)
        }
        let ring = try KeyRing([IssuerSettings(issuer: "i", algorithm: .hs256, key: SecretText("hush"))])
        #expect(ring.warnings.count == 1 && !ring.warnings[0].contains("hush"))
    }

    @Test("A secret reveals its text on request")
    func revealed() {
        let secret = SecretText("ü")
        #expect(secret.revealedText == "ü")
        #expect(secret.revealedBytes == [0xC3, 0xBC])
        #expect(secret.byteCount == 2 && !secret.isEmpty)
        #expect(secret == SecretText("ü") && secret != SecretText("u"))
    }

    @Test(
        "Texts are equal in constant time if their bytes are",
        arguments: [
            ("", "", true), ("a", "a", true), ("a", "b", false), ("a", "", false), ("", "a", false), ("ab", "a", false),
            ("\u{E9}", "e\u{301}", false), ("a\u{0}b", "a\u{0}c", false), ("a\u{0}b", "a\u{0}b", true),
        ])
    func equality(_ left: String, _ right: String, _ areEqual: Bool) {
        #expect(areEqualInConstantTime(left, right) == areEqual)
    }
}
