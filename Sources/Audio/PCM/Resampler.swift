internal import CSpeexDSP

/// Changes the sample rate of a stream piece by piece (band-limited windowed sinc, by speexdsp).
///
/// Pieces may have any length. Output is aligned with the input: the filter's delay is removed at the beginning, so the end is held back until
/// more input or `finish()`. Not `Sendable`: create it where it is used.
@safe public struct Resampler: ~Copyable {
    /// Supported input and output rates, in Hz.
    public static let sampleRates = 1_000...768_000

    public let inputRate: Int
    public let outputRate: Int
    public let channels: Int
    private let state: OpaquePointer
    /// Samples per channel so far.
    private var consumed = 0
    private var produced = 0
    private var scratch: [Int16]

    /// - Parameters:
    ///   - inputRate: in Hz, within `sampleRates`.
    ///   - outputRate: in Hz, within `sampleRates`.
    ///   - channels: interleaved channels, 1 to 255.
    ///   - quality: 0 (fast) to 10 (best). At 10, 44.1 to 48 kHz takes well under 1 % of a core for a mono stream.
    public init(from inputRate: Int, to outputRate: Int, channels: Int = 1, quality: Int = 10) throws(ResamplerError) {
        guard Self.sampleRates.contains(inputRate) else { throw .sampleRate(inputRate) }
        guard Self.sampleRates.contains(outputRate) else { throw .sampleRate(outputRate) }
        guard (1...255).contains(channels), (0...10).contains(quality) else {
            throw .setting(channels: channels, quality: quality)
        }
        var code: Int32 = 0
        let made = unsafe speex_resampler_init(
            UInt32(channels), UInt32(inputRate), UInt32(outputRate), Int32(quality), &code)
        guard let made = unsafe made, code == 0 else { throw .library(code: Int(code)) }
        self.inputRate = inputRate
        self.outputRate = outputRate
        self.channels = channels
        self.scratch = [Int16](repeating: 0, count: 4_096 * channels)
        unsafe state = made
        unsafe speex_resampler_skip_zeros(made)
    }

    deinit {
        unsafe speex_resampler_destroy(state)
    }

    /// Input samples per channel that are held back as look-ahead: half the filter's length.
    public var latency: Int { Int(unsafe speex_resampler_get_input_latency(state)) }

    /// Processes the next piece and returns the available output, which may be empty at first.
    ///
    /// - Parameter pcm: interleaved samples, the same number for each channel.
    public mutating func process(_ pcm: Span<Int16>) throws(ResamplerError) -> [Int16] {
        precondition(pcm.count.isMultiple(of: channels), "the sample count must be a multiple of the channel count")
        var output: [Int16] = []
        output.reserveCapacity(pcm.count * outputRate / inputRate + channels)
        consumed += pcm.count / channels
        try convert(pcm, into: &output)
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
            try convert(silence.span, into: &output)
        }
        return Array(output.prefix(max(total - produced, 0) * channels))
    }

    private mutating func convert(_ pcm: Span<Int16>, into output: inout [Int16]) throws(ResamplerError) {
        let (state, channels) = unsafe (self.state, self.channels)
        var taken = 0
        var code: Int32 = 0
        // Continues while there is input, or while the output buffer was filled and more may be pending.
        while true {
            var inputLength = UInt32(clamping: pcm.count / channels - taken)
            var outputLength = UInt32(scratch.count / channels)
            let room = outputLength
            unsafe pcm.withUnsafeBufferPointer { input in
                unsafe scratch.withUnsafeMutableBufferPointer { output in
                    guard let from = input.baseAddress, let to = output.baseAddress else { return inputLength = 0 }
                    unsafe code = speex_resampler_process_interleaved_int(
                        state, from + taken * channels, &inputLength, to, &outputLength)
                }
            }
            guard code == 0 else { throw .library(code: Int(code)) }
            if pcm.isEmpty { return }
            output.append(contentsOf: scratch[..<(Int(outputLength) * channels)])
            taken += Int(inputLength)
            if taken == pcm.count / channels, outputLength < room { return }
        }
    }
}

/// Why a resampler could not be created, or failed.
public enum ResamplerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A rate outside `Resampler.sampleRates`.
    case sampleRate(Int)
    /// A channel count below 1 or above 255, or a quality outside 0 to 10.
    case setting(channels: Int, quality: Int)
    /// speexdsp returned an error code; in practice, out of memory.
    case library(code: Int)

    public var description: String {
        switch self {
        case .sampleRate(let rate):
            "Cannot resample from or to \(rate) Hz; choose a rate from 1000 to 768000 Hz."
        case .setting(let channels, let quality):
            "A resampler supports 1 to 255 channels and quality 0 to 10, not \(channels) and \(quality)."
        case .library(let code):
            "The resampler failed with speexdsp code \(code); create a new one."
        }
    }
}
