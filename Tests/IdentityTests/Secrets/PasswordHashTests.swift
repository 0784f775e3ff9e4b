import Identity
import Testing
import Wire

struct PasswordHashTests {
    static let quick = PasswordHash.Cost(logBlocks: 10, blockSize: 8, parallelism: 1)

    @Test func hashesMatchOnlyTheirPassword() {
        let hash = PasswordHash(of: SecretText("correct horse"), cost: Self.quick)
        #expect(hash.matches(SecretText("correct horse")))
        #expect(!hash.matches(SecretText("correct horse ")))
        #expect(!hash.matches(SecretText("")))
        #expect(PasswordHash(of: SecretText(""), cost: Self.quick).matches(SecretText("")))
    }

    @Test func hashTextContainsTheParameters() throws {
        let hash = PasswordHash(of: SecretText("pw"))
        #expect(hash.text.hasPrefix("$scrypt$ln=15,r=8,p=1$"))
        let read = try #require(PasswordHash(text: hash.text))
        #expect(read == hash && read.matches(SecretText("pw")))
    }

    @Test func equalPasswordsHaveDifferentHashes() {
        let password = SecretText("pw")
        #expect(PasswordHash(of: password, cost: Self.quick) != PasswordHash(of: password, cost: Self.quick))
    }

    /// RFC 7914 section 12: "pleaseletmein", N=16384, r=8, p=1; the first 32 bytes are the same for every length.
    @Test func itIsScrypt() throws {
        let salt = Base64.urlSafe.encode("SodiumChloride".utf8)
        let hash = Base64.urlSafe.encode(bytes("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"))
        let stored = try #require(PasswordHash(text: "$scrypt$ln=14,r=8,p=1$\(salt)$\(hash)"))
        #expect(stored.matches(SecretText("pleaseletmein")))
    }

    @Test(arguments: [
        "", "$", "$scrypt$", "$scrypt$ln=15,r=8$AAAA$AAAA", "$scrypt$ln=40,r=8,p=1$c2FsdA$", "$bcrypt$ln=15,r=8,p=1$c2FsdA$aGFzaA",
        "$scrypt$ln=15,r=8,p=1$c2FsdA$aGFzaA", "$scrypt$ln=-1,r=8,p=1$c2FsdA$aGFzaA",
    ])
    func invalidHashesAreRejected(text: String) {
        #expect(PasswordHash(text: text) == nil)
    }

    @Test func keysAreNeverPrinted() {
        let hash = PasswordHash(of: SecretText("pw"), cost: Self.quick)
        #expect("\(hash)" == "<secret>" && String(reflecting: hash) == "<secret>")
    }
}
