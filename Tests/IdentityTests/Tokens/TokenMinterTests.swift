import Foundation
import Identity
import Testing
import Wire

@Suite("TokenMinter")
struct TokenMinterTests {
    private var key: IssuerKey { Issuers.keys.signer! }

    private static var full: AccessToken {
        var video = VideoGrant.joining("den/1")
        video.canPublish = true
        video.canPublishData = false
        video.canPublishSources = ["microphone"]
        video.canUpdateOwnMetadata = true
        video.hidden = true
        return AccessToken(
            issuer: Issuers.hs, identity: "ana", notBefore: Issuers.now, expires: Issuers.now + 600, name: "Ana \u{1F600} \"A\"",
            metadata: "{\"a\":\"\\n\"}", attributes: ["lk.x": "1", "empty": ""], kind: .agent, video: video, sessionID: "s-1",
            roomSettings: TokenRoomSettings(emptyTimeout: 1, departureTimeout: 2, maxParticipants: 3, metadata: "m"))
    }

    private static func part(_ place: Int, of token: String) throws -> String {
        var text = String(token.split(separator: ".")[place]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return String(decoding: try #require(Data(base64Encoded: text)), as: UTF8.self)
    }

    @Test("mints tokens that the verifier accepts")
    func roundTrip() throws {
        #expect(try Issuers.verify(try TokenMinter.mint(Self.full, with: key)) == Self.full)
    }

    @Test("writes LiveKit's form")
    func form() throws {
        let claims = AccessToken(identity: "ana", notBefore: 1, expires: Issuers.now, name: "Ana", video: .joining("den"), sessionID: "s")
        let text = try TokenMinter.mint(claims, with: key)
        #expect(try Self.part(0, of: text) == #"{"alg":"HS256","typ":"JWT"}"#)
        #expect(
            try Self.part(1, of: text)
                == #"{"exp":1800000000,"iss":"hs-issuer","kind":"standard","name":"Ana","nbf":1,"session_id":"s","sub":"ana","#
                + #""video":{"room":"den","roomJoin":true}}"#)
    }

    @Test("replaces the claims' issuer by the key's")
    func issuer() throws {
        var claims = Self.full
        claims.issuer = Issuers.rs
        #expect(try Issuers.verify(try TokenMinter.mint(claims, with: key)).issuer == Issuers.hs)
    }

    @Test("makes service tokens with an empty sub")
    func service() throws {
        var video = VideoGrant()
        video.roomList = true
        let text = try TokenMinter.mint(AccessToken(identity: "", expires: Issuers.now, video: video), with: key)
        #expect(try Self.part(1, of: text).contains(#""sub":"""#))
        #expect(try Issuers.verify(text).user == nil)
    }

    @Test("does not sign with a public key", arguments: [Issuers.rs, Issuers.es])
    func publicKey(_ issuer: String) throws {
        let key = try #require(Issuers.keys.key(of: issuer))
        #expect(throws: MintError.notASigningKey) { try TokenMinter.mint(Self.full, with: key) }
    }

    @Test(
        "does not sign what would be refused",
        arguments: [
            (AccessToken(identity: "", expires: 1, video: .joining("den")), TokenError.badIdentity),
            (AccessToken(identity: String(repeating: "i", count: 257), expires: 1), .badIdentity),
            (AccessToken(identity: "ana", expires: 1, video: .joining(String(repeating: "r", count: 257))), .badRoom),
            (AccessToken(identity: "ana\u{0}", expires: 1), .malformed),
            (AccessToken(identity: "ana", expires: .max), .malformed),
            (AccessToken(identity: "ana", notBefore: .min, expires: 1), .malformed),
            (AccessToken(identity: "ana", expires: 1, metadata: String(repeating: "m", count: 1_000_000)), .tooLarge),
            (AccessToken(identity: "ana", expires: 1, metadata: String(repeating: "m", count: 13_000)), .tooLarge),
        ])
    func refused(_ claims: AccessToken, _ error: TokenError) {
        #expect(throws: MintError.invalidClaims(error)) { try TokenMinter.mint(claims, with: key) }
    }

    @Test("makes tokens of every length", arguments: [0, 1, 2, 3, 50, 51, 52, 53, 54, 55, 71, 72, 73, 11_000])
    func lengths(_ length: Int) throws {
        let claims = AccessToken(issuer: Issuers.hs, identity: "ana", expires: Issuers.now, metadata: String(repeating: "m", count: length))
        #expect(try Issuers.verify(try TokenMinter.mint(claims, with: key)) == claims)
    }
}
