/// SplitMix64: the same numbers on every machine and in every Swift version.
struct SeededRandom {
    private var state: UInt64

    init(seed: Int) {
        state = UInt64(truncatingIfNeeded: seed)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// 0 to `limit` - 1.
    mutating func below(_ limit: Int) -> Int {
        Int(next() % UInt64(limit))
    }

    mutating func chance(_ percent: Int) -> Bool {
        below(100) < percent
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// The bytes with one to eight changes: bits flipped, pieces cut out, doubled or overwritten, the end cut off.
    mutating func mutation(of original: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0...below(8) where !bytes.isEmpty {
            let place = below(bytes.count)
            let length = min(1 + below(64), bytes.count - place)
            switch below(6) {
            case 0: bytes[place] ^= 1 << UInt8(below(8))
            case 1: bytes[place] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][below(6)]
            case 2: bytes.removeSubrange(place..<(place + length))
            case 3: bytes.insert(contentsOf: bytes[place..<(place + length)], at: below(bytes.count))
            case 4: bytes.replaceSubrange(place..<(place + length), with: self.bytes(length))
            default: bytes.removeLast(min(bytes.count - place, 1 + below(bytes.count)))
            }
        }
        return bytes
    }
}
