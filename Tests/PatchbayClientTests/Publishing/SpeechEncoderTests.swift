import Audio
import Testing
import Wire

@testable import PatchbayClient

struct SpeechEncoderTests {
    private let silence = [Int16](repeating: 0, count: 48_000)
    private let tone = Sound.tone(milliseconds: 1_000).samples

    private func encode(_ pieces: [[Int16]], _ settings: SpeechSettings = SpeechSettings()) throws -> [SpokenFrame] {
        var encoder = try SpeechEncoder(settings)
        var frames: [SpokenFrame] = []
        for piece in pieces { frames += try encoder.encode(piece) }
        return frames + (try encoder.finish())
    }

    @Test func talkspurtsAreDetected() throws {
        let frames = try encode([silence, tone, silence])
        #expect(frames.count == 150)
        let starts = frames.indices.filter { frames[$0].flags.contains(.talkspurtStart) }
        let ends = frames.indices.filter { frames[$0].flags.contains(.talkspurtEnd) }
        #expect(starts == [50])
        // The detector's hangover is 200 ms.
        #expect(ends.count == 1 && 105...112 ~= ends[0])
        #expect(frames[60].level.isVoice)
        #expect(frames[60].level.level < 40)
        #expect(!frames[10].level.isVoice)
        #expect(frames[10].level.level == 127)
    }

    @Test func lastFrameEndsTheTalkspurt() throws {
        let frames = try encode([tone])
        #expect(frames.last?.flags == .talkspurtEnd)
        #expect(frames.dropLast().allSatisfy { !$0.flags.contains(.talkspurtEnd) })
    }

    @Test(arguments: [1, 7, 960, 1_000, 4_801])
    func framesDoNotDependOnPieceSizes(size: Int) throws {
        let pieces = stride(from: 0, to: tone.count, by: size).map { Array(tone[$0..<min($0 + size, tone.count)]) }
        #expect(try encode(pieces) == encode([tone]))
    }

    @Test func lastPieceIsPadded() throws {
        #expect(try encode([Array(tone[..<1_000])]).count == 2)
        #expect(try encode([]).isEmpty)
    }

    @Test func dtxOmitsSilence() throws {
        let settings = SpeechSettings(dtx: true)
        let frames = try encode([tone, silence, silence, tone], settings)
        #expect(frames.count < 150)
        let marked = frames.filter { $0.flags.contains(.dtx) }
        #expect(!marked.isEmpty)
        #expect(marked.allSatisfy { $0.packet.count <= 2 })
        // No time is lost: unsent silence is declared.
        #expect(frames.reduce(0) { $0 + $1.ticks + $1.silenceBefore } == 200 * 960)
    }

    @Test func completePCMIsOneTalkspurt() throws {
        let frames = try PCMSpeech(PCMBuffer(samples: silence + tone + silence + tone + silence)).frames()
        #expect(frames.count == 250)
        #expect(frames.first?.flags == .talkspurtStart)
        #expect(frames.last?.flags == .talkspurtEnd)
        #expect(frames.dropFirst().dropLast().allSatisfy { $0.flags.isEmpty })
        #expect(frames.filter(\.level.isVoice).count > 90)
    }

    @Test(arguments: [8_000, 16_000, 44_100, 48_000])
    func anySampleRateIsResampled(rate: Int) throws {
        let sound = try Sound.tone(milliseconds: 500).resampled(to: rate)
        #expect(try PCMSpeech(sound).frames().count == 25)
    }
}
