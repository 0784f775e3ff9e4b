internal import COpenSSL

/// Whether this OpenSSL tells of its handshakes what `HandshakeNotes` take it to tell: tried once a process, on a connection between two of
/// its ends in memory, with a key that both know instead of a certificate (RFC 8446 section 2.2). Another release might count
/// otherwise, and no connection would understand a word; so where the trial fails all stays OpenSSL's.
enum TakeoverTrial {
    static let isPassed = isPassed(byServer: true) && isPassed(byServer: false)

    private static func isPassed(byServer: Bool) -> Bool {
        guard let (server, client) = unsafe makeEnds() else { return false }
        defer {
            unsafe SSL_free(server)
            unsafe SSL_free(client)
        }
        for _ in 0..<4 {
            unsafe SSL_do_handshake(client)
            unsafe SSL_do_handshake(server)
        }
        // As an upgrade does, a record each way by OpenSSL, and then the rest by us.
        return unsafe carries(1, from: client, to: server) && carries(2, from: server, to: client)
            && understands(byServer ? server : client, byServer ? client : server)
    }

    private static func carries(_ byte: UInt8, from sender: OpaquePointer, to receiver: OpaquePointer) -> Bool {
        var (sent, received) = (byte, UInt8(0))
        return unsafe SSL_write(sender, &sent, 1) == 1 && SSL_read(receiver, &received, 1) == 1 && received == byte
    }

    /// Whether one end, with its records taken over, and the other, which is OpenSSL's, understand each other.
    private static func understands(_ ours: OpaquePointer, _ theirs: OpaquePointer) -> Bool {
        guard var ciphers = unsafe RecordCiphers(of: ours), let bio = unsafe SSL_get_rbio(ours) else { return false }
        var record = [UInt8](repeating: 0, count: RecordCipher.sealedBytes(1))
        record[RecordCipher.headerBytes] = 3
        var heard: UInt8 = 0
        let isHeard = unsafe record.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe ciphers.sealing.seal(start, content: 1, of: .applicationData)
                && BIO_write(bio, start, Int32(bytes.count)) == bytes.count && SSL_read(theirs, &heard, 1) == 1
        }
        var word: UInt8 = 4
        guard isHeard, heard == 3, unsafe SSL_write(theirs, &word, 1) == 1 else { return false }
        guard unsafe Int(BIO_read(bio, &record, Int32(record.count))) == record.count else { return false }
        return unsafe record.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress,
                let found = unsafe ciphers.opening.open(start, sealed: bytes.count - RecordCipher.headerBytes)
            else { return false }
            return unsafe found.content == 1 && bytes[RecordCipher.headerBytes] == 4
        }
    }

    private static func prepare(_ context: OpaquePointer) {
        unsafe SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256")
        unsafe HandshakeNotes.take(of: context)
    }

    private static func makeEnds() -> (server: OpaquePointer, client: OpaquePointer)? {
        // Each end keeps its context.
        guard let ofServer = unsafe SSL_CTX_new(TLS_server_method()) else { return nil }
        defer { unsafe SSL_CTX_free(ofServer) }
        guard let ofClient = unsafe SSL_CTX_new(TLS_client_method()) else { return nil }
        defer { unsafe SSL_CTX_free(ofClient) }
        unsafe SSL_CTX_set_psk_server_callback(ofServer) { _, _, key, size in unsafe giveKey(key, size) }
        unsafe SSL_CTX_set_psk_client_callback(ofClient) { _, _, name, nameSize, key, size in
            guard let name = unsafe name, nameSize >= 2 else { return 0 }
            unsafe name[0] = CChar(bitPattern: UInt8(ascii: "t"))
            unsafe name[1] = 0
            return unsafe giveKey(key, size)
        }
        unsafe prepare(ofServer)
        unsafe prepare(ofClient)
        unsafe SSL_CTX_set_num_tickets(ofServer, 1)
        var (one, other): (OpaquePointer?, OpaquePointer?)
        guard let server = unsafe SSL_new(ofServer), let client = unsafe SSL_new(ofClient), unsafe BIO_new_bio_pair(&one, 0, &other, 0) == 1
        else { return nil }
        unsafe SSL_set_bio(server, one, one)
        unsafe SSL_set_bio(client, other, other)
        unsafe SSL_set_accept_state(server)
        unsafe SSL_set_connect_state(client)
        return unsafe (server, client)
    }
}

/// Of no secret: it is used within this process, once.
private func giveKey(_ key: UnsafeMutablePointer<UInt8>?, _ size: UInt32) -> UInt32 {
    guard let key = unsafe key, size >= 16 else { return 0 }
    for place in 0..<16 { unsafe key[place] = UInt8(place) }
    return 16
}
