internal import Audio
internal import PatchbayClient
internal import Wire

/// Encodes the audio of a turn, piece by piece and without gaps between the pieces.
///
/// Belongs to the `SpeechOutput` of its turn. `@unchecked Sendable`, because `SpokenTurn` is passed within that actor only.
final class SpeechEncoding: @unchecked Sendable {
    /// Enough for wideband speech of one voice.
    private static let bitsPerSecond = 32_000

    private let sampleRate: Int
    private var resampler: Resampler?
    private var encoder: SpeechEncoder
    /// The end of the audio so far in 48 kHz ticks.
    private(set) var position = 0
    private var silence = 0

    init(sampleRate: Int) throws {
        self.sampleRate = sampleRate
        encoder = try SpeechEncoder(SpeechSettings(bitsPerSecond: Self.bitsPerSecond))
        if sampleRate != SpeechEncoder.sampleRate { resampler = try Resampler(from: sampleRate, to: SpeechEncoder.sampleRate, channels: 1) }
    }

    /// Adds a pause before the next piece.
    func appendSilence(_ ticks: Int) {
        silence += ticks
        position += ticks
    }

    /// - Throws: `ProviderError` if a piece has another rate than the first one.
    func encode(_ speech: SynthesizedSpeech) throws -> [SpokenFrame] {
        guard speech.sampleRate == sampleRate else {
            throw ProviderError(.invalidResponse, "The audio's rate changed from \(sampleRate) to \(speech.sampleRate) Hz.")
        }
        let pause = [Int16](repeating: 0, count: silence * sampleRate / SpeechEncoder.sampleRate)
        silence = 0
        position += speech.samples.count * SpeechEncoder.sampleRate / sampleRate
        let samples = pause + speech.samples
        return try encoder.encode(try resampler?.process(samples) ?? samples)
    }

    func finish() throws -> [SpokenFrame] {
        let rest = if let resampler = resampler.take() { try resampler.finish() } else { [Int16]() }
        return try encoder.encode(rest) + encoder.finish()
    }
}
