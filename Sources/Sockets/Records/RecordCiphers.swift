internal import COpenSSL

/// Both directions of a connection, from where OpenSSL stands after the handshake.
struct RecordCiphers: ~Copyable {
    var opening: RecordCipher
    var sealing: RecordCipher

    /// - Returns: nil where the connection has to stay OpenSSL's: with TLS 1.2, without notes of its handshake, without memory.
    init?(of ssl: OpaquePointer) {
        guard unsafe SSL_version(ssl) == TLS1_3_VERSION, let used = unsafe SSL_get_current_cipher(ssl),
            let suite = unsafe CipherSuite(rawValue: SSL_CIPHER_get_protocol_id(used)), let notes = unsafe HandshakeNotes.of(ssl)
        else { return nil }
        let isServer = unsafe SSL_is_server(ssl) == 1
        guard let theirs = TrafficSecret(isServer ? notes.clientSecret : notes.serverSecret, of: suite),
            let ours = TrafficSecret(isServer ? notes.serverSecret : notes.clientSecret, of: suite),
            let opening = RecordCipher(theirs, .opening, after: notes.opened),
            let sealing = RecordCipher(ours, .sealing, after: notes.sealed)
        else { return nil }
        self.opening = opening
        self.sealing = sealing
    }
}
