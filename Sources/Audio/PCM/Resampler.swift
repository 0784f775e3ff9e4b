/// Changes the sample rate of a stream piece by piece, band-limited.
///
/// Pieces may have any length. Output is aligned with the input: the filter's delay is removed at the beginning, so the end is held back until
/// more input or `finish()`. Not `Sendable`: create it where it is used.
public struct Resampler: ~Copyable {
    /// Supported input and output rates, in Hz.
    public static let sampleRates = 1_000...768_000

    public let inputRate: Int
    public let outputRate: Int
    public let channels: Int
    private var converter: SpeechCodec.Converter
    /// Samples per channel so far.
    private var consumed = 0
    private var produced = 0

    /// - Parameters:
    ///   - inputRate: in Hz, within `sampleRates`.
    ///   - outputRate: in Hz, within `sampleRates`.
    ///   - channels: interleaved channels, 1 to 255.
    ///   - quality: 0 (fast) to 10 (best). At 10, 44.1 to 48 kHz takes well under 1 % of a core for a mono stream (speexdsp).
    public init(from inputRate: Int, to outputRate: Int, channels: Int = 1, quality: Int = 10) throws(ResamplerError) {
        guard Self.sampleRates.contains(inputRate) else { throw .sampleRate(inputRate) }
        guard Self.sampleRates.contains(outputRate) else { throw .sampleRate(outputRate) }
        guard (1...255).contains(channels), (0...10).contains(quality) else {
            throw .setting(channels: channels, quality: quality)
        }
        converter = try SpeechCodec.Converter(from: inputRate, to: outputRate, channels: channels, quality: quality)
        self.inputRate = inputRate
        self.outputRate = outputRate
        self.channels = channels
    }

    /// Input samples per channel that are held back as look-ahead.
    public var latency: Int { converter.latency }

    /// Processes the next piece and returns the available output, which may be empty at first.
    ///
    /// - Parameter pcm: interleaved samples, the same number for each channel.
    public mutating func process(_ pcm: Span<Int16>) throws(ResamplerError) -> [Int16] {
        precondition(pcm.count.isMultiple(of: channels), "the sample count must be a multiple of the channel count")
        var output: [Int16] = []
        output.reserveCapacity(pcm.count * outputRate / inputRate + channels)
        consumed += pcm.count / channels
        try converter.process(pcm, appendingTo: &output)
        produced += output.count / channels
        return output
    }

    public mutating func process(_ pcm: [Int16]) throws(ResamplerError) -> [Int16] {
        try process(pcm.span)
    }

    /// Flushes the held-back samples, as if silence followed. In total, round(input × outputRate / inputRate) samples per channel are returned.
    public consuming func finish() throws(ResamplerError) -> [Int16] {
        let total = (2 * consumed * outputRate + inputRate) / (2 * inputRate)
        var output: [Int16] = []
        let silence = [Int16](repeating: 0, count: (latency + 1) * channels)
        while produced + output.count / channels < total {
            try converter.process(silence.span, appendingTo: &output)
        }
        return Array(output.prefix(max(total - produced, 0) * channels))
    }
}

/// Why a resampler could not be created, or failed.
public enum ResamplerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A rate outside `Resampler.sampleRates`.
    case sampleRate(Int)
    /// A channel count below 1 or above 255, or a quality outside 0 to 10.
    case setting(channels: Int, quality: Int)
    /// The platform's resampler returned an error code; in practice, out of memory.
    case library(code: Int)

    public var description: String {
        switch self {
        case .sampleRate(let rate):
            "Cannot resample from or to \(rate) Hz; choose a rate from 1000 to 768000 Hz."
        case .setting(let channels, let quality):
            "A resampler supports 1 to 255 channels and quality 0 to 10, not \(channels) and \(quality)."
        case .library(let code):
            "The resampler failed with code \(code); create a new one."
        }
    }
}
