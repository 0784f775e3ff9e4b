import Engine
import Testing

@testable import Gateway

struct ResumeTokenTests {
    private let secret = ResumeSecret("00112233445566778899aabbccddeeff")

    /// All nodes of a cluster, whatever their version, must derive the same ones.
    @Test func derivedTokensStayTheSame() {
        #expect(secret.token(1) == "RT_c5a98e8feebad6493e3bcbe9261ad975")
        #expect(secret.token(2) == "RT_297057ae6b6d4950882682a8675e2dbd")
    }

    @Test func eachSecretHasItsOwnTokens() {
        #expect(ResumeSecret.random().token(1) != ResumeSecret.random().token(1))
    }

    @Test func firstTokenIsRandomAndLooksLikeTheOthers() {
        let (first, second) = (ResumeSecret.randomToken(), ResumeSecret.randomToken())
        #expect(first != second && first.hasPrefix("RT_"))
        #expect(first.utf8.count == secret.token(1).utf8.count)
    }
}
