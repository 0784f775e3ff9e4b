import Wire

extension SplitMix64 {
    init(seed: Int) {
        self.init(seed: UInt64(truncatingIfNeeded: seed))
    }

    mutating func chance(_ percent: Double) -> Bool {
        Double(next() >> 11) / 9_007_199_254_740_992 * 100 < percent
    }
}
