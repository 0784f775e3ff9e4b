internal import Audio
internal import PatchbayClient
internal import Wire

/// Encodes the audio of a turn, piece by piece and without gaps between the pieces, whose sample rates may differ: clips of the gateway and
/// synthesizers have rates of their own.
///
/// Belongs to the `SpeechOutput` of its turn. `@unchecked Sendable`, because `SpokenTurn` is passed within that actor only.
final class SpeechEncoding: @unchecked Sendable {
    /// Enough for wideband speech of one voice.
    private static let bitsPerSecond = 32_000

    private var encoder: SpeechEncoder
    /// From `sampleRate` to the encoder's; nil while they are equal.
    private var resampler: Resampler?
    /// The latest piece's.
    private var sampleRate = SpeechEncoder.sampleRate
    /// The end of the audio so far in 48 kHz ticks.
    private(set) var position = 0
    private var silence = 0

    init() throws {
        encoder = try SpeechEncoder(SpeechSettings(bitsPerSecond: Self.bitsPerSecond))
    }

    /// Adds a pause before the next piece.
    func appendSilence(_ ticks: Int) {
        silence += ticks
        position += ticks
    }

    /// - Throws: `ResamplerError` for a rate that no audio has, `OpusError`.
    func encode(_ speech: SynthesizedSpeech) throws -> [SpokenFrame] {
        var samples = try beginPiece(at: speech.sampleRate)
        let pause = [Int16](repeating: 0, count: silence * sampleRate / SpeechEncoder.sampleRate)
        silence = 0
        position += speech.samples.count * SpeechEncoder.sampleRate / sampleRate
        let piece = pause + speech.samples
        samples += try resampler?.process(piece) ?? piece
        return try encoder.encode(samples)
    }

    func finish() throws -> [SpokenFrame] {
        try encoder.encode(try finishResampling()) + encoder.finish()
    }

    /// - Returns: the rest of the audio so far, if the rate changes.
    private func beginPiece(at rate: Int) throws -> [Int16] {
        guard rate != sampleRate else { return [] }
        let next = rate == SpeechEncoder.sampleRate ? nil : try Resampler(from: rate, to: SpeechEncoder.sampleRate, channels: 1)
        let rest = try finishResampling()
        sampleRate = rate
        resampler = next
        return rest
    }

    private func finishResampling() throws -> [Int16] {
        if let resampler = resampler.take() { try resampler.finish() } else { [] }
    }
}
