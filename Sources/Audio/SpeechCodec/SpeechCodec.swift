/// The platform's Opus codec and resampler, which `OpusEncoder`, `OpusDecoder` and `Resampler` wrap: AudioToolbox's on Apple
/// platforms, libopus and speexdsp elsewhere. Callers validate the arguments.
enum SpeechCodec {
    #if canImport(AVFAudio)
        typealias Encoder = AudioToolboxEncoder
        typealias Decoder = AudioToolboxDecoder
        typealias Converter = AVFAudioResampler
    #else
        typealias Encoder = LibopusEncoder
        typealias Decoder = LibopusDecoder
        typealias Converter = SpeexResampler
    #endif

    /// Settings of an encoder, within the ranges documented by `OpusEncoder`.
    struct EncoderSettings {
        var sampleRate: Int
        var channels: Int
        var application: OpusEncoder.Application
        /// Nil lets the codec choose.
        var bitsPerSecond: Int?
        var dtx: Bool
        var inbandFEC: Bool
        var expectedLossPercent: Int
        var complexity: Int
    }

    protocol Encoding: ~Copyable {
        init(_ settings: EncoderSettings) throws(OpusError)

        /// Delay of the decoded audio in samples per channel.
        var lookahead: Int { get }

        /// Encodes one frame of `samples` per channel, appends the packet and returns its length in bytes.
        mutating func encode(_ pcm: Span<Int16>, samples: Int, appendingTo packet: inout [UInt8]) throws(OpusError) -> Int

        /// Resets the state of the stream and keeps the settings.
        mutating func reset()
    }

    protocol Decoding: ~Copyable {
        init(sampleRate: Int, channels: Int) throws(OpusError)

        /// Decodes a valid packet of `samples` per channel and returns that number.
        mutating func decode(_ packet: RawSpan, samples: Int, appendingTo pcm: inout [Int16]) throws(OpusError) -> Int

        /// Conceals a lost packet: with the in-band FEC of the following packet, if it has any, otherwise from earlier audio.
        mutating func conceal(samples: Int, following: RawSpan?, appendingTo pcm: inout [Int16]) throws(OpusError)

        mutating func reset()
    }

    protocol Resampling: ~Copyable {
        init(from inputRate: Int, to outputRate: Int, channels: Int, quality: Int) throws(ResamplerError)

        /// Input samples per channel that are held back as look-ahead.
        var latency: Int { get }

        /// Appends the output that is available after this input; aligned with the input.
        mutating func process(_ pcm: Span<Int16>, appendingTo output: inout [Int16]) throws(ResamplerError)
    }
}
