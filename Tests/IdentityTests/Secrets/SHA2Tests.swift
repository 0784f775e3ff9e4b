import Identity
import Testing
import Wire

struct SHA2Tests {
    @Test func digestsMatchTheTestVectors() {
        #expect(
            SHA2.digest(of: Array("abc".utf8)) == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(SHA2.digest(of: []) == bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }

    /// RFC 4231, test case 2.
    @Test func hmacMatchesTheTestVectors() {
        let code = SHA2.hmac(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        #expect(code == bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
    }

    /// RFC 5869, test case 3: no salt and no purpose, the first 32 bytes.
    @Test func derivedKeysMatchTheTestVectors() {
        let key = SHA2.derivedKey(from: [UInt8](repeating: 0x0B, count: 22), purpose: "")
        #expect(key == bytes("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"))
    }

    @Test func eachPurposeHasItsOwnKey() {
        let key = SealingKey()
        #expect(key.derived(for: "a").revealedBytes != key.derived(for: "b").revealedBytes)
        #expect(key.derived(for: "a").revealedBytes == key.derived(for: "a").revealedBytes)
    }

    @Test(arguments: [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("?>~", "Pz5-")])
    func base64SurvivesARoundTrip(plain: String, text: String) {
        #expect(Base64.urlSafe.encode(plain.utf8) == text)
        #expect(Base64.urlSafe.decode(text.utf8) == Array(plain.utf8))
    }
}
