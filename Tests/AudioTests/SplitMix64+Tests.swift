import Wire

extension SplitMix64 {
    init(seed: Int) {
        self.init(seed: UInt64(truncatingIfNeeded: seed))
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
            let start = below(bytes.count)
            let length = min(1 + below(64), bytes.count - start)
            switch below(6) {
            case 0: bytes[start] ^= 1 << UInt8(below(8))
            case 1: bytes[start] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][below(6)]
            case 2: bytes.removeSubrange(start..<(start + length))
            case 3: bytes.insert(contentsOf: bytes[start..<(start + length)], at: below(bytes.count))
            case 4: bytes.replaceSubrange(start..<(start + length), with: self.bytes(length))
            default: bytes.removeLast(min(bytes.count - start, 1 + below(bytes.count)))
            }
        }
        return bytes
    }
}
