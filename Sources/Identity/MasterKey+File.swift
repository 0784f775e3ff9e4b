import Glibc

/// Why there is no master key.
package enum MasterKeyError: Error, Hashable, Sendable {
    /// `errno` tells why.
    case unreadable(path: String, errno: Int32)
    case unwritable(path: String, errno: Int32)
    /// It holds something else than 32 bytes in base64 or hexadecimal digits.
    case notAKey(path: String)
}

extension MasterKeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let path, let errno): "The master key's file \(path) can't be read: \(unsafe String(cString: strerror(errno)))."
        case .unwritable(let path, let errno): "The master key's file \(path) can't be made: \(unsafe String(cString: strerror(errno)))."
        case .notAKey(let path): "\(path) holds no master key: 32 bytes in base64 or as 64 hexadecimal digits are expected."
        }
    }
}

extension MasterKey {
    /// The key in the file at `path`.
    package init(file path: String) throws(MasterKeyError) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
        defer { close(descriptor) }
        // Any key's text is shorter by far; more is something else.
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .unreadable(path: path, errno: errno) }
        guard let key = MasterKey(text: SecretText(String(decoding: bytes.prefix(count), as: UTF8.self))) else {
            throw .notAKey(path: path)
        }
        self = key
    }

    /// A new key, written to a file that only its owner may read, and that did not exist.
    package static func make(file path: String) throws(MasterKeyError) -> MasterKey {
        let made = MasterKey()
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(path: path, errno: errno) }
        defer { close(descriptor) }
        let text = made.text.revealedBytes + [0x0A]
        let written = unsafe write(descriptor, text, text.count)
        // Whoever has a store and no key has nothing: so the key is on the disk first.
        guard written == text.count, fsync(descriptor) == 0 else {
            let reason = errno
            unsafe unlink(path)
            throw .unwritable(path: path, errno: reason)
        }
        return made
    }
}
