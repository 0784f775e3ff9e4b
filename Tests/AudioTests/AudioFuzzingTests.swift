import Audio
import FuzzBodies
import OggOpus
import Testing
import Wire

struct AudioFuzzingTests {
    @Test(arguments: 0..<10)
    func mutatedAudioFilesNeverTrap(seed: Int) throws {
        var random = SplitMix64(seed: seed)
        let originals = [
            try WAVFile.write(PCMBuffer(samples: [1, 2, 3, 4])), try OggOpusTests.file([[0x78], [0x7B, 3]]), random.bytes(400),
        ]
        for round in 0..<500 { FuzzTarget.files.run([UInt8(round % 5)] + random.mutation(of: originals[round % 3])) }
    }
}
