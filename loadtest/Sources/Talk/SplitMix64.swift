internal import Foundation

/// Chance that comes from a seed alone (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014), so that a run can
/// be repeated. Not for secrets.
struct SplitMix64: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// A generator of its own for the `index`-th of many things that share a seed.
    init(seed: UInt64, index: Int) {
        var mixer = SplitMix64(seed: seed &+ UInt64(bitPattern: Int64(index)) &* 0xd134_2543_de82_ef95)
        state = mixer.next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// 0 ≤ x < 1.
    mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// True in `share` of all cases.
    mutating func chance(_ share: Double) -> Bool {
        unit() < share
    }

    /// A stay that has no memory, in the unit of `mean`.
    mutating func exponential(mean: Double) -> Double {
        -mean * log(1 - unit())
    }
}
