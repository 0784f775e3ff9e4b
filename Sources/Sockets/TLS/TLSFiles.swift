internal import COpenSSL
internal import Glibc

/// A server's certificate chain and private key, as PEM files.
package struct TLSFiles: Sendable, Hashable {
    package var certificatePath: String
    package var privateKeyPath: String

    package init(certificatePath: String, privateKeyPath: String) {
        self.certificatePath = certificatePath
        self.privateKeyPath = privateKeyPath
    }

    /// Loads both into a context of its own, so that an unusable file is found early.
    ///
    /// - Returns: the certificate, which may have expired.
    /// - Throws: `TLSFileError` with the file, the reason and the remedy.
    @discardableResult
    package func check() throws(TLSFileError) -> ServerCertificate {
        try TLSFileRole.certificate.checkReadable(certificatePath)
        try TLSFileRole.privateKey.checkReadable(privateKeyPath)
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
            throw TLSFileError(path: certificatePath, reason: "no memory", remedy: "free some")
        }
        defer { unsafe SSL_CTX_free(context) }
        try unsafe load(into: context)
        guard let certificate = unsafe SSL_CTX_get0_certificate(context) else {
            throw .unusable(.certificate, certificatePath)
        }
        return unsafe ServerCertificate(certificate)
    }

    /// Loads both into a context. Established connections keep what they had.
    func load(into context: OpaquePointer) throws(TLSFileError) {
        ERR_clear_error()
        guard unsafe SSL_CTX_use_certificate_chain_file(context, certificatePath) == 1 else {
            throw .unusable(.certificate, certificatePath)
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(context, privateKeyPath, SSL_FILETYPE_PEM) == 1 else {
            throw .unusable(.privateKey, privateKeyPath, certificatePath: certificatePath)
        }
        // A key of another type is loaded all the same, for a certificate that is not there.
        guard unsafe SSL_CTX_check_private_key(context) == 1 else {
            ERR_clear_error()
            throw .keyOfAnotherCertificate(privateKeyPath, certificatePath)
        }
    }
}

/// The purpose of a PEM file, and the settings that name it.
enum TLSFileRole: String {
    case certificate, privateKey = "private key", authority

    var settings: String {
        switch self {
        case .certificate: "--cert or `cert`"
        case .privateKey: "--key or `key`"
        case .authority: "--ca or `ca`"
        }
    }

    /// OpenSSL's errors do not tell a missing file from one without PEM.
    func checkReadable(_ path: String) throws(TLSFileError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        var byte: UInt8 = 0
        guard unsafe descriptor < 0 || read(descriptor, &byte, 1) < 0 else { return }
        switch errno {
        case ENOENT:
            throw TLSFileError(path: path, reason: "there is no such file", remedy: "check the path of the \(rawValue) in \(settings)")
        case EACCES:
            throw TLSFileError(
                path: path, reason: "the user with ID \(geteuid()) may not read it",
                remedy: "give that user access to the \(rawValue), with `chgrp` and `chmod`")
        default:
            throw TLSFileError(
                path: path, reason: unsafe String(cString: strerror(errno)), remedy: "check the path of the \(rawValue) in \(settings)")
        }
    }
}

/// Why a certificate or key cannot be used, and what to do.
package struct TLSFileError: Error, CustomStringConvertible {
    package var path: String
    package var reason: String
    package var remedy: String

    package var description: String { "cannot use \(path): \(reason); \(remedy)" }

    /// OpenSSL did not take a file that can be read.
    static func unusable(_ role: TLSFileRole, _ path: String, certificatePath: String = "") -> TLSFileError {
        let code = ERR_get_error()
        ERR_clear_error()
        let reason = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "unknown error"
        if reason.contains("mismatch") { return keyOfAnotherCertificate(path, certificatePath) }
        return TLSFileError(
            path: path, reason: "OpenSSL finds no \(role.rawValue) in it (\(reason))",
            remedy: "\(role.settings) names a PEM file with the \(role.rawValue)")
    }

    static func keyOfAnotherCertificate(_ path: String, _ certificatePath: String) -> TLSFileError {
        TLSFileError(
            path: path, reason: "it is not the key of the certificate \(certificatePath)",
            remedy: "pass the certificate and the key that were issued together")
    }
}

/// Validity and names of a server's certificate.
package struct ServerCertificate: Sendable, Hashable {
    /// In seconds since 1970.
    package let begins: Int64
    package let expires: Int64
    /// The DNS names and IP addresses that it is for (RFC 6125 section 6.4): its subject alternative names.
    package let names: [String]

    package init(begins: Int64, expires: Int64, names: [String]) {
        self.begins = begins
        self.expires = expires
        self.names = names
    }

    init(_ certificate: OpaquePointer) {
        begins = unsafe Self.seconds(X509_get0_notBefore(certificate))
        expires = unsafe Self.seconds(X509_get0_notAfter(certificate))
        names = unsafe Self.alternativeNames(of: certificate)
    }

    /// Whether clients accept it for this host: a DNS name, with a wildcard for one label, or an IP address.
    package func covers(_ host: String) -> Bool {
        let host = host.lowercased()
        return names.contains { name in
            let name = name.lowercased()
            if name == host { return true }
            guard name.hasPrefix("*."), let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
            return host[dot...] == name.dropFirst()
        }
    }

    /// 0 for a time that cannot be read.
    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return unsafe Int64(timegm(&parts))
    }

    private static func alternativeNames(of certificate: OpaquePointer) -> [String] {
        guard let list = unsafe X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(list)
        defer { unsafe GENERAL_NAMES_free(names) }
        var texts: [String] = []
        for index in 0..<(unsafe OPENSSL_sk_num(names)) {
            guard let name = unsafe OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self) else { continue }
            let value = unsafe name.pointee.d.ia5
            let bytes = unsafe UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value)))
            switch unsafe name.pointee.type {
            case GEN_DNS: texts.append(unsafe String(decoding: bytes, as: UTF8.self))
            case GEN_IPADD: if let address = IPAddress(bytes: unsafe Array(bytes)) { texts.append("\(address)") }
            default: break
            }
        }
        return texts
    }
}
