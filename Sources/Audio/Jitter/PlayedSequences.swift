internal import Wire

/// Which of the last 64 sequence numbers before the current one were played, to tell a duplicate from a late frame.
struct PlayedSequences {
    /// Bit 0 is `newest`, bit n the number n before it.
    private var played: UInt64 = 0
    private var newest: SequenceNumber?

    /// Numbers rise; after a jump far ahead, or so far that it looks like one back, the past does not matter.
    mutating func insert(_ sequence: SequenceNumber) {
        let steps = newest.map { sequence.distance(from: $0) } ?? 64
        played = (0..<64).contains(steps) ? played << UInt64(steps) | 1 : 1
        newest = sequence
    }

    func contains(_ sequence: SequenceNumber) -> Bool {
        guard let newest else { return false }
        let age = newest.distance(from: sequence)
        return (0..<64).contains(age) && played >> UInt64(age) & 1 == 1
    }
}
