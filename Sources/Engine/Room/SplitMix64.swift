/// Numbers that look like chance and come from a seed alone (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014). Ours, because the standard library does not promise the same sequence in its next version.
///
/// Good for names. Not for secrets: who knows one number knows all that follow.
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

    /// A number in 0..<bound. Its bias is under bound / 2⁶⁴.
    package mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "there is no number below \(bound)")
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}
