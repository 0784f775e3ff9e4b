internal import COpenSSL

/// One direction of a TLS 1.3 connection after its handshake: seals or opens records in order (RFC 8446 section 5.2).
///
/// The cipher is OpenSSL's provider implementation. `SSL_write` and `SSL_read` spend about three quarters of their time on a record of
/// one Opus frame outside the cipher; that part is left out here.
@safe package struct RecordCipher: ~Copyable {
    enum Direction: Int32 {
        case opening = 0
        case sealing = 1
    }

    /// OpenSSL's cipher context with the key set.
    private let cipher: UnsafeMutableRawPointer
    private let provider: UnsafePointer<CipherProvider>
    private let direction: Direction
    /// Traffic secret and write IV, in memory that is wiped.
    private var secrets: TrafficSecret
    /// The sequence number of the next record (RFC 8446 section 5.3).
    private(set) var sequence: UInt64

    /// Type, version, length.
    package static var headerBytes: Int { 5 }
    package static var tagBytes: Int { 16 }
    /// The largest content of a record, without its type (RFC 8446 section 5.1).
    package static var contentMax: Int { 1 << 14 }
    /// The largest number of bytes after the header.
    static var sealedMax: Int { contentMax + 256 }
    /// The size of a whole record: header, content, type and tag.
    package static func sealedBytes(_ content: Int) -> Int { headerBytes + content + 1 + tagBytes }

    /// - Parameter sequence: the number of records already sealed or opened under this secret.
    /// - Returns: nil if OpenSSL is out of memory or its provider has an unknown interface.
    init?(_ secrets: consuming TrafficSecret, _ direction: Direction, after sequence: UInt64) {
        guard let provider = unsafe secrets.suite.provider, let cipher = unsafe provider.pointee.make() else { return nil }
        guard secrets.deriveIV(), unsafe Self.setKey(of: secrets, in: cipher, provider.pointee, for: direction) else {
            unsafe provider.pointee.free(cipher)
            return nil
        }
        unsafe self.cipher = unsafe cipher
        unsafe self.provider = unsafe provider
        self.direction = direction
        self.secrets = secrets
        self.sequence = sequence
    }

    deinit {
        unsafe provider.pointee.free(cipher)
    }

    /// The address of OpenSSL's cipher context: nonce, state, hash table and key schedule.
    var address: UInt { unsafe UInt(bitPattern: cipher) }

    /// Switches to the next traffic secret (RFC 8446 section 4.6.3).
    ///
    /// - Returns: false if OpenSSL is out of memory.
    mutating func update() -> Bool {
        guard secrets.advance(), secrets.deriveIV(), unsafe Self.setKey(of: secrets, in: cipher, provider.pointee, for: direction) else {
            return false
        }
        sequence = 0
        return true
    }

    /// Derives the write key from a secret (RFC 8446 section 7.3) and gives it to the cipher.
    private static func setKey(
        of secret: borrowing TrafficSecret, in cipher: UnsafeMutableRawPointer, _ provider: CipherProvider, for direction: Direction
    ) -> Bool {
        let length = secret.suite.keyLength
        guard let key = secret.expand("key", length: length) else { return false }
        let start = unsafe direction == .sealing ? provider.startSealing : provider.startOpening
        return unsafe start(cipher, key.start, length, nil, 0, nil) == 1
    }

    // MARK: Records

    /// Seals content that starts `headerBytes` after `record`, with room for a type and a tag after it.
    ///
    /// - Returns: false if the cipher refuses, which ends the connection.
    mutating func seal(_ record: UnsafeMutableRawPointer, content: Int, of type: ContentType) -> Bool {
        unsafe seal(record, content: content, typeByte: type.rawValue)
    }

    /// - Parameter typeByte: a content type, or 0 if the type is part of the content and this byte is padding.
    mutating func seal(_ record: UnsafeMutableRawPointer, content: Int, typeByte: UInt8) -> Bool {
        let inner = content + 1
        unsafe record.storeBytes(of: ContentType.applicationData.rawValue, as: UInt8.self)
        unsafe record.storeBytes(of: UInt16(0x0303).bigEndian, toByteOffset: 1, as: UInt16.self)
        unsafe record.storeBytes(of: UInt16(inner + Self.tagBytes).bigEndian, toByteOffset: 3, as: UInt16.self)
        let start = unsafe (record + Self.headerBytes).assumingMemoryBound(to: UInt8.self)
        unsafe start[content] = typeByte
        var done = 0
        return unsafe begin(record, by: provider.pointee.startSealing)
            && provider.pointee.update(cipher, start, &done, inner, start, inner) == 1
            && provider.pointee.finish(cipher, start + inner, &done, Self.tagBytes) == 1
            && provider.pointee.getTag(from: cipher, to: start + inner)
    }

    /// The result of opening a record.
    enum Opened: Equatable {
        /// The length of its content, which starts after the header, and its content type.
        case content(Int, type: UInt8)
        /// Not authentic, or too short.
        case badMAC
        /// More plaintext than RFC 8446 section 5.4 allows.
        case overflow
        /// Nothing but padding (RFC 8446 section 5.4).
        case onlyPadding
    }

    /// Opens a whole record in place.
    ///
    /// - Parameter sealed: the number of bytes after its header.
    mutating func open(_ record: UnsafeMutableRawPointer, sealed: Int) -> Opened {
        var inner = sealed - Self.tagBytes
        guard inner > 0 else { return .badMAC }
        let start = unsafe (record + Self.headerBytes).assumingMemoryBound(to: UInt8.self)
        var done = 0
        guard
            unsafe begin(record, by: provider.pointee.startOpening)
                && provider.pointee.update(cipher, start, &done, inner, start, inner) == 1
                && provider.pointee.setTag(start + inner, in: cipher)
                && provider.pointee.finish(cipher, start + inner, &done, Self.tagBytes) == 1
        else { return .badMAC }
        guard inner <= Self.contentMax + 1 else { return .overflow }
        while inner > 0, unsafe start[inner - 1] == 0 { inner -= 1 }
        guard inner > 0 else { return .onlyPadding }
        return unsafe .content(inner - 1, type: start[inner - 1])
    }

    /// Gives the cipher this record's nonce (RFC 8446 section 5.3) and its header, which is authenticated.
    private mutating func begin(_ record: UnsafeMutableRawPointer, by start: CipherProvider.Start) -> Bool {
        var nonce = InlineArray<12, UInt8>(repeating: 0)
        let current = sequence
        sequence += 1
        var done = 0
        return unsafe withUnsafeMutableBytes(of: &nonce) { bytes in
            unsafe secrets.writeNonce(for: current, to: bytes.baseAddress!)
            let nonce = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let header = unsafe record.assumingMemoryBound(to: UInt8.self)
            return unsafe start(cipher, nil, 0, nonce, bytes.count, nil) == 1
                && provider.pointee.update(cipher, nil, &done, Self.headerBytes, header, Self.headerBytes) == 1
        }
    }
}

