/// Returns `count` bytes from the system's cryptographically secure generator, suitable for keys, nonces and tokens.
package func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return Array(unsafeUninitializedCapacity: count) { bytes, written in
        while written < count {
            var word: UInt64 = generator.next()
            for _ in 0..<min(8, count - written) {
                bytes[written] = UInt8(truncatingIfNeeded: word)
                word >>= 8
                written += 1
            }
        }
    }
}

/// A seeded pseudo-random generator (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
///
/// Implemented here because the standard library does not promise the same sequence in its next version. Not for secrets: one output
/// reveals all later ones.
package struct SplitMix64: Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number in `0..<bound`. Its bias is below bound / 2⁶⁴.
    package mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "below(_:) needs a positive bound, not \(bound)")
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}
