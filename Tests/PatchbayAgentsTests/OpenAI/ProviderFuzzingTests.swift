import FuzzBodies
import Testing
import Wire

struct ProviderFuzzingTests {
    /// The fuzzer's body also checks that no answer depends on how it is cut.
    @Test(arguments: 0..<20 as Range<UInt64>) func mutatedAnswersNeverTrap(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let seeds = FuzzTarget.providers.seeds
        for _ in 0..<300 {
            var bytes = seeds[random.below(seeds.count)]
            bytes[1] = UInt8(random.below(40))
            for _ in 0..<random.below(6) {
                let position = 2 + random.below(bytes.count - 2)
                switch random.below(4) {
                case 0: bytes[position] = UInt8(random.below(256))
                case 1: bytes.insert(contentsOf: Array("\r\n{}\"0".utf8).prefix(random.below(7)), at: position)
                case 2: bytes.removeSubrange(position..<min(position + random.below(9), bytes.count))
                default: bytes += bytes[position...].prefix(40)
                }
                if bytes.count < 4 { break }
            }
            FuzzTarget.providers.run(bytes)
        }
    }
}
