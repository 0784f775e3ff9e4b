internal import COpenSSL
internal import TLSRecords

/// OpenSSL's settings for the connections of one loop, as server or as client.
@safe final class TLSContext {
    let pointer: OpaquePointer
    let isServer: Bool

    /// - Parameter recordsSecrets: keeps each handshake's traffic secrets until the upgrade, for `RecordStream`.
    private init(_ method: OpaquePointer?, isServer: Bool, recordsSecrets: Bool) throws {
        guard let pointer = unsafe SSL_CTX_new(method) else { throw LoopError.noTLS }
        unsafe self.pointer = unsafe pointer
        self.isServer = isServer
        // Buffers are freed while a connection is idle (SSL_CTX_set_mode(3)).
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        // RFC 8996.
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        if recordsSecrets { unsafe HandshakeSecrets.record(of: pointer) }
    }

    convenience init(serving files: TLSFiles, recordsSecrets: Bool) throws {
        try unsafe self.init(TLS_server_method(), isServer: true, recordsSecrets: recordsSecrets)
        unsafe TLSPolicy.apply(to: pointer)
        // Not HTTP/2, which is another protocol. Clients that offer nothing known go on without ALPN (RFC 7301).
        unsafe SSL_CTX_set_alpn_select_cb(
            pointer,
            { _, chosen, chosenBytes, offered, offeredBytes, _ in
                unsafe TLSContext.selectHTTP(chosen, chosenBytes, offered, offeredBytes)
            }, nil)
        try unsafe files.load(into: pointer)
    }

    convenience init(trusting trust: ClientTrust, recordsSecrets: Bool) throws {
        try unsafe self.init(TLS_client_method(), isServer: false, recordsSecrets: recordsSecrets)
        let protocols = Self.http
        unsafe SSL_CTX_set_alpn_protos(pointer, protocols, UInt32(protocols.count))
        guard trust != .anybody else { return }
        unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        unsafe SSL_CTX_set_default_verify_paths(pointer)
        if case .authority(let path) = trust {
            try TLSFileRole.authority.checkReadable(path)
            ERR_clear_error()
            guard unsafe SSL_CTX_load_verify_locations(pointer, path, nil) == 1 else { throw TLSFileError.unusable(.authority, path) }
        }
    }

    deinit { unsafe SSL_CTX_free(pointer) }

    /// Uses another certificate for new connections; on an error the old one stays.
    func reload(_ files: TLSFiles) throws(TLSFileError) {
        try files.check()
        try unsafe files.load(into: pointer)
    }

    /// `http/1.1` as ALPN encodes it: its length and its name.
    private static var http: [UInt8] { [8] + Array("http/1.1".utf8) }

    private static func selectHTTP(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ chosenBytes: UnsafeMutablePointer<UInt8>?,
        _ offered: UnsafePointer<UInt8>?, _ offeredBytes: UInt32
    ) -> Int32 {
        let names = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredBytes))
        var index = 0
        while index < names.count {
            let length = unsafe Int(names[index])
            guard index + 1 + length <= names.count else { break }
            if unsafe names[index...(index + length)].elementsEqual(http) {
                unsafe chosen?.pointee = unsafe names.baseAddress! + index + 1
                unsafe chosenBytes?.pointee = UInt8(length)
                return SSL_TLSEXT_ERR_OK
            }
            index += 1 + length
        }
        return SSL_TLSEXT_ERR_NOACK
    }
}

/// The contexts of a loop: for the connections that it accepts, and for those that it makes.
struct TLSContexts {
    /// Nil for a loop that only connects to others.
    private(set) var server: TLSContext?
    /// Nil for a loop that only serves.
    private(set) var client: TLSContext?

    init() {}

    init(_ settings: LoopSettings) throws {
        let recordsSecrets = settings.fastPath.isActive
        server = try settings.server.map { try TLSContext(serving: $0, recordsSecrets: recordsSecrets) }
        client = try settings.client.map { try TLSContext(trusting: $0, recordsSecrets: recordsSecrets) }
    }
}

enum TLSPeerName {
    /// Sends the name (RFC 6066 section 3) and has the certificate checked against it.
    static func set(_ host: String, on ssl: OpaquePointer, isChecked: Bool) {
        if IPAddress(host[...]) != nil {
            if isChecked, let parameters = unsafe SSL_get0_param(ssl) { unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, host) }
            return
        }
        unsafe host.withCString { name in
            // SSL_set_tlsext_host_name, a macro that Swift does not import.
            _ = unsafe SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), UnsafeMutableRawPointer(mutating: name))
        }
        if isChecked { unsafe SSL_set1_host(ssl, host) }
    }
}

/// The TLS settings of every server context.
private enum TLSPolicy {
    /// AEAD suites and forward secrecy only (RFC 9325 section 4.2); OpenSSL prefers TLS 1.3. No renegotiation. No session cache, which would hold
    /// memory for departed clients; session tickets need none.
    ///
    /// One ticket per handshake, where OpenSSL makes two: a participant resumes one connection (RFC 8446 appendix C.4), and each ticket
    /// costs a fifteenth of a handshake. All contexts of the process share the ticket keys, because a client may return to another shard.
    static func apply(to context: OpaquePointer) {
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
