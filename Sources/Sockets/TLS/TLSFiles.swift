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
        let isLoaded = unsafe SSL_CTX_use_PrivateKey_file(context, privateKeyPath, SSL_FILETYPE_PEM) == 1
        guard isLoaded, unsafe SSL_CTX_check_private_key(context) == 1 else {
            throw .unusable(.privateKey, privateKeyPath, certificatePath: certificatePath)
        }
    }
}

/// What a PEM file is for, and the settings that name it.
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
        if reason.contains("mismatch") {
            return TLSFileError(
                path: path, reason: "it is not the key of the certificate \(certificatePath)",
                remedy: "pass the certificate and the key that were issued together")
        }
        return TLSFileError(
            path: path, reason: "OpenSSL finds no \(role.rawValue) in it (\(reason))",
            remedy: "\(role.settings) names a PEM file with the \(role.rawValue)")
    }
}

/// The TLS settings of every server context.
enum TLSPolicy {
    /// TLS 1.2 at least (RFC 8996), with AEAD suites and forward secrecy only (RFC 9325 section 4.2); 1.3 is preferred by OpenSSL. No
    /// renegotiation. No session cache, which would hold memory for departed clients; session tickets need none.
    ///
    /// One ticket per handshake, where OpenSSL makes two: a participant resumes one connection (RFC 8446 appendix C.4), and each ticket
    /// costs a fifteenth of a handshake. All contexts of the process share the ticket keys, because a client may return to another shard.
    static func apply(to context: OpaquePointer) {
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        unsafe SSL_CTX_set_options(context, Self.noRenegotiation | Self.serverPreference | Self.prioritizeChaCha)
        // AES-128 first: with SHA-256 it takes less time than AES-256 with SHA-384 (RFC 8446 section 9.1). ChaCha20 for clients that put it
        // first because they have no AES in hardware.
        unsafe SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256")
        unsafe SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20")
        unsafe SSL_CTX_set_num_tickets(context, 1)
        guard !ticketKeys.isEmpty else { return }
        var keys = ticketKeys
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_TLSEXT_TICKET_KEYS, keys.count, &keys)
    }

    // OpenSSL's macros SSL_OP_NO_RENEGOTIATION and so on, which Swift does not import.
    private static var noRenegotiation: UInt64 { 1 << 30 }
    private static var serverPreference: UInt64 { 1 << 22 }
    private static var prioritizeChaCha: UInt64 { 1 << 21 }

    /// A name, a MAC key and a cipher key, generated once per process; empty if OpenSSL has no randomness, and then each context has its own.
    private static let ticketKeys: [UInt8] = {
        var keys = [UInt8](repeating: 0, count: 80)
        return unsafe RAND_bytes(&keys, Int32(keys.count)) == 1 ? keys : []
    }()
}
