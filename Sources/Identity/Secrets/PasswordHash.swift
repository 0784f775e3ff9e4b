import COpenSSL
import Wire

/// A password hash: scrypt (RFC 7914) with its parameters, so that they can be raised without invalidating old hashes.
///
/// Text form: `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`, the last two in base64url. Hashing takes 32 MiB and about 0.1 s with the standard
/// parameters, so it must not run on an event loop.
package struct PasswordHash: Sendable, Hashable {
    /// scrypt's parameters.
    package struct Cost: Sendable, Hashable {
        /// Base-2 logarithm of the number of blocks, 10 to 20.
        package var logBlocks: Int
        /// Block size, 1 to 16.
        package var blockSize: Int
        /// 1 to 4.
        package var parallelism: Int

        /// OWASP's recommendation for 32 MiB.
        package static let standard = Cost(logBlocks: 15, blockSize: 8, parallelism: 1)

        package init(logBlocks: Int, blockSize: Int, parallelism: Int) {
            self.logBlocks = logBlocks
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// Limits the memory that a stored text can request to 2 GiB.
        fileprivate var isSensible: Bool { 10...20 ~= logBlocks && 1...16 ~= blockSize && 1...4 ~= parallelism }
    }

    package let cost: Cost
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Hashes a password with a new salt of 16 bytes.
    package init(of password: SecretText, cost: Cost = .standard) {
        precondition(cost.isSensible, "scrypt parameters are out of range")
        self.cost = cost
        salt = randomBytes(16)
        hash = Self.scrypt(password, salt: salt, cost: cost)
    }

    /// Whether this is the hash of `password`. Constant time.
    package func matches(_ password: SecretText) -> Bool {
        areEqualInConstantTime(Self.scrypt(password, salt: salt, cost: cost), hash)
    }

    private static func scrypt(_ password: SecretText, salt: [UInt8], cost: Cost) -> [UInt8] {
        preservingErrorQueue {
            var key = [UInt8](repeating: 0, count: 32)
            // A null pointer would make OpenSSL only validate its parameters, and an empty array may have no address.
            let password = password.revealedBytes + [0]
            let made = unsafe password.withUnsafeBytes { bytes in
                unsafe EVP_PBE_scrypt(
                    bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count - 1, salt, salt.count, 1 << UInt64(cost.logBlocks),
                    UInt64(cost.blockSize), UInt64(cost.parallelism), 3 << 30, &key, key.count)
            }
            precondition(made == 1, "OpenSSL does not provide scrypt, or is out of memory")
            return key
        }
    }
}

extension PasswordHash {
    package var text: String {
        "$scrypt$ln=\(cost.logBlocks),r=\(cost.blockSize),p=\(cost.parallelism)$\(Base64.urlSafe.encode(salt))$\(Base64.urlSafe.encode(hash))"
    }

    /// - Returns: nil for text that `text` never produces.
    package init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else { return nil }
        let numbers = parts[2].split(separator: ",")
        guard
            numbers.count == 3, let logBlocks = Self.number(numbers[0], named: "ln"), let blockSize = Self.number(numbers[1], named: "r"),
            let parallelism = Self.number(numbers[2], named: "p")
        else { return nil }
        let cost = Cost(logBlocks: logBlocks, blockSize: blockSize, parallelism: parallelism)
        guard
            cost.isSensible, let salt = Base64.urlSafe.decode(parts[3].utf8), !salt.isEmpty,
            let hash = Base64.urlSafe.decode(parts[4].utf8),
            hash.count == 32
        else { return nil }
        self.cost = cost
        self.salt = salt
        self.hash = hash
    }

    private static func number(_ text: Substring, named name: String) -> Int? {
        guard text.hasPrefix(name + "=") else { return nil }
        return Int(text.dropFirst(name.count + 1))
    }
}

extension PasswordHash: CustomStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
