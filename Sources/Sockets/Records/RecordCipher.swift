internal import COpenSSL

/// One direction of a TLS 1.3 connection after its handshake: seals records or opens them, one after the other (RFC 8446 section 5.2).
///
/// The cipher is OpenSSL's. What is left out is all that OpenSSL's `SSL_write` and `SSL_read` do around it for every version, mode and
/// extension of TLS: three quarters of what they take for a record of one Opus frame, and most of the memory that they look at.
@safe struct RecordCipher: ~Copyable {
    enum Direction: Int32 {
        case opening = 0
        case sealing = 1
    }

    /// OpenSSL's cipher with the key in it.
    private let cipher: UnsafeMutableRawPointer
    private let methods: UnsafePointer<CipherMethods>
    private let direction: Direction
    private var secret: TrafficSecret
    /// The write IV (RFC 8446 section 5.3): its first four bytes as they stand, and the rest as a number.
    private var ivStart: UInt32
    private var ivEnd: UInt64
    /// Of the record that comes next.
    private(set) var sequence: UInt64

    /// Type, version, length.
    static var headerBytes: Int { 5 }
    static var tagBytes: Int { 16 }
    /// Of a record's content, without its type (RFC 8446 section 5.1).
    static var contentMax: Int { 1 << 14 }
    /// Of what follows the header.
    static var sealedMax: Int { contentMax + 256 }
    /// Header, content, type and tag.
    static func sealedBytes(_ content: Int) -> Int { headerBytes + content + 1 + tagBytes }

    /// - Parameter sequence: how many records have gone this way under this secret.
    /// - Returns: nil if OpenSSL has no memory, or has its ciphers in another way than we know.
    init?(_ secret: consuming TrafficSecret, _ direction: Direction, after sequence: UInt64) {
        guard let methods = unsafe secret.suite.methods, let cipher = unsafe methods.pointee.make() else { return nil }
        guard let iv = unsafe Self.give(secret, to: cipher, methods.pointee, for: direction) else {
            unsafe methods.pointee.free(cipher)
            return nil
        }
        unsafe self.cipher = unsafe cipher
        unsafe self.methods = unsafe methods
        self.direction = direction
        self.secret = secret
        self.sequence = sequence
        (ivStart, ivEnd) = iv
    }

    /// See `PrefetchHints`.
    func prefetch() {
        PrefetchHints.fetch(address, lines: Self.cacheLines)
    }

    /// Where OpenSSL's cipher is in memory.
    var address: UInt { unsafe UInt(bitPattern: cipher) }

    /// Of OpenSSL's AES-GCM: nonce, state, the table of the hash and the schedule of the key, which a record needs all.
    static var cacheLines: Int32 { 15 }

    deinit {
        unsafe methods.pointee.free(cipher)
    }

    /// Goes on with the next secret (RFC 8446 section 4.6.3).
    ///
    /// - Returns: false if OpenSSL has no memory.
    mutating func update() -> Bool {
        guard let next = secret.next(), let iv = unsafe Self.give(next, to: cipher, methods.pointee, for: direction) else { return false }
        secret = next
        sequence = 0
        (ivStart, ivEnd) = iv
        return true
    }

