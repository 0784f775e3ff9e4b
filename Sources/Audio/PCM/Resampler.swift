internal import CSpeexDSP

/// Changes the sample rate of a stream, piece by piece (a band-limited windowed sinc, by speexdsp).
///
/// The pieces may be of any length. What comes out is aligned with what went in: the filter's delay is taken off at the
/// beginning, so the end is held back until more sound or `finish()` comes. Not `Sendable`: make it where it is used.
@safe public struct Resampler: ~Copyable {
    /// The rates that can be converted from and to, in Hz.
    public static let sampleRates = 1_000...768_000

    public let inputRate: Int
    public let outputRate: Int
    public let channels: Int
    private let state: OpaquePointer
    /// Samples a channel so far.
    private var consumed = 0
    private var produced = 0
    private var scratch: [Int16]

    /// - Parameters:
    ///   - inputRate: Hz of what goes in, within `sampleRates`.
    ///   - outputRate: Hz of what comes out, within `sampleRates`.
    ///   - channels: interleaved channels, 1 to 255.
    ///   - quality: 0 (fast) to 10 (best). At 10, 44.1 to 48 kHz costs well under 1 % of a core for a mono stream.
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

    /// How many input samples a channel are held back to see what follows: half the filter's length.
    public var latency: Int { Int(unsafe speex_resampler_get_input_latency(state)) }

    /// Takes the next piece and gives what is ready, which may be nothing at first.
    ///
    /// - Parameter pcm: interleaved samples, as many for each channel.
    public mutating func process(_ pcm: Span<Int16>) throws(ResamplerError) -> [Int16] {
        precondition(pcm.count.isMultiple(of: channels), "A resampler takes as many samples for each channel.")
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

    /// Gives what was held back, as if silence followed: in all, round(input × outputRate / inputRate) samples a channel.
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
        // Goes on while there is input, or while the last round was so productive that more may be waiting.
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
