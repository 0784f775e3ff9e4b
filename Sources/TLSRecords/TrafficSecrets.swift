internal import COpenSSL
internal import Glibc

/// Bytes that must not outlive their use: on the heap, never copied by the compiler, overwritten before they are freed.
@safe struct SecretBytes: ~Copyable {
    let start: UnsafeMutablePointer<UInt8>
    let count: Int
    private let isOwned: Bool

    /// Zeros.
    init(count: Int) {
        unsafe start = .allocate(capacity: count)
        unsafe start.initialize(repeating: 0, count: count)
        self.count = count
        isOwned = true
    }

    /// Uses memory of the caller, which stays valid and allocated for longer.
    init(in storage: UnsafeMutableBufferPointer<UInt8>) {
        unsafe start = storage.baseAddress!
        count = storage.count
        isOwned = false
    }

    deinit {
        unsafe OPENSSL_cleanse(start, count)
        if isOwned { unsafe start.deallocate() }
    }
}

/// The traffic secret of one direction (RFC 8446 section 7.1) and the write IV derived from it, in wiped memory.
@safe struct TrafficSecret: ~Copyable {
    let suite: CipherSuite
    /// The secret in the first 48 bytes, the IV in the 12 that follow: together one cache line.
    private let bytes: SecretBytes

    private static var ivOffset: Int { 48 }
    private static var ivLength: Int { 12 }
    static var storageBytes: Int { 64 }

    /// - Returns: nil if `secret` is not as long as the suite's hash.
    init?(
        copying secret: borrowing SecretBytes, of suite: CipherSuite, in storage: consuming SecretBytes = SecretBytes(count: storageBytes)
    ) {
        guard secret.count == suite.hashLength else { return nil }
        unsafe storage.start.update(from: secret.start, count: secret.count)
        self.suite = suite
        bytes = storage
    }

    /// HKDF-Expand-Label with an empty context (RFC 8446 section 7.1). TLS never needs more than one block of the hash, so
    /// HKDF-Expand (RFC 5869 section 2.3) is a single HMAC.
    ///
    /// - Parameter length: bytes, at most `suite.hashLength`.
    /// - Returns: nil if OpenSSL is out of memory.
    func expand(_ label: String, length: Int) -> SecretBytes? {
        let full = "tls13 " + label
        let info = [0, UInt8(length), UInt8(full.utf8.count)] + Array(full.utf8) + [0, 1]
        let block = SecretBytes(count: 64)
        guard unsafe HMAC(suite.hash, bytes.start, Int32(suite.hashLength), info, info.count, block.start, nil) != nil else { return nil }
        let output = SecretBytes(count: length)
        unsafe output.start.update(from: block.start, count: length)
        return output
    }

    /// Replaces the secret by the one that follows a KeyUpdate (RFC 8446 section 7.2).
    ///
    /// - Returns: false if OpenSSL is out of memory.
    func advance() -> Bool {
        guard let next = expand("traffic upd", length: suite.hashLength) else { return false }
        unsafe bytes.start.update(from: next.start, count: next.count)
        return true
    }

    /// Derives the write IV (RFC 8446 section 7.3).
    func deriveIV() -> Bool {
        guard let iv = expand("iv", length: Self.ivLength) else { return false }
        unsafe (bytes.start + Self.ivOffset).update(from: iv.start, count: iv.count)
        return true
    }

    /// Writes the 12 bytes of a record's nonce (RFC 8446 section 5.3).
    func writeNonce(for sequence: UInt64, to nonce: UnsafeMutableRawPointer) {
        let iv = unsafe UnsafeRawPointer(bytes.start) + Self.ivOffset
        unsafe nonce.storeBytes(of: iv.loadUnaligned(as: UInt32.self), as: UInt32.self)
        let end = unsafe iv.loadUnaligned(fromByteOffset: 4, as: UInt64.self)
        unsafe nonce.storeBytes(of: end ^ sequence.bigEndian, toByteOffset: 4, as: UInt64.self)
    }
}

