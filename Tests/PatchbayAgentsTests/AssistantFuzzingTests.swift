import FuzzBodies
import Testing
import Wire

struct AssistantFuzzingTests {
    /// The fuzzer's body also checks that what was parsed survives a round trip.
    @Test(arguments: 0..<20 as Range<UInt64>) func mutatedMessagesNeverTrap(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let seeds = FuzzTarget.assistants.seeds
        for _ in 0..<500 {
            var bytes = seeds[random.below(seeds.count)]
            for _ in 0...random.below(4) {
                let position = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[position] = UInt8(random.below(256))
                case 1: bytes.insert(contentsOf: Array("9\"{}e-".utf8).prefix(random.below(7)), at: position)
                case 2: bytes.removeSubrange(position..<min(position + random.below(4), bytes.count))
                default: bytes[position] = UInt8(ascii: "0") + UInt8(random.below(10))
                }
                if bytes.isEmpty { break }
            }
            FuzzTarget.assistants.run(bytes)
        }
    }
}