    /// Gives the cipher the key that is made of a secret (RFC 8446 section 7.3).
    ///
    /// - Returns: the IV.
    private static func give(
        _ secret: borrowing TrafficSecret, to cipher: UnsafeMutableRawPointer, _ methods: CipherMethods, for direction: Direction
    ) -> (start: UInt32, end: UInt64)? {
        guard var key = secret.expand("key", length: secret.suite.keyLength), let iv = secret.expand("iv", length: 12) else { return nil }
        defer { unsafe OPENSSL_cleanse(&key, key.count) }
        let start = unsafe direction == .sealing ? methods.startSealing : methods.startOpening
        guard unsafe start(cipher, key, key.count, nil, 0, nil) == 1 else { return nil }
        if direction == .opening, unsafe !methods.giveTagByName(Array(repeating: 0, count: tagBytes), to: cipher) { return nil }
        return unsafe iv.withUnsafeBytes {
            unsafe ($0.loadUnaligned(as: UInt32.self), UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt64.self)))
        }
    }

    // MARK: Records

    /// Makes a record of content that stands `headerBytes` behind the start, with room for a type and a tag after it.
    ///
    /// - Returns: false if the cipher refuses, which ends the connection.
    mutating func seal(_ record: UnsafeMutableRawPointer, content: Int, of type: ContentType) -> Bool {
        unsafe seal(record, content: content, typeByte: type.rawValue)
    }

    /// - Parameter typeByte: a type, or 0 where the type stands in the content and this is its padding.
    mutating func seal(_ record: UnsafeMutableRawPointer, content: Int, typeByte: UInt8) -> Bool {
        let inner = content + 1
        unsafe record.storeBytes(of: ContentType.applicationData.rawValue, as: UInt8.self)
        unsafe record.storeBytes(of: UInt16(0x0303).bigEndian, toByteOffset: 1, as: UInt16.self)
        unsafe record.storeBytes(of: UInt16(inner + Self.tagBytes).bigEndian, toByteOffset: 3, as: UInt16.self)
        let start = unsafe (record + Self.headerBytes).assumingMemoryBound(to: UInt8.self)
        unsafe start[content] = typeByte
        var done = 0
        return unsafe begin(record, by: methods.pointee.startSealing)
            && methods.pointee.go(cipher, start, &done, inner, start, inner) == 1
            && methods.pointee.end(cipher, start + inner, &done, Self.tagBytes) == 1
            && methods.pointee.takeTag(from: cipher, to: start + inner)
    }

    /// Opens a whole record in place.
    ///
    /// - Parameter sealed: how many bytes follow its header.
    /// - Returns: the length of its content, which begins behind the header, and what it is; nil if it is not as its sender made it.
    mutating func open(_ record: UnsafeMutableRawPointer, sealed: Int) -> (content: Int, type: UInt8)? {
        var inner = sealed - Self.tagBytes
        guard inner > 0, inner <= Self.contentMax + 1 else { return nil }
        let start = unsafe (record + Self.headerBytes).assumingMemoryBound(to: UInt8.self)
        var done = 0
        guard
            unsafe begin(record, by: methods.pointee.startOpening)
                && methods.pointee.go(cipher, start, &done, inner, start, inner) == 1
                && methods.pointee.giveTag(start + inner, to: cipher)
                && methods.pointee.end(cipher, start + inner, &done, Self.tagBytes) == 1
        else { return nil }
        // Zeros behind the type are padding (section 5.4); a record of nothing else is a fault.
        while inner > 0, unsafe start[inner - 1] == 0 { inner -= 1 }
        guard inner > 0 else { return nil }
        return unsafe (inner - 1, start[inner - 1])
    }

    /// Gives the cipher this record's nonce (section 5.3) and its header, which is authenticated.
    private mutating func begin(_ record: UnsafeMutableRawPointer, by start: CipherMethods.Start) -> Bool {
        var nonce = InlineArray<12, UInt8>(repeating: 0)
        let end = ivEnd ^ sequence
        sequence += 1
        var done = 0
        return unsafe withUnsafeMutableBytes(of: &nonce) { bytes in
            unsafe bytes.storeBytes(of: ivStart, as: UInt32.self)
            unsafe bytes.storeBytes(of: end.bigEndian, toByteOffset: 4, as: UInt64.self)
            let nonce = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let header = unsafe record.assumingMemoryBound(to: UInt8.self)
            return unsafe start(cipher, nil, 0, nonce, bytes.count, nil) == 1
                && methods.pointee.go(cipher, nil, &done, Self.headerBytes, header, Self.headerBytes) == 1
        }
    }
}

/// What a record holds (RFC 8446 section 5.1). From outside all are application data.
enum ContentType: UInt8 {
    case alert = 21
    case handshake = 22
    case applicationData = 23
}

/// Why a connection ends (RFC 8446 section 6), those that are ours to send.
enum TLSAlert: UInt8 {
    case closeNotify = 0
    case unexpectedMessage = 10
    case badRecordMAC = 20
    case recordOverflow = 22
    case decodeError = 50
    case internalError = 80
}
