import Glibc
import Wire

/// The key that wraps all other keys of a store. It is never stored in the store itself.
package struct MasterKey: Sendable {
    /// Identifies the key that wrapped a value: 16 hexadecimal digits, from which the key cannot be recovered.
    package let id: String
    /// The wrapping key.
    package let key: SealingKey

    package init(_ bytes: SealingKey) {
        key = bytes
        id = Hex.encode(SHA2.derivedKey(from: bytes.revealedBytes, purpose: "patchbay master key id").prefix(8))
    }

    /// Generates a key.
    package init() {
        self.init(SealingKey())
    }

    /// Parses 32 bytes as 64 hexadecimal digits or in base64 (either alphabet, padded or not), ignoring white space.
    package init?(text: SecretText) {
        let digits = text.revealedBytes.filter { !Self.whiteSpace.contains($0) }
        let bytes = digits.count == 2 * SealingKey.byteCount ? Hex.decode(digits) : Self.bytes(base64: digits)
        guard let bytes, let key = SealingKey(bytes: bytes) else { return nil }
        self.init(key)
    }

    /// The key as base64url, which `init(text:)` parses.
    package var text: SecretText { SecretText(Base64.urlSafe.encode(key.revealedBytes)) }

    private static let whiteSpace: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

    private static func bytes(base64 digits: [UInt8]) -> [UInt8]? {
        var digits = digits
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        return Base64.urlSafe.decode(
            digits.map { digit in
                switch digit {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: digit
                }
            })
    }
}

/// Why a master key could not be loaded or created.
package enum MasterKeyError: Error, Hashable, Sendable {
    /// `errno` is the reason.
    case unreadable(path: String, errno: Int32)
    case unwritable(path: String, errno: Int32)
    /// The file does not contain 32 bytes in base64 or hexadecimal digits.
    case notAKey(path: String)
}

extension MasterKeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let path, let errno): "The master key file \(path) can't be read: \(unsafe String(cString: strerror(errno)))."
        case .unwritable(let path, let errno): "The master key file \(path) can't be created: \(unsafe String(cString: strerror(errno)))."
        case .notAKey(let path): "\(path) does not contain a master key: 32 bytes in base64 or as 64 hexadecimal digits are expected."
        }
    }
}

extension MasterKey {
    /// Loads the key from the file at `path`.
    package init(file path: String) throws(MasterKeyError) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
        defer { close(descriptor) }
        // Every valid key is much shorter.
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .unreadable(path: path, errno: errno) }
        guard let key = MasterKey(text: SecretText(String(decoding: bytes.prefix(count), as: UTF8.self))) else {
            throw .notAKey(path: path)
        }
        self = key
    }

    /// Creates a key in a new file that only its owner may read.
    package static func make(file path: String) throws(MasterKeyError) -> MasterKey {
        let made = MasterKey()
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(path: path, errno: errno) }
        defer { close(descriptor) }
        let text = made.text.revealedBytes + [0x0A]
        let written = unsafe write(descriptor, text, text.count)
        // Sync before the key is used: a store without its key is lost.
        guard written == text.count, fsync(descriptor) == 0 else {
            let reason = errno
            unsafe unlink(path)
            throw .unwritable(path: path, errno: reason)
        }
        return made
    }
}
