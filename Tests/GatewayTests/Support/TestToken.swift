import COpenSSL
import Foundation
import Identity
import Wire

/// The issuers that test gateways trust, and tokens signed by them.
enum TestToken {
    static let issuer = "tests"
    static let issuerWithPublicKey = "tests-rs"
    private static let secret = "a secret of these tests only, and long enough"
    static let rsa = SigningKey.rsa()

    static let keys: KeyRing = {
        do {
            return try KeyRing([
                IssuerSettings(issuer: issuer, algorithm: .hs256, key: SecretText(secret)),
                IssuerSettings(issuer: issuerWithPublicKey, algorithm: .rs256, key: SecretText(rsa.publicPEM)),
            ])
        } catch {
            fatalError("the tests' own keys are refused: \(error)")
        }
    }()

    static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// A valid token to join a room, modified by `change`.
    static func joining(_ room: String, as identity: String, _ change: (inout AccessToken) -> Void = { _ in }) -> String {
        var claims = AccessToken(identity: identity, notBefore: now - 10, expires: now + 600, video: .joining(room))
        change(&claims)
        return mint(claims)
    }

    /// A valid token of an assistant process, modified by `change`.
    static func assistant(_ id: String, _ change: (inout AccessToken) -> Void = { _ in }) -> String {
        var grant = VideoGrant()
        grant.agent = true
        var claims = AccessToken(identity: CallParty.assistantPrefix + id, notBefore: now - 10, expires: now + 600, video: grant)
        change(&claims)
        return mint(claims)
    }

    /// A token without an identity, for administrative routes.
    static func administering(_ change: (inout VideoGrant) -> Void) -> String {
        var grant = VideoGrant()
        change(&grant)
        return mint(AccessToken(identity: "", expires: now + 600, video: grant))
    }

    private static func mint(_ claims: AccessToken) -> String {
        do {
            return try TokenMinter.mint(claims, with: keys.signer!)
        } catch {
            fatalError("no token for the tests: \(error)")
        }
    }

    // MARK: By hand

    /// A token with any header and payload, signed with HMAC-SHA-256 and by default with the tests' secret.
    static func forged(header: String = #"{"alg":"HS256","typ":"JWT"}"#, payload: String, secret: String = secret) -> String {
        let signed = base64URL(Array(header.utf8)) + "." + base64URL(Array(payload.utf8))
        return signed + "." + base64URL(hmac(Array(signed.utf8), secret: Array(secret.utf8)))
    }

    /// The claims of a valid token as JSON.
    static func payload(room: String = "table", identity: String = "eve", issuer: String = issuer, more: String = "") -> String {
        #"{"iss":"\#(issuer)","sub":"\#(identity)","exp":\#(now + 600),"video":{"room":"\#(room)","roomJoin":true}\#(more)}"#
    }

    static func unsigned(_ payload: String, algorithm: String = "none") -> String {
        base64URL(Array(#"{"alg":"\#(algorithm)"}"#.utf8)) + "." + base64URL(Array(payload.utf8)) + ".AA"
    }

    static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func hmac(_ message: [UInt8], secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        _ = HMAC(EVP_sha256(), secret, Int32(secret.count), message, message.count, &code, &length)
        return Array(code.prefix(Int(length)))
    }
}