/// The result of a TLS 1.3 handshake: both traffic secrets and the number of records under each.
///
/// OpenSSL reports the secrets through `SSL_CTX_set_keylog_callback`, each when it comes into use, and every record and handshake message
/// through `SSL_CTX_set_msg_callback`.
@safe package final class HandshakeSecrets: SSLAttachment {
    private(set) var client = SecretBytes(count: 0)
    private(set) var server = SecretBytes(count: 0)
    /// Records read under the peer's secret and written under ours.
    private(set) var opened: UInt64 = 0
    private(set) var sealed: UInt64 = 0
    /// Either side has changed its key, so the recorded secrets are no longer in use.
    private(set) var sawKeyUpdate = false

    func copySecret(ofServer: Bool, of suite: CipherSuite) -> TrafficSecret? {
        if ofServer { return TrafficSecret(copying: server, of: suite) }
        return TrafficSecret(copying: client, of: suite)
    }

    /// Records the secrets of all handshakes of this `SSL_CTX`.
    package static func record(of context: OpaquePointer) {
        unsafe SSL_CTX_set_keylog_callback(context) { ssl, line in
            guard let ssl = unsafe ssl, let line = unsafe line else { return }
            let bytes = unsafe UnsafeRawBufferPointer(start: line, count: strlen(line))
            unsafe HandshakeSecrets.of(ssl, makeNew: true)?.note(bytes, isServer: SSL_is_server(ssl) == 1)
        }
        unsafe SSL_CTX_set_msg_callback(context) { isWritten, _, type, bytes, count, ssl, _ in
            guard let ssl = unsafe ssl, let notes = unsafe HandshakeSecrets.of(ssl, makeNew: false) else { return }
            switch type {
            case SSL3_RT_HEADER: if isWritten == 1 { notes.sealed += 1 } else { notes.opened += 1 }
            case SSL3_RT_HANDSHAKE where unsafe count > 0 && bytes?.load(as: UInt8.self) == HandshakeMessage.keyUpdate:
                notes.sawKeyUpdate = true
            default: break
            }
        }
    }

    /// Wipes the secrets recorded for a connection.
    package static func drop(of ssl: OpaquePointer) {
        unsafe SSL_set_msg_callback(ssl, nil)
        unsafe slot.release(of: ssl)
    }

    static func of(_ ssl: OpaquePointer) -> HandshakeSecrets? { unsafe of(ssl, makeNew: false) }

    private static func of(_ ssl: OpaquePointer, makeNew: Bool) -> HandshakeSecrets? {
        if let notes = unsafe slot.object(of: ssl) { return unsafe notes.takeUnretainedValue() }
        guard makeNew else { return nil }
        let notes = HandshakeSecrets()
        return unsafe slot.retain(notes, for: ssl) ? notes : nil
    }

    private static let slot = SSLAttachmentSlot<HandshakeSecrets>()

    /// Reads a line of the NSS key log format (label, client random, secret) in place, so that no copy remains.
    private func note(_ line: UnsafeRawBufferPointer, isServer: Bool) {
        let parts = unsafe line.split(separator: UInt8(ascii: " "))
        guard unsafe parts.count == 3 else { return }
        if unsafe parts[0].elementsEqual("CLIENT_TRAFFIC_SECRET_0".utf8) {
            client = unsafe Self.bytes(ofHex: parts[2])
            if isServer { opened = 0 } else { sealed = 0 }
        } else if unsafe parts[0].elementsEqual("SERVER_TRAFFIC_SECRET_0".utf8) {
            server = unsafe Self.bytes(ofHex: parts[2])
            if isServer { sealed = 0 } else { opened = 0 }
        }
    }

    static func bytes(ofHex digits: Slice<UnsafeRawBufferPointer>) -> SecretBytes {
        let output = unsafe SecretBytes(count: digits.count / 2)
        let start = unsafe digits.startIndex
        for index in 0..<output.count {
            unsafe output.start[index] = unsafe value(of: digits[start + 2 * index]) << 4 | value(of: digits[start + 2 * index + 1])
        }
        return output
    }

    private static func value(of digit: UInt8) -> UInt8 {
        digit <= UInt8(ascii: "9") ? digit &- UInt8(ascii: "0") : (digit | 0x20) &- UInt8(ascii: "a") &+ 10
    }
}

// MARK: Objects attached to an SSL

/// An object that an `SSL` retains.
protocol SSLAttachment: AnyObject {}

/// A slot of OpenSSL's application data (`SSL_set_ex_data`) that holds one retained object per `SSL`.
@safe final class SSLAttachmentSlot<Object: SSLAttachment>: Sendable {
    /// -1 if OpenSSL has no slot left.
    private let index: Int32

    /// OpenSSL never frees a slot: create each only once per process.
    init() {
        index = unsafe CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, nil, nil, nil) { _, object, _, _, _, _ in
            if let object = unsafe object { unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
        }
    }

    func object(of ssl: OpaquePointer) -> Unmanaged<Object>? {
        unsafe SSL_get_ex_data(ssl, index).map { unsafe Unmanaged<Object>.fromOpaque($0) }
    }

    /// - Returns: false if there is no slot or no memory.
    func retain(_ object: Object, for ssl: OpaquePointer) -> Bool {
        unsafe release(of: ssl)
        let held = unsafe Unmanaged.passRetained(object)
        guard index >= 0, unsafe SSL_set_ex_data(ssl, index, held.toOpaque()) == 1 else {
            unsafe held.release()
            return false
        }
        return true
    }

    func release(of ssl: OpaquePointer) {
        guard let held = unsafe object(of: ssl) else { return }
        unsafe SSL_set_ex_data(ssl, index, nil)
        unsafe held.release()
    }
}
