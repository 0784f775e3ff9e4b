import COpenSSL
import Foundation
import Sockets

/// A self-signed certificate for 127.0.0.1 with its key, made for one run of the tests in a temporary directory.
final class Certificate: Sendable {
    /// Tells one certificate from another.
    let serial: Int
    private let address: [UInt8]
    let directory: URL

    /// The shared default certificate.
    static let usual = make(serial: 1)

    /// - Parameter address: the IPv4 address that the certificate is for.
    static func make(serial: Int, address: [UInt8] = [127, 0, 0, 1]) -> Certificate {
        do {
            return try Certificate(serial: serial, address: address)
        } catch {
            fatalError("no certificate for the tests: \(error)")
        }
    }

    private init(serial: Int, address: [UInt8]) throws {
        self.address = address
        self.serial = serial
        directory = FileManager.default.temporaryDirectory.appending(path: "patchbay-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try write()
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    var files: TLSFiles { TLSFiles(certificatePath: certificateURL.path, privateKeyPath: keyURL.path) }
    var certificateURL: URL { directory.appending(path: "certificate.pem") }
    var keyURL: URL { directory.appending(path: "key.pem") }

    /// Replaces the files of another certificate, whose paths a server uses.
    func replace(_ other: Certificate) throws {
        try Data(contentsOf: certificateURL).write(to: other.certificateURL)
        try Data(contentsOf: keyURL).write(to: other.keyURL)
    }

    private func write() throws {
        let key = SigningKey.curve()
        let certificate = X509_new()!
        defer { X509_free(certificate) }
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial)
        X509_gmtime_adj(X509_getm_notBefore(certificate), -3_600)
        X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400)
        let name = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(name, "CN", textIsUTF8, "127.0.0.1", -1, -1, 0)
        X509_set_issuer_name(certificate, name)
        X509_set_pubkey(certificate, key.pointer)
        // By its name alone an address is not known.
        let addresses = ASN1_OCTET_STRING_new()
        // GeneralNames (RFC 5280 section 4.2.1.6) with one iPAddress.
        ASN1_OCTET_STRING_set(addresses, [0x30, 0x06, 0x87, 0x04] + address, 8)
        let alternative = X509_EXTENSION_create_by_NID(nil, NID_subject_alt_name, 0, addresses)
        precondition(X509_add_ext(certificate, alternative, -1) == 1, "OpenSSL takes no alternative name")
        X509_EXTENSION_free(alternative)
        ASN1_OCTET_STRING_free(addresses)
        precondition(X509_sign(certificate, key.pointer, EVP_sha256()) > 0, "OpenSSL signed no certificate")
        try PEM.text { PEM_write_bio_X509($0, certificate) }.write(to: certificateURL, atomically: true, encoding: .utf8)
        try key.privatePEM.write(to: keyURL, atomically: true, encoding: .utf8)
    }

    /// `MBSTRING_UTF8`, a macro that Swift does not see.
    private var textIsUTF8: Int32 { 0x1000 }
}

/// A key pair that lives as long as the run. `EVP_PKEY` may be read from any thread.
final class SigningKey: @unchecked Sendable {
    let pointer: OpaquePointer

    private init(_ type: Int32, configure: (OpaquePointer) -> Int32) {
        let context = EVP_PKEY_CTX_new_id(type, nil)!
        defer { EVP_PKEY_CTX_free(context) }
        precondition(EVP_PKEY_keygen_init(context) == 1 && configure(context) == 1, "OpenSSL can't make such a key")
        var made: OpaquePointer?
        precondition(EVP_PKEY_keygen(context, &made) == 1, "OpenSSL made no key")
        pointer = made!
    }

    deinit { EVP_PKEY_free(pointer) }

    static func curve() -> SigningKey {
        SigningKey(EVP_PKEY_EC) { EVP_PKEY_CTX_set_ec_paramgen_curve_nid($0, NID_X9_62_prime256v1) }
    }

    static func rsa() -> SigningKey {
        SigningKey(EVP_PKEY_RSA) { EVP_PKEY_CTX_set_rsa_keygen_bits($0, 2_048) }
    }

    var publicPEM: String { PEM.text { PEM_write_bio_PUBKEY($0, pointer) } }
    var privatePEM: String { PEM.text { PEM_write_bio_PrivateKey($0, pointer, nil, nil, 0, nil, nil) } }
}

enum PEM {
    static func text(_ write: (OpaquePointer) -> Int32) -> String {
        let sink = BIO_new(BIO_s_mem())!
        defer { BIO_free(sink) }
        precondition(write(sink) == 1, "OpenSSL wrote no PEM")
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(sink))
        precondition(Int(BIO_read(sink, &bytes, Int32(bytes.count))) == bytes.count, "OpenSSL gave back less than it wrote")
        return String(decoding: bytes, as: UTF8.self)
    }
}
