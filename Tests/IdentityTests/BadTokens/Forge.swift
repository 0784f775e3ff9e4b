import COpenSSL
import Foundation

/// Makes tokens from raw text, right and wrong ones, without any of the code under test.
enum Forge {
    /// The algorithm used for signing, independent of the header.
    enum Signer {
        case secret(String, digest: OpaquePointer? = nil)
        case rsa(KeyPair, digest: OpaquePointer? = nil)
        case curve(KeyPair, digest: OpaquePointer? = nil, size: Int = 32)
        case bytes([UInt8])

        func signature(of message: [UInt8]) -> [UInt8] {
            switch self {
            case .secret(let secret, let digest): Forge.hmac(message, secret: Array(secret.utf8), digest: digest ?? EVP_sha256()!)
            case .rsa(let pair, let digest): pair.signature(of: message, digest: digest ?? EVP_sha256()!)
            case .curve(let pair, let digest, let size): pair.rawSignature(of: message, digest: digest ?? EVP_sha256()!, size: size)
            case .bytes(let bytes): bytes
            }
        }
    }

    static func token(header: String = #"{"alg":"HS256","typ":"JWT"}"#, payload: String, _ signer: Signer) -> String {
        token(header: Array(header.utf8), payload: Array(payload.utf8), signer)
    }

    static func token(header: [UInt8], payload: [UInt8], _ signer: Signer) -> String {
        let signed = base64URL(header) + "." + base64URL(payload)
        return signed + "." + base64URL(signer.signature(of: Array(signed.utf8)))
    }

    /// The signing input under the usual header.
    static func signedBytes(_ algorithm: String, _ payload: String) -> [UInt8] {
        Array((base64URL(Array(header(algorithm).utf8)) + "." + base64URL(Array(payload.utf8))).utf8)
    }

    static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func header(_ algorithm: String) -> String {
        #"{"alg":"\#(algorithm)","typ":"JWT"}"#
    }

    private static func hmac(_ message: [UInt8], secret: [UInt8], digest: OpaquePointer) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        _ = HMAC(digest, secret, Int32(secret.count), message, message.count, &code, &length)
        return Array(code.prefix(Int(length)))
    }
}
