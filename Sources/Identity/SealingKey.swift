import Wire

/// A key for `SealedBox`: 256 bits that must never be seen.
package struct SealingKey: Sendable {
    package static let byteCount = 32

    package let revealedBytes: [UInt8]

    /// A new one.
    package init() {
        revealedBytes = randomBytes(Self.byteCount)
    }

    /// - Returns: nil unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        revealedBytes = bytes
    }

    /// A key for one purpose, from which this one can't be found.
    package func derived(for purpose: String) -> SealingKey {
        SealingKey(derived: SHA2.derivedKey(from: revealedBytes, purpose: purpose))
    }

    private init(derived bytes: [UInt8]) {
        revealedBytes = bytes
    }
}

extension SealingKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var debugDescription: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
