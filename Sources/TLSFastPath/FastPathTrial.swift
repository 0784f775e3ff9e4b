internal import CLibwebsockets
internal import COpenSSL

/// Checks once per process that the fast path can work here. If it fails, all records stay with OpenSSL.
///
/// First, that each interposed function is in effect: called by the address that the dynamic linker gives to libraries, it must lead to
/// this module. Second, that this OpenSSL reports its handshakes as `HandshakeSecrets` expects: two ends of a connection in memory, with a
/// pre-shared key (RFC 8446 section 2.2), have to understand each other after one of them has been taken over.
enum FastPathTrial {
    enum Result: Hashable {
        case passed
        /// The failed check.
        case failed(String)
    }

    static let result = unsafe run()

    /// - Parameter resolve: the address that libraries get for a name.
    static func run(
        resolvingBy resolve: (String) -> UnsafeMutableRawPointer? = { unsafe DynamicSymbol.resolved($0) }
    ) -> Result {
        for name in InterposedSymbol.allCases {
            guard let found = unsafe resolve(name.rawValue), let own = unsafe DynamicSymbol.library(name.rawValue), unsafe found != own
            else {
                return .failed("\(name.rawValue) is not interposed")
            }
            guard unsafe leadsHere(name, found) else { return .failed("\(name.rawValue) does not lead to this module") }
        }
        for byServer in [true, false] where !understandsPeer(byServer: byServer) {
            return .failed("records of a \(byServer ? "server" : "client") do not follow on OpenSSL's handshake")
        }
        return .passed
    }

    // MARK: Interposition

    /// Calls an interposed function on objects that only this module recognizes.
    private static func leadsHere(_ symbol: InterposedSymbol, _ function: UnsafeMutableRawPointer) -> Bool {
        if symbol == .pollStart { return unsafe pollStartLeadsHere(function) }
        // Has no effect outside a request; that its address is ours has been checked.
        if symbol == .headerCopy { return true }
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { return false }
        defer { unsafe SSL_CTX_free(context) }
        guard let ssl = unsafe SSL_new(context) else { return false }
        defer { unsafe SSL_free(ssl) }
        let probe = TrialConnection()
        guard unsafe InterposedTLS.slot.retain(probe, for: ssl) else { return false }
        let pointer = unsafe UnsafeMutableRawPointer(ssl)
        var byte: UInt8 = 0
        switch symbol {
        case .read: _ = unsafe unsafeBitCast(function, to: OpenSSLFunction.Read.self)(pointer, &byte, 1)
        case .write: _ = unsafe unsafeBitCast(function, to: OpenSSLFunction.Write.self)(pointer, &byte, 1)
        case .pending, .want, .shutdown: _ = unsafe unsafeBitCast(function, to: OpenSSLFunction.Query.self)(pointer)
        case .getError: _ = unsafe unsafeBitCast(function, to: OpenSSLFunction.GetError.self)(pointer, -1)
        case .pollStart, .headerCopy: break
        }
        return probe.called == symbol
    }

    private static func pollStartLeadsHere(_ function: UnsafeMutableRawPointer) -> Bool {
        let before = InterposedPoll.calls
        // Without a handle nothing is started; libuv is not called.
        let start = unsafe unsafeBitCast(
            function, to: (@convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeMutableRawPointer?) -> Int32).self)
        _ = start(nil, 0, nil)
        return InterposedPoll.calls > before
    }

    // MARK: Handshake

    private static func understandsPeer(byServer: Bool) -> Bool {
        guard let (server, client) = unsafe makeEnds() else { return false }
        defer {
            unsafe SSL_free(server)
            unsafe SSL_free(client)
        }
        for _ in 0..<4 {
            unsafe SSL_do_handshake(client)
            unsafe SSL_do_handshake(server)
        }
        // As in an upgrade: one record each way by OpenSSL, the rest by this module.
        return unsafe transfers(1, from: client, to: server) && transfers(2, from: server, to: client)
            && understands(byServer ? server : client, byServer ? client : server)
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

    private static func configure(_ context: OpaquePointer) {
        unsafe SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256")
        unsafe HandshakeSecrets.record(of: context)
    }

    private static func makeEnds() -> (server: OpaquePointer, client: OpaquePointer)? {
        // Each end retains its context.
        guard let serverContext = unsafe SSL_CTX_new(TLS_server_method()) else { return nil }
        defer { unsafe SSL_CTX_free(serverContext) }
        guard let clientContext = unsafe SSL_CTX_new(TLS_client_method()) else { return nil }
        defer { unsafe SSL_CTX_free(clientContext) }
        unsafe SSL_CTX_set_psk_server_callback(serverContext) { _, _, key, size in unsafe copyTrialKey(key, size) }
        unsafe SSL_CTX_set_psk_client_callback(clientContext) { _, _, name, nameSize, key, size in
            guard let name = unsafe name, nameSize >= 2 else { return 0 }
            unsafe name[0] = CChar(bitPattern: UInt8(ascii: "t"))
            unsafe name[1] = 0
            return unsafe copyTrialKey(key, size)
        }
        unsafe configure(serverContext)
        unsafe configure(clientContext)
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

/// The names that this module defines anew.
enum InterposedSymbol: String, CaseIterable {
    case read = "SSL_read"
    case write = "SSL_write"
    case pending = "SSL_pending"
    case want = "SSL_want"
    case shutdown = "SSL_shutdown"
    case getError = "SSL_get_error"
    case pollStart = "uv_poll_start"
    case headerCopy = "lws_hdr_copy"
}

/// Remembers which interposed function was called.
@safe private final class TrialConnection: InterposedConnection {
    private(set) var called: InterposedSymbol?

    override init() { super.init() }

    override func sslRead(_ ssl: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int32 { note(.read) }
    override func sslWrite(_ ssl: UnsafeMutableRawPointer, _ bytes: UnsafeRawBufferPointer) -> Int32 { note(.write) }
    override func sslPending(_ ssl: UnsafeMutableRawPointer) -> Int32 { note(.pending) }
    override func sslWant(_ ssl: UnsafeMutableRawPointer) -> Int32 { note(.want) }
    override func sslShutdown(_ ssl: UnsafeMutableRawPointer) -> Int32 { note(.shutdown) }
    override func sslError(_ ssl: UnsafeMutableRawPointer, _ result: Int32) -> Int32 { note(.getError) }

    private func note(_ symbol: InterposedSymbol) -> Int32 {
        called = symbol
        return 0
    }
}

/// Not a secret: the trial runs within this process.
private func copyTrialKey(_ key: UnsafeMutablePointer<UInt8>?, _ size: UInt32) -> UInt32 {
    guard let key = unsafe key, size >= 16 else { return 0 }
    for index in 0..<16 { unsafe key[index] = UInt8(index) }
    return 16
}
