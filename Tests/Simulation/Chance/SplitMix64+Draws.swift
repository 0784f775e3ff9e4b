package import Wire

/// Random draws that are identical on every machine: integer and IEEE arithmetic only, no math library.
extension SplitMix64 {
    /// 0..<1, in steps of 2⁻⁵³.
    package mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Returns true with the given probability.
    package mutating func chance(_ probability: Double) -> Bool {
        unit() < probability
    }

    package mutating func between(_ low: Int, _ high: Int) -> Int {
        low + below(high - low + 1)
    }

    package mutating func between(_ low: Duration, _ high: Duration) -> Duration {
        low + .nanoseconds(Int64(unit() * Double((high - low).inNanoseconds)))
    }

    /// An exponentially distributed duration, at most 20 times the mean.
    package mutating func exponential(mean: Duration) -> Duration {
        .nanoseconds(Int64(exponential() * Double(mean.inNanoseconds)))
    }

    /// Exponential with mean 1, using comparisons of uniform numbers only (von Neumann, "Various techniques used in connection with random digits", 1951).
    private mutating func exponential() -> Double {
        var whole = 0.0
        while whole < 20 {
            let first = unit()
            var last = first
            var length = 1
            while true {
                let next = unit()
                if next >= last { break }
                last = next
                length += 1
            }
            if length % 2 == 1 { return whole + first }
            whole += 1
        }
        return whole
    }

    /// A random element; nil if there are none.
    package mutating func pick<T>(_ values: [T]) -> T? {
        values.isEmpty ? nil : values[below(values.count)]
    }

    package mutating func shuffle<T>(_ values: inout [T]) {
        guard values.count > 1 else { return }
        for last in stride(from: values.count - 1, to: 0, by: -1) { values.swapAt(last, below(last + 1)) }
    }
}
