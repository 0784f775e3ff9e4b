import Audio
import Foundation
import OggOpus
import PatchbayClient
import Wire

/// Both sides of a conversation, 48 kHz: the user on the left, the assistant on the right.
struct StereoRecording: Sendable {
    var user: [Int16] = []
    var assistant: [Int16] = []

    /// Both sides in one buffer.
    var stereo: PCMBuffer {
        let count = max(user.count, assistant.count)
        var stereo = [Int16](repeating: 0, count: 2 * count)
        for (index, sample) in user.enumerated() { stereo[2 * index] = sample }
        for (index, sample) in assistant.enumerated() { stereo[2 * index + 1] = sample }
        return PCMBuffer(samples: stereo, channels: 2)
    }

    /// Writes an Ogg Opus file.
    func write(to path: String) throws {
        let speech = try PCMSpeech(
            stereo, settings: SpeechSettings(bitsPerSecond: 64_000, channels: 2))
        let head = OpusHead(channels: 2, preSkip: speech.preSkip)
        try OggOpusWriter.write(speech.frames(), head, to: path)
    }
}

extension OggOpusWriter {
    /// Writes a whole file.
    static func write(_ frames: [SpokenFrame], _ head: OpusHead, to path: String) throws {
        var writer = try OggOpusWriter(head)
        var file = try writer.start()
        for frame in frames { file += try writer.append(frame.packet) }
        file += try writer.finish()
        try Data(file).write(to: URL(filePath: path))
    }
}

/// Finds sounds in 48 kHz PCM, to 5 ms, and the end of a voice, to 10 ms.
enum Sound {
    private static let pieceSize = 240
    /// Sounds are louder than −50 dBov.
    private static let audible = 50
    /// A voice is louder than −45 dBov, and at most 30 dB below the loudest sound, so that the noise of a recording is none.
    private static let voice = 45
    private static let range = 30

    static func duration(of samples: Int) -> Duration { .nanoseconds(Int64(samples) * 62_500 / 3) }

    /// The index of the first audible sample.
    static func firstAudible(in samples: [Int16]) -> Int? {
        pieces(of: samples, pieceSize).first { $0.level < audible }?.range.lowerBound
    }

    /// The index after the last sample with voice.
    static func voiceEnd(of samples: [Int16]) -> Int {
        let pieces = pieces(of: samples, 2 * pieceSize)
        let loudest = pieces.map(\.level).min() ?? 127
        return pieces.last { $0.level < min(voice, loudest + range) }?.range.upperBound ?? samples.count
    }

    /// Pieces and their levels in −dBov.
    private static func pieces(of samples: [Int16], _ size: Int) -> [(range: Range<Int>, level: Int)] {
        stride(from: 0, to: samples.count, by: size).map { start in
            let range = start..<min(start + size, samples.count)
            return (range, Int(AudioLevel(of: Array(samples[range])).value))
        }
    }
}