/// Both directions of a connection, continuing where OpenSSL's handshake left off.
package struct RecordCiphers: ~Copyable {
    var opening: RecordCipher
    var sealing: RecordCipher

    /// - Returns: nil if the connection has to stay with OpenSSL: TLS 1.2, no recorded secrets, a KeyUpdate already seen, bytes that OpenSSL
    ///   has read ahead or not returned, a mode that is not known, or no memory.
    package init?(of ssl: OpaquePointer) {
        guard unsafe SSL_version(ssl) == TLS1_3_VERSION, let used = unsafe SSL_get_current_cipher(ssl),
            let suite = unsafe CipherSuite(rawValue: SSL_CIPHER_get_protocol_id(used)), let notes = unsafe HandshakeSecrets.of(ssl),
            !notes.sawKeyUpdate, unsafe Self.isBetweenRecords(ssl)
        else { return nil }
        let isServer = unsafe SSL_is_server(ssl) == 1
        guard let theirs = notes.copySecret(ofServer: !isServer, of: suite), let ours = notes.copySecret(ofServer: isServer, of: suite),
            let opening = RecordCipher(theirs, .opening, after: notes.opened),
            let sealing = RecordCipher(ours, .sealing, after: notes.sealed)
        else { return nil }
        self.opening = opening
        self.sealing = sealing
    }

    /// Whether OpenSSL has returned all that it has read, and nothing of it waits to be written.
    private static func isBetweenRecords(_ ssl: OpaquePointer) -> Bool {
        unsafe SSL_has_pending(ssl) == 0 && SSL_want(ssl) != SSL_WRITING && SSL_is_init_finished(ssl) == 1 && hasKnownModes(ssl)
    }

    /// Others than these may keep bytes or change how records are made (SSL_CTX_set_mode(3), SSL_CTX_set_read_ahead(3)).
    private static func hasKnownModes(_ ssl: OpaquePointer) -> Bool {
        let known = Int(SSL_MODE_RELEASE_BUFFERS) | Int(SSL_MODE_AUTO_RETRY)
        return unsafe SSL_get_read_ahead(ssl) == 0 && SSL_ctrl(ssl, SSL_CTRL_MODE, 0, nil) & ~known == 0
    }
}

/// The content type of a record (RFC 8446 section 5.1). On the wire all are application data.
package enum ContentType: UInt8 {
    case alert = 21
    case handshake = 22
    case applicationData = 23
}

/// The alerts that this record layer sends (RFC 8446 section 6).
package enum TLSAlert: UInt8, Sendable {
    case closeNotify = 0
    case unexpectedMessage = 10
    case badRecordMAC = 20
    case recordOverflow = 22
    case illegalParameter = 47
    case decodeError = 50
    case internalError = 80
}
