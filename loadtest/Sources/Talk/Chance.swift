internal import Foundation
import Wire

/// What a simulated conversation draws. From a seed alone, so that a run can be repeated.
extension SplitMix64 {
    /// A generator of its own for the `index`-th of many things that share a seed.
    init(seed: UInt64, index: Int) {
        var mixer = SplitMix64(seed: seed &+ UInt64(bitPattern: Int64(index)) &* 0xd134_2543_de82_ef95)
        self.init(seed: mixer.next())
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
