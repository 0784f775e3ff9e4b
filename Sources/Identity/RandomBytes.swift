import COpenSSL

/// `count` bytes from OpenSSL's generator, good enough for keys.
///
/// A machine that has no randomness can keep no secret: then the process stops rather than go on with a key that can be guessed.
package func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let made = unsafe RAND_bytes(&bytes, Int32(count))
    precondition(made == 1, "OpenSSL has no random bytes")
    return bytes
}
