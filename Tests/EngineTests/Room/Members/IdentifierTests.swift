import Testing
import Wire

@testable import Engine

struct IdentifierGeneratorTests {
    @Test func identifiersHaveLiveKitPrefixes() {
        var source = IdentifierGenerator(seed: 7)
        for (name, prefix) in [
            (source.participant().text, "PA_"), (source.track().text, "TR_AM"), (source.text(), "TX_"), (source.procedureCall(), "RPC_"),
        ] {
            #expect(name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 12)
            #expect(name.utf8.dropFirst(prefix.utf8.count).allSatisfy(IdentifierGenerator.alphabet.contains))
        }
    }

    @Test func alphabetHasNoLookAlikes() {
        #expect(Set(IdentifierGenerator.alphabet).count == 57)
        #expect(!"0O1Il".utf8.contains(where: IdentifierGenerator.alphabet.contains))
    }

    @Test func identifiersAreUnique() {
        var source = IdentifierGenerator(seed: 7)
        #expect(Set((0..<10_000).map { _ in source.track() }).count == 10_000)
    }
}

struct SplitMix64Tests {
    /// The published sequence for the seed 1234567 (Rosetta Code, Java's `SplittableRandom`).
    @Test func generatorMatchesThePublishedSequence() {
        var numbers = SplitMix64(seed: 1_234_567)
        #expect(
            (0..<5).map { _ in numbers.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ])
    }

    @Test func boundedNumbersCoverTheRange() {
        var numbers = SplitMix64(seed: 1)
        #expect(Set((0..<1_000).map { _ in numbers.below(10) }) == Set(0..<10))
        #expect(numbers.below(1) == 0)
    }
}

struct TrackAliasAllocatorTests {
    @Test func aliasesCountUpFromOne() {
        var source = TrackAliasAllocator()
        #expect(source.allocate() == TrackAlias(1))
        source.release(TrackAlias(1))
        #expect(source.allocate() == TrackAlias(2))
    }

    @Test func wrappedAliasesSkipThoseInUse() {
        var source = TrackAliasAllocator()
        for value in 1...UInt16.max {
            #expect(source.allocate() == TrackAlias(value))
            if value > 2 { source.release(TrackAlias(value)) }
        }
        #expect(source.allocate() == TrackAlias(3))
    }

    @Test func allocationFailsWhenAllAliasesAreInUse() {
        var source = TrackAliasAllocator()
        for _ in 1...UInt16.max { _ = source.allocate() }
        #expect(source.allocate() == nil)
        source.release(TrackAlias(500))
        #expect(source.allocate() == TrackAlias(500))
    }
}
