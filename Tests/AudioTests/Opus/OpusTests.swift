import Audio
import Testing
import Wire

@Suite struct OpusTests {
    /// The recording through the codec, its delay taken off.
    private func throughCodec(
        _ sound: PCMBuffer, bitsPerSecond: Int = 32_000, milliseconds: Int = 20, application: OpusEncoder.Application = .audio
    ) throws -> [Int16] {
        var encoder = try OpusEncoder(application: application, bitsPerSecond: bitsPerSecond)
        var decoder = try OpusDecoder()
        var decoded: [Int16] = []
        for frame in sound.frames(milliseconds: milliseconds) {
            decoded += try decoder.decode(try encoder.encode(frame))
        }
        return Array(decoded.dropFirst(encoder.lookahead))
    }

    @Test(arguments: [(24_000, 0.94), (32_000, 0.94), (64_000, 0.99)])
    func aSentenceKeepsItsShapeThroughTheCodec(bitsPerSecond: Int, leastCorrelation: Double) throws {
        let sound = try Sound.goForward()
        let decoded = try throughCodec(sound, bitsPerSecond: bitsPerSecond)
        #expect(abs(decoded.count - sound.frameCount) < 1_920)
        #expect(Sound.correlation(sound.samples[...], decoded[...]) > leastCorrelation)
    }

    @Test func theSpeechSettingKeepsTheVoiceButNotTheRumbleBelowIt() throws {
        let sound = try Sound.goForward()
        let decoded = try throughCodec(sound, application: .voip)
        // Its high-pass filter takes away a seventh of this recording's energy and turns the phase of what lies just above.
        #expect((0.7..<0.9).contains(Sound.correlation(sound.samples[...], decoded[...])))
    }

    @Test func transformCodingAtAHighRateIsFaithfulSampleBySample() throws {
        let sound = try Sound.goForward()
        let decoded = try throughCodec(sound, bitsPerSecond: 128_000, application: .audio)
        #expect(Sound.signalToNoise(sound.samples[...], decoded[...]) > 15)
    }

    @Test(arguments: [5, 10, 20, 40, 60, 80, 100, 120])
    func everyFrameLengthSurvives(milliseconds: Int) throws {
        let sound = try Sound.goForward()
        let decoded = try throughCodec(sound, milliseconds: milliseconds)
        #expect(decoded.count >= sound.frameCount - 312)
        #expect(Sound.correlation(sound.samples[...], decoded[...]) > 0.9)
    }

    @Test func stereoKeepsItsSidesApart() throws {
        let tone = Sound.sine(hertz: 440, peak: 0.5, samples: 9_600)
        var encoder = try OpusEncoder(channels: 2, application: .audio, bitsPerSecond: 96_000)
        var decoder = try OpusDecoder(channels: 2)
        var decoded: [Int16] = []
        for frame in PCMBuffer(samples: tone.flatMap { [$0, 0] }, channels: 2).frames(milliseconds: 20) {
            decoded += try decoder.decode(try encoder.encode(frame))
        }
        let left = stride(from: 0, to: decoded.count, by: 2).map { decoded[$0] }
        let right = stride(from: 1, to: decoded.count, by: 2).map { decoded[$0] }
        #expect(Sound.rootMeanSquare(left.dropFirst(2_400)) > 20 * Sound.rootMeanSquare(right.dropFirst(2_400)))
    }

    @Test func aPacketMayFollowAHeaderInTheSameBuffer() throws {
        var encoder = try OpusEncoder()
        var message: [UInt8] = [1, 2, 3]
        let frame = [Int16](repeating: 100, count: 960)
        let length = try encoder.encode(frame.span, appendingTo: &message)
        #expect(message.starts(with: [1, 2, 3]))
        #expect(message.count == 3 + length)
    }

    @Test func dtxPacketsOfSilenceAreTiny() throws {
        var encoder = try OpusEncoder(bitsPerSecond: 24_000, dtx: true)
        let silence = [Int16](repeating: 0, count: 960)
        let lengths = try (0..<100).map { _ in try encoder.encode(silence).count }
        #expect(lengths.filter { OpusPacket.isDTX(byteCount: $0) }.count > 80)
    }

