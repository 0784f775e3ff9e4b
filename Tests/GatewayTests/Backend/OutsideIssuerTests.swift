import Backend
import COpenSSL
import Foundation
import Gateway
import Identity
import Testing
import Wire

/// Users with tokens of an external issuer.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct OutsideIssuerTests {
    private let backend: TestBackend

    init() throws {
        let issuer = IssuerSettings(issuer: "https://login.example", algorithm: .rs256, key: SecretText(TestToken.rsa.publicPEM))
        backend = try TestBackend(externalIssuer: ExternalIssuer(keys: try KeyRing([issuer]), audience: "patchbay"))
    }

    private func user(_ subject: String, audience: String = #""patchbay""#, issuer: String = "https://login.example") -> AppUser {
        let payload =
            #"{"iss":"\#(issuer)","sub":"\#(subject)","aud":\#(audience),"email":"ann@example.org","exp":\#(TestToken.now + 600)}"#
        return AppUser(backend, token: TestToken.signed(payload, with: TestToken.rsa))
    }

    @Test func userIsCreatedOnFirstUse() throws {
        let first = try user("ann").ask("GET", "/v1/users/me")
        #expect(first.status == 200 && first.json?["email"] as? String == "ann@example.org")
        let second = try user("ann", audience: #"["other","patchbay"]"#).ask("GET", "/v1/users/me")
        #expect(second.json?["id"] as? String == first.json?["id"] as? String)
        #expect(try user("bob").ask("GET", "/v1/users/me").json?["id"] as? String != first.json?["id"] as? String)
    }

    @Test func externalUserStartsSessions() throws {
        let started = try user("ann").start()
        let caller = try started.join(backend.gateway)
        #expect(caller.hello.sessionId == started.session)
    }

    @Test func tokenForAnotherAudienceIsRefused() throws {
        let answer = try user("ann", audience: #""another""#).ask("GET", "/v1/users/me")
        #expect(answer.status == 401 && answer.code == "wrong_audience", "\(answer.text)")
    }

    @Test func unknownIssuerIsRefused() throws {
        #expect(try user("ann", issuer: "https://evil.example").ask("GET", "/v1/users/me").status == 401)
        // It cannot issue tokens for the gateway's own users either.
        #expect(try user("ann", issuer: "patchbay-users").ask("GET", "/v1/users/me").status == 401)
    }
}

extension TestToken {
    /// A JWT signed with RS256.
    static func signed(_ payload: String, with key: SigningKey) -> String {
        let text = base64URL(Array(#"{"alg":"RS256","typ":"JWT"}"#.utf8)) + "." + base64URL(Array(payload.utf8))
        let context = EVP_MD_CTX_new()!
        defer { EVP_MD_CTX_free(context) }
        let message = Array(text.utf8)
        var signature = [UInt8](repeating: 0, count: 512)
        var length = signature.count
        precondition(EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.pointer) == 1, "OpenSSL does not sign")
        precondition(EVP_DigestSign(context, &signature, &length, message, message.count) == 1, "OpenSSL did not sign")
        return text + "." + base64URL(Array(signature.prefix(length)))
    }
}
