import Identity
import Testing

struct ResumeTokenTests {
    private let secret = SecretText("00112233445566778899aabbccddeeff")

    /// All nodes of a cluster, whatever their version, must derive the same ones.
    @Test func derivedTokensStayTheSame() {
        #expect(ResumeToken.derived(1, from: secret) == "RT_c5a98e8feebad6493e3bcbe9261ad975")
        #expect(ResumeToken.derived(2, from: secret) == "RT_297057ae6b6d4950882682a8675e2dbd")
    }

    @Test func eachSecretHasItsOwnTokens() {
        #expect(ResumeToken.derived(1, from: ResumeToken.randomSecret()) != ResumeToken.derived(1, from: ResumeToken.randomSecret()))
    }

    @Test func firstTokenIsRandomAndLooksLikeTheOthers() {
        let (first, second) = (ResumeToken.random(), ResumeToken.random())
        #expect(first != second && first.hasPrefix("RT_"))
        #expect(first.utf8.count == ResumeToken.derived(1, from: secret).utf8.count)
    }
}
