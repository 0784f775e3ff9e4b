internal import COpenSSL
internal import Glibc

/// What is needed to go on with a TLS 1.3 connection where OpenSSL stands after the handshake: both secrets, and how many records have gone
/// each way under them.
///
/// OpenSSL tells the secrets as it does to debuggers (`SSL_CTX_set_keylog_callback`), each at the moment from which on it is used, and
/// each record that it makes or takes (`SSL_CTX_set_msg_callback`).
@safe final class HandshakeNotes: SSLGuest {
    private(set) var clientSecret: [UInt8] = []
    private(set) var serverSecret: [UInt8] = []
    /// Records read and written under the peer's and our own.
    private(set) var opened: UInt64 = 0
    private(set) var sealed: UInt64 = 0

    deinit {
        unsafe OPENSSL_cleanse(&clientSecret, clientSecret.count)
        unsafe OPENSSL_cleanse(&serverSecret, serverSecret.count)
    }

    /// Has notes taken of all handshakes of this context.
    static func take(of context: OpaquePointer) {
        unsafe SSL_CTX_set_keylog_callback(context) { ssl, line in
            guard let ssl = unsafe ssl, let line = unsafe line else { return }
            let bytes = unsafe UnsafeRawBufferPointer(start: line, count: strlen(line))
            unsafe HandshakeNotes.of(ssl, makeNew: true)?.note(bytes, isServer: SSL_is_server(ssl) == 1)
        }
        unsafe SSL_CTX_set_msg_callback(context) { isWritten, _, type, _, _, ssl, _ in
            guard type == SSL3_RT_HEADER, let ssl = unsafe ssl, let notes = unsafe HandshakeNotes.of(ssl, makeNew: false) else { return }
            if isWritten == 1 { notes.sealed += 1 } else { notes.opened += 1 }
        }
    }

    /// Nobody needs them any more.
    static func drop(of ssl: OpaquePointer) {
        unsafe SSL_set_msg_callback(ssl, nil)
        unsafe place.release(of: ssl)
    }

    static func of(_ ssl: OpaquePointer) -> HandshakeNotes? { unsafe of(ssl, makeNew: false) }

    private static func of(_ ssl: OpaquePointer, makeNew: Bool) -> HandshakeNotes? {
        if let notes = unsafe place.object(of: ssl) { return unsafe notes.takeUnretainedValue() }
        guard makeNew else { return nil }
        let notes = HandshakeNotes()
        return unsafe place.retain(notes, for: ssl) ? notes : nil
    }

    private static let place = SSLPlace<HandshakeNotes>()

    /// A line of the NSS key log format: label, the client's random number, the secret. Read where it stands, so that no copy is left.
    private func note(_ line: UnsafeRawBufferPointer, isServer: Bool) {
        let parts = unsafe line.split(separator: UInt8(ascii: " "))
        guard unsafe parts.count == 3 else { return }
        if unsafe parts[0].elementsEqual("CLIENT_TRAFFIC_SECRET_0".utf8) {
            clientSecret = unsafe Self.bytes(ofHex: parts[2])
            if isServer { opened = 0 } else { sealed = 0 }
        } else if unsafe parts[0].elementsEqual("SERVER_TRAFFIC_SECRET_0".utf8) {
            serverSecret = unsafe Self.bytes(ofHex: parts[2])
            if isServer { sealed = 0 } else { opened = 0 }
        }
    }

    private static func bytes(ofHex digits: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        let start = unsafe digits.startIndex
        return unsafe (0..<digits.count / 2).map {
            unsafe value(of: digits[start + 2 * $0]) << 4 | value(of: digits[start + 2 * $0 + 1])
        }
    }

    private static func value(of digit: UInt8) -> UInt8 {
        digit <= UInt8(ascii: "9") ? digit &- UInt8(ascii: "0") : (digit | 0x20) &- UInt8(ascii: "a") &+ 10
    }
}
