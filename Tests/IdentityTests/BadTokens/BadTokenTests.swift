import Identity
import Testing

@Suite("Rejected tokens")
struct BadTokenTests {
    @Test("for its form", arguments: BadToken.ofBadForm)
    func form(_ token: BadToken) {
        #expect(Issuers.refusal(of: token.text) == token.code)
    }

    @Test("for its issuer", arguments: BadToken.ofBadOrigin)
    func origin(_ token: BadToken) {
        #expect(Issuers.refusal(of: token.text) == token.code)
    }

    @Test("for its algorithm", arguments: BadToken.ofBadAlgorithm)
    func algorithm(_ token: BadToken) {
        #expect(Issuers.refusal(of: token.text) == token.code)
    }

    @Test("for its signature", arguments: BadToken.ofBadSignature)
    func signature(_ token: BadToken) {
        #expect(Issuers.refusal(of: token.text) == token.code)
    }

    @Test("for its time", arguments: BadToken.ofBadTime)
    func time(_ token: BadToken) {
        #expect(Issuers.refusal(of: token.text) == token.code)
    }

    @Test("for its names and types", arguments: BadToken.ofBadNames)
    func names(_ token: BadToken) {
        #expect(Issuers.refusal(of: token.text) == token.code)
    }

    @Test("for its depth, however much the verifier may read", arguments: [33, 2_049, 10_000, 100_000])
    func depth(_ depth: Int) {
        let verifier = TokenVerifier(tokenBytesMax: 1 << 20)
        for payload in [Payload().with("x", BadToken.nested(depth)), Payload().with("video", BadToken.nested(depth))] {
            #expect(throws: TokenError.malformed) { try verifier.verify(payload.token, keys: Issuers.keys, now: Issuers.now) }
        }
    }

    @Test("with one bit flipped anywhere")
    func flippedBit() {
        let codes = Set(["malformed_token", "unknown_issuer", "wrong_algorithm", "bad_signature"])
        let good = Array(Payload().token.utf8)
        for place in good.indices {
            for bit in 0..<7 {
                var bad = good
                bad[place] ^= 1 << bit
                let code = Issuers.refusal(of: String(decoding: bad, as: UTF8.self))
                #expect(code.map(codes.contains) == true, "byte \(place), bit \(bit): \(code ?? "believed")")
            }
        }
    }

    @Test("with one bit flipped in a public key's signature", arguments: ["RS256", "ES256"])
    func flippedBitOfPublicKey(_ algorithm: String) {
        let issuer = algorithm == "RS256" ? Issuers.rs : Issuers.es
        let signer = algorithm == "RS256" ? Forge.Signer.rsa(Issuers.rsa) : .curve(Issuers.curve)
        let header = Array(Forge.header(algorithm).utf8)
        let payload = Array(Payload(issuer: issuer).text.utf8)
        let signature = signer.signature(of: Forge.signedBytes(algorithm, Payload(issuer: issuer).text))
        for place in signature.indices {
            var bad = signature
            bad[place] ^= 1 << (place % 8)
            #expect(Issuers.refusal(of: Forge.token(header: header, payload: payload, .bytes(bad))) == "bad_signature")
        }
    }

    @Test("truncated at any length")
    func truncated() {
        let good = Payload().token
        for length in 1..<good.utf8.count {
            #expect(Issuers.refusal(of: String(good.prefix(length))) != nil)
        }
    }

    @Test("with a code and without revealing the token", arguments: TokenError.allCases)
    func answer(_ error: TokenError) {
        #expect(error.message.hasSuffix("."))
        #expect(!error.code.isEmpty && error.code.allSatisfy { $0 == "_" || ("a"..."z").contains($0) })
    }

    @Test("under a code of its own")
    func codes() {
        #expect(Set(TokenError.allCases.map(\.code)).count == TokenError.allCases.count)
    }
}
