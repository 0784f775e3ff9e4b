internal import COpenSSL

/// Checks once per process that this OpenSSL reports its handshakes as `HandshakeSecrets` expects. If not, all records stay with OpenSSL.
///
/// For each cipher suite, and for server and client, two ends of a connection in memory, with a pre-shared key (RFC 8446 section 2.2), have
/// to understand each other after one of them has been taken over.
enum RecordTrial {
    enum Result: Hashable {
        case passed
        /// The failed check.
        case failed(String)
    }

    static let result = run()

    static func run(_ suites: [CipherSuite] = CipherSuite.allCases) -> Result {
        for suite in suites {
            for byServer in [true, false] where !understandsPeer(suite, byServer: byServer) {
                return .failed("\(suite) records of a \(byServer ? "server" : "client") do not follow on OpenSSL's handshake")
            }
        }
        return .passed
    }

    private static func understandsPeer(_ suite: CipherSuite, byServer: Bool) -> Bool {
        guard let (server, client) = unsafe connect(suite) else { return false }
        defer {
            unsafe SSL_free(server)
            unsafe SSL_free(client)
        }
        return unsafe understands(byServer ? server : client, byServer ? client : server)
    }

    /// Two ends, which the caller frees, after their handshake and, as in an upgrade, one record each way.
    static func connect(_ suite: CipherSuite) -> (server: OpaquePointer, client: OpaquePointer)? {
        guard let (server, client) = unsafe makeEnds(suite) else { return nil }
        for _ in 0..<4 {
            unsafe SSL_do_handshake(client)
            unsafe SSL_do_handshake(server)
        }
        if unsafe transfers(1, from: client, to: server) && transfers(2, from: server, to: client) { return unsafe (server, client) }
        unsafe SSL_free(server)
        unsafe SSL_free(client)
        return nil
    }

    private static func transfers(_ byte: UInt8, from sender: OpaquePointer, to receiver: OpaquePointer) -> Bool {
        var (sent, received) = (byte, UInt8(0))
        return unsafe SSL_write(sender, &sent, 1) == 1 && SSL_read(receiver, &received, 1) == 1 && received == byte
    }

    /// Whether one end, taken over, and the other, which stays with OpenSSL, understand each other.
    private static func understands(_ ours: OpaquePointer, _ theirs: OpaquePointer) -> Bool {
        guard var ciphers = unsafe RecordCiphers(of: ours), let bio = unsafe SSL_get_rbio(ours) else { return false }
        var record = [UInt8](repeating: 0, count: RecordCipher.sealedBytes(1))
        record[RecordCipher.headerBytes] = 3
        var received: UInt8 = 0
        let isReceived = unsafe record.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe ciphers.sealing.seal(start, content: 1, of: .applicationData)
                && BIO_write(bio, start, Int32(bytes.count)) == bytes.count && SSL_read(theirs, &received, 1) == 1
        }
        var reply: UInt8 = 4
        guard isReceived, received == 3, unsafe SSL_write(theirs, &reply, 1) == 1 else { return false }
        guard unsafe Int(BIO_read(bio, &record, Int32(record.count))) == record.count else { return false }
        return unsafe record.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            let opened = unsafe ciphers.opening.open(start, sealed: bytes.count - RecordCipher.headerBytes)
            return unsafe opened == .content(1, type: ContentType.applicationData.rawValue) && bytes[RecordCipher.headerBytes] == 4
        }
    }

    private static func configure(_ context: OpaquePointer, _ suite: CipherSuite) {
        unsafe SSL_CTX_set_ciphersuites(context, suite.suiteName)
        unsafe HandshakeSecrets.record(of: context)
    }

    private static func makeEnds(_ suite: CipherSuite) -> (server: OpaquePointer, client: OpaquePointer)? {
        // Each end retains its context.
        guard let serverContext = unsafe SSL_CTX_new(TLS_server_method()) else { return nil }
        defer { unsafe SSL_CTX_free(serverContext) }
        guard let clientContext = unsafe SSL_CTX_new(TLS_client_method()) else { return nil }
        defer { unsafe SSL_CTX_free(clientContext) }
        unsafe SSL_CTX_set_psk_use_session_callback(clientContext) { ssl, _, name, nameBytes, session in
            unsafe name?.pointee = unsafe UnsafePointer(bitPattern: trialName)
            unsafe nameBytes?.pointee = 1
            unsafe session?.pointee = unsafe makeSession(ssl)
            return 1
        }
        unsafe SSL_CTX_set_psk_find_session_callback(serverContext) { ssl, _, _, session in
            unsafe session?.pointee = unsafe makeSession(ssl)
            return 1
        }
        unsafe configure(serverContext, suite)
        unsafe configure(clientContext, suite)
        unsafe SSL_CTX_set_num_tickets(serverContext, 1)
        var (one, other): (OpaquePointer?, OpaquePointer?)
        guard let server = unsafe SSL_new(serverContext), let client = unsafe SSL_new(clientContext),
            unsafe BIO_new_bio_pair(&one, 0, &other, 0) == 1
        else { return nil }
        unsafe SSL_set_bio(server, one, one)
        unsafe SSL_set_bio(client, other, other)
        unsafe SSL_set_accept_state(server)
        unsafe SSL_set_connect_state(client)
        return unsafe (server, client)
    }
}

/// The address of the name of the trial's key, a text that is never freed.
private let trialName = unsafe UInt(bitPattern: CRYPTO_strdup("t", nil, 0))

/// A session with the trial's key for the only suite that the connection offers; nil if OpenSSL has no memory. The key is not a secret: the
/// trial runs within this process.
private func makeSession(_ ssl: OpaquePointer?) -> OpaquePointer? {
    let key: [UInt8] = Array(0..<16)
    guard let session = unsafe SSL_SESSION_new(), let ciphers = unsafe SSL_get1_supported_ciphers(ssl),
        let cipher = unsafe OPENSSL_sk_value(ciphers, 0).map({ OpaquePointer($0) })
    else { return nil }
    defer { unsafe OPENSSL_sk_free(ciphers) }
    guard unsafe SSL_SESSION_set1_master_key(session, key, key.count) == 1, unsafe SSL_SESSION_set_cipher(session, cipher) == 1,
        unsafe SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1
    else {
        unsafe SSL_SESSION_free(session)
        return nil
    }
    return unsafe session
}
