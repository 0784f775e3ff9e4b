import COpenSSL
import Foundation
import Identity
import Testing
import Wire

@Suite("TokenVerifier")
struct TokenVerifierTests {
    @Test("reads every claim")
    func everyClaim() throws {
        let payload = Payload()
            .with("name", "\"Ana\"").with("metadata", "\"{}\"").with("attributes", #"{"lk.agent.state":"idle","Case":""}"#)
            .with("kind", "\"agent\"").with("session_id", "\"s-1\"").with("roomPreset", "\"large\"").with("aud", "\"anybody\"")
            .with("roomConfig", #"{"emptyTimeout":30,"departure_timeout":5,"maxParticipants":8,"metadata":"m","agents":[{}]}"#)
            .with(
                "video",
                #"""
                {"room":"den","roomJoin":true,"roomCreate":true,"roomList":true,"roomRecord":true,"roomAdmin":true,"ingressAdmin":true,
                "canPublish":true,"canSubscribe":false,"canPublishData":false,"canPublishSources":["microphone"],
                "canUpdateOwnMetadata":true,"canSubscribeMetrics":true,"canManageAgentSession":true,"hidden":true,"recorder":true,
                "agent":true,"destinationRoom":"hall","ofTheFuture":{"a":[1]}}
                """#)
        let token = try Issuers.verify(payload.token)
        #expect(token.issuer == Issuers.hs)
        #expect(token.identity == "ana")
        #expect(token.notBefore == Issuers.now - 10)
        #expect(token.expires == Issuers.now + 3_600)
        #expect(token.name == "Ana")
        #expect(token.metadata == "{}")
        #expect(token.attributes == ["lk.agent.state": "idle", "Case": ""])
        #expect(token.kind == .agent)
        #expect(token.sessionID == "s-1")
        let agents = [TokenAgent(agentName: "")]
        #expect(
            token.roomSettings
                == TokenRoomSettings(emptyTimeout: 30, departureTimeout: 5, maxParticipants: 8, metadata: "m", agents: agents))
        let video = try #require(token.video)
        #expect(video.room == "den" && video.destinationRoom == "hall")
        #expect(video.roomJoin && video.roomCreate && video.roomList && video.roomRecord && video.roomAdmin && video.ingressAdmin)
        #expect(video.hidden && video.recorder && video.agent)
        #expect(video.allowsPublishing && !video.allowsSubscribing && !video.allowsPublishingData && video.allowsUpdatingOwnMetadata)
        #expect(video.canSubscribeMetrics == true && video.canManageAgentSession == true)
        #expect(video.canPublishSources == ["microphone"])
    }

    @Test("fills in what is absent or null")
    func defaults() throws {
        for absent in [Payload(), Payload().with("name", "null").with("attributes", "null").with("kind", "null").with("nbf", "null")] {
            let token = try Issuers.verify(absent.token)
            #expect(token.name.isEmpty && token.metadata.isEmpty && token.attributes.isEmpty)
            #expect(token.kind == .standard)
            #expect(token.sessionID == nil && token.roomSettings == nil)
        }
        #expect(try Issuers.verify(Payload().without("nbf").token).notBefore == nil)
    }

    @Test("treats unknown kinds as standard")
    func unknownKind() throws {
        #expect(try Issuers.verify(Payload().with("kind", "\"robot\"").token).kind == .standard)
    }

    @Test("knows LiveKit's kinds", arguments: ["standard", "ingress", "egress", "sip", "agent", "connector", "bridge"])
    func kinds(_ kind: String) throws {
        #expect(try Issuers.verify(Payload().with("kind", "\"\(kind)\"").token).kind.rawValue == kind)
    }

    @Test("allows 60 seconds between two clocks", arguments: [("exp", -59), ("exp", -60), ("nbf", 59), ("nbf", 60)])
    func leeway(_ claim: String, _ distance: Int64) throws {
        let token = try Issuers.verify(Payload().with(claim, "\(Issuers.now + distance)").token)
        #expect(token.identity == "ana")
    }

    @Test("survives any clock")
    func anyClock() {
        #expect(Issuers.refusal(of: Payload().token, at: .max) == "token_expired")
        #expect(Issuers.refusal(of: Payload().token, at: .min) == "token_not_yet_valid")
        let early = Payload().with("nbf", "-9007199254740991").with("exp", "9007199254740991").token
        #expect(Issuers.refusal(of: early, at: .max) == "token_expired")
        #expect(Issuers.refusal(of: early, at: .min) == "token_not_yet_valid")
        #expect(Issuers.refusal(of: early, at: 0) == nil)
    }

    @Test("takes the identity from jti when sub is empty")
    func identityFromTokenID() throws {
        #expect(try Issuers.verify(Payload().with("sub", "\"\"").with("jti", "\"bo\"").token).identity == "bo")
        #expect(try Issuers.verify(Payload().with("jti", "\"bo\"").token).identity == "ana")
    }

    @Test("accepts a service token, which is nobody's")
    func serviceToken() throws {
        let token = try Issuers.verify(Payload().with("sub", "\"\"").with("video", #"{"roomAdmin":true,"room":"den"}"#).token)
        #expect(token.identity.isEmpty && token.user == nil)
    }

    @Test("accepts names of 256 bytes")
    func longestNames() throws {
        let name = String(repeating: "n", count: 256)
        let token = try Issuers.verify(Payload().with("sub", "\"\(name)\"").with("video", #"{"roomJoin":true,"room":"\#(name)"}"#).token)
        #expect(token.identity == name && token.video?.room == name)
    }

    @Test("accepts a token of nearly 16 KiB and 32 levels")
    func largeToken() throws {
        let payload = Payload().with("metadata", BadToken.long(11_900)).with("x", BadToken.nested(31))
        #expect((15_900...16_384).contains(payload.token.utf8.count))
        #expect(try Issuers.verify(payload.token).metadata.count == 11_900)
    }

    @Test("keeps the limit it is given")
    func limit() {
        let token = Payload().token
        let verifier = TokenVerifier(tokenBytesMax: token.utf8.count - 1)
        #expect(throws: TokenError.tooLarge) { try verifier.verify(token, keys: Issuers.keys, now: Issuers.now) }
    }

    @Test("accepts public keys", arguments: ["RS256", "ES256"])
    func publicKeys(_ algorithm: String) throws {
        let (issuer, signer) =
            algorithm == "RS256" ? (Issuers.rs, Forge.Signer.rsa(Issuers.rsa)) : (Issuers.es, .curve(Issuers.curve))
        // Many, since ECDSA's numbers differ at each signature and some begin with zeros.
        for _ in 0..<50 {
            let text = Forge.token(header: Forge.header(algorithm), payload: Payload(issuer: issuer).text, signer)
            #expect(try Issuers.verify(text).issuer == issuer)
        }
    }

    @Test("accepts headers of other libraries", arguments: [#"{"alg":"HS256"}"#, #"{ "typ" : "jwt", "kid":"1", "alg" : "HS256" }"#])
    func otherHeaders(_ header: String) throws {
        #expect(try Issuers.verify(Forge.token(header: header, payload: Payload().text, .secret(Issuers.secret))).identity == "ana")
    }

    /// The claims in the order and spelling of LiveKit's Python SDK, which signs with PyJWT.
    @Test("accepts what LiveKit's Python SDK makes")
    func livekitPython() throws {
        let payload =
            #"{"sub":"ana","iss":"\#(Issuers.hs)","nbf":\#(Issuers.now),"exp":\#(Issuers.now + 21_600),"name":"Ana","kind":"standard","#
            + #""video":{"roomJoin":true,"room":"den","canPublish":true,"canSubscribe":true,"canPublishData":true}}"#
        let token = try Issuers.verify(Forge.token(payload: payload, .secret(Issuers.secret)))
        #expect(try JoinGrant(token).permission == Permission())
    }

    @Test("leaves OpenSSL's errors of the thread as they were")
    func errorQueue() {
        ERR_clear_error()
        for token in BadToken.ofBadSignature { _ = Issuers.refusal(of: token.text) }
        #expect(ERR_peek_error() == 0)
        leaveAnError()
        _ = Issuers.refusal(of: BadToken.ofBadSignature[8].text)
        #expect(ERR_peek_error() != 0)
        ERR_clear_error()
    }

    @Test("needs little stack, whatever the token", .timeLimit(.minutes(1)))
    func littleStack() async {
        let refusals = await withCheckedContinuation { continuation in
            let thread = Thread {
                continuation.resume(returning: BadToken.ofBadForm.map { Issuers.refusal(of: $0.text) })
            }
            thread.stackSize = 256 * 1_024
            thread.start()
        }
        #expect(refusals == BadToken.ofBadForm.map(\.code))
    }

    @Test("serves many threads at once")
    func manyThreads() async {
        let tokens = [
            Payload().token, Forge.token(header: Forge.header("ES256"), payload: Payload(issuer: Issuers.es).text, .curve(Issuers.curve)),
        ]
        let believed = await withTaskGroup { group in
            for turn in 0..<400 { group.addTask { Issuers.refusal(of: tokens[turn % 2]) == nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(believed == 400)
    }
}

/// As a failed TLS call on the same thread would: reads PEM where there is none.
private func leaveAnError() {
    let source = BIO_new(BIO_s_mem())
    PEM_read_bio_PUBKEY(source, nil, nil, nil)
    BIO_free(source)
}
