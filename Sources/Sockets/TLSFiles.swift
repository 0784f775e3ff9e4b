internal import COpenSSL

/// A server's certificate chain and private key, as PEM files.
package struct TLSFiles: Sendable, Hashable {
    package var certificatePath: String
    package var privateKeyPath: String

    package init(certificatePath: String, privateKeyPath: String) {
        self.certificatePath = certificatePath
        self.privateKeyPath = privateKeyPath
    }

    /// Loads both into a context of its own, so that a broken file is found before it does harm.
    ///
    /// - Throws: `TLSFileError`, which says which file and why.
    package func check() throws(TLSFileError) {
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
            throw TLSFileError(path: certificatePath, reason: Self.lastReason)
        }
        defer { unsafe SSL_CTX_free(context) }
        try unsafe load(into: context)
    }

    /// Puts both into a context. Connections that are already up keep what they had.
    func load(into context: OpaquePointer) throws(TLSFileError) {
        ERR_clear_error()
        guard unsafe SSL_CTX_use_certificate_chain_file(context, certificatePath) == 1 else {
            throw TLSFileError(path: certificatePath, reason: Self.lastReason)
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(context, privateKeyPath, SSL_FILETYPE_PEM) == 1 else {
            throw TLSFileError(path: privateKeyPath, reason: Self.lastReason)
        }
        guard unsafe SSL_CTX_check_private_key(context) == 1 else {
            throw TLSFileError(path: privateKeyPath, reason: "the key does not belong to the certificate \(certificatePath)")
        }
    }

    private static var lastReason: String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = unsafe ERR_reason_error_string(code) else { return "not a readable PEM file" }
        return unsafe String(cString: reason)
    }
}

/// Why a certificate or key cannot be used.
package struct TLSFileError: Error, CustomStringConvertible {
    package var path: String
    package var reason: String

    package var description: String {
        "cannot use \(path): \(reason); `make certs` makes a development certificate, --cert and --key name your own"
    }
}

/// What every server context of ours insists on.
enum TLSPolicy {
    /// TLS 1.2 at least (RFC 8996 forbids older ones), 1.3 preferred by OpenSSL itself; no renegotiation; no session cache, which
    /// would keep memory for clients that are gone (tickets stay, and cost none).
    static func apply(to context: OpaquePointer) {
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        unsafe SSL_CTX_set_options(context, UInt64(1) << 30)  // SSL_OP_NO_RENEGOTIATION
    }
}