    @Test func aLostPacketIsConcealedWithSoundThatFadesOut() throws {
        let sound = try Sound.goForward()
        var encoder = try OpusEncoder(bitsPerSecond: 32_000)
        var decoder = try OpusDecoder()
        var last: [Int16] = []
        // After 0.9 s the speaker is in the middle of a vowel.
        for frame in sound.frames(milliseconds: 20).prefix(44) { last = try decoder.decode(try encoder.encode(frame)) }
        let concealed = try (0..<50).map { _ in try decoder.conceal(samples: 960) }
        #expect(Sound.rootMeanSquare(last) > 1_000)
        #expect(Sound.rootMeanSquare(concealed[0]) > Sound.rootMeanSquare(last) / 4)
        #expect(Sound.rootMeanSquare(concealed[49]) < Sound.rootMeanSquare(last) / 20)
        #expect(concealed.allSatisfy { $0.count == 960 })
    }

    @Test func inbandFECRecoversMoreThanConcealment() throws {
        let frames = try Sound.goForward().frames(milliseconds: 20)
        var encoder = try OpusEncoder(bitsPerSecond: 32_000, inbandFEC: true, expectedLossPercent: 30)
        let packets = try frames.map { try encoder.encode($0) }
        var (whole, rebuilt, invented): ([Int16], [Int16], [Int16]) = ([], [], [])
        var all = try OpusDecoder()
        var withFEC = try OpusDecoder()
        var withoutFEC = try OpusDecoder()
        for (index, packet) in packets.enumerated() {
            whole += try all.decode(packet)
            if index % 4 == 3, index + 1 < packets.count {
                rebuilt += try withFEC.recover(samples: 960, from: packets[index + 1])
                invented += try withoutFEC.conceal(samples: 960)
            } else {
                rebuilt += try withFEC.decode(packet)
                invented += try withoutFEC.decode(packet)
            }
        }
        #expect(rebuilt.count == whole.count)
        #expect(Sound.correlation(whole[...], rebuilt[...]) > Sound.correlation(whole[...], invented[...]) + 0.02)
    }

    @Test func aResetEncoderRepeatsItself() throws {
        let frames = try Sound.goForward().frames(milliseconds: 20)
        var encoder = try OpusEncoder(bitsPerSecond: 24_000)
        let first = try frames.map { try encoder.encode($0) }
        encoder.reset()
        #expect(try frames.map { try encoder.encode($0) } == first)
    }

    @Test func encodersRejectInvalidSettings() throws {
        #expect(throws: OpusError.sampleRate(44_100)) { _ = try OpusEncoder(sampleRate: 44_100) }
        #expect(throws: OpusError.channels(3)) { _ = try OpusEncoder(channels: 3) }
        #expect(throws: OpusError.setting("complexity", 11, allowed: 0...10)) { _ = try OpusEncoder(complexity: 11) }
        #expect(throws: OpusError.setting("bitsPerSecond", 100, allowed: 6_000...510_000)) {
            _ = try OpusEncoder(bitsPerSecond: 100)
        }
        #expect(throws: OpusError.frameLength(samples: 961)) {
            var encoder = try OpusEncoder()
            _ = try encoder.encode([Int16](repeating: 0, count: 961))
        }
        #expect(throws: OpusError.frameLength(samples: 0)) {
            var encoder = try OpusEncoder()
            _ = try encoder.encode([])
        }
    }

    @Test func decoderRejectsInvalidPacketsAndContinues() throws {
        var decoder = try OpusDecoder()
        #expect(throws: OpusError.packet(.empty)) { _ = try decoder.decode([]) }
        #expect(throws: OpusError.packet(.frameCount)) { _ = try decoder.decode([3, 0]) }
        #expect(throws: OpusError.frameLength(samples: 100)) { _ = try decoder.conceal(samples: 100) }
        #expect(try decoder.conceal(samples: 5_760).count == 5_760)
    }

    @Test(arguments: 0..<8)
    func randomPacketsDecodeOrFail(seed: Int) throws {
        var random = SplitMix64(seed: seed)
        var decoder = try OpusDecoder(channels: 2)
        for _ in 0..<500 {
            let packet = random.bytes(random.below(200))
            do {
                let samples = try decoder.decode(packet).count / 2
                #expect(samples == (try OpusPacket(packet).ticks))
            } catch let error as OpusError {
                guard case .packet = error else { throw error }
            }
        }
    }

    @Test(arguments: [8_000, 12_000, 16_000, 24_000, 48_000])
    func thePreSkipIsTheSameTimeAtEveryRate(sampleRate: Int) throws {
        let encoder = try OpusEncoder(sampleRate: sampleRate)
        #expect(encoder.preSkip == encoder.lookahead * 48_000 / sampleRate)
        #expect((100...600).contains(encoder.preSkip))
    }
}
