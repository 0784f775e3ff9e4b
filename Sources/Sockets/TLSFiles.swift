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
    ///
    /// One ticket for each handshake, where OpenSSL makes two: a participant comes back over one connection (RFC 8446 appendix C.4), and each
    /// costs a fifteenth of a handshake. All contexts of the process know each other's, for whoever comes back may meet another shard.
    static func apply(to context: OpaquePointer) {
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        unsafe SSL_CTX_set_options(context, Self.noRenegotiation | Self.serverPreference | Self.prioritizeChaCha)
        // AES-128 first: it and SHA-256 take less of our time than AES-256 and SHA-384, and are as safe (RFC 8446 section 9.1). ChaCha20
        // for those that put it first, having no AES in their hardware.
        unsafe SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256")
        unsafe SSL_CTX_set_num_tickets(context, 1)
        guard !ticketKeys.isEmpty else { return }
        var keys = ticketKeys
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_TLSEXT_TICKET_KEYS, keys.count, &keys)
    }

    // Swift does not import OpenSSL's macros for these (SSL_OP_NO_RENEGOTIATION and so on).
    private static var noRenegotiation: UInt64 { 1 << 30 }
    private static var serverPreference: UInt64 { 1 << 22 }
    private static var prioritizeChaCha: UInt64 { 1 << 21 }

    /// A name, a key for the MAC and one for the cipher, made anew by each process; empty, and each context on its own, without randomness.
    private static let ticketKeys: [UInt8] = {
        var keys = [UInt8](repeating: 0, count: 80)
        return unsafe RAND_bytes(&keys, Int32(keys.count)) == 1 ? keys : []
    }()
}
