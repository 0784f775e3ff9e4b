#if canImport(AVFAudio)
    internal import AVFAudio
    internal import AudioToolbox
    internal import Foundation

    /// `AVAudioConverter` as a resampler.
    @safe struct AVFAudioResampler: ~Copyable, SpeechCodec.Resampling {
        private let converter: BufferConverter
        private let input: AVAudioFormat
        private let output: AVAudioFormat

        init(from inputRate: Int, to outputRate: Int, channels: Int, quality: Int) throws(ResamplerError) {
            guard let input = AVAudioFormat(pcm16: inputRate, channels: channels),
                let output = AVAudioFormat(pcm16: outputRate, channels: channels),
                let converter = BufferConverter(from: input, to: output)
            else { throw .library(code: Int(kAudioConverterErr_FormatNotSupported)) }
            converter.setResamplingQuality(quality)
            self.input = input
            self.output = output
            self.converter = converter
        }

        var latency: Int { converter.trailingFrames }

        mutating func process(_ pcm: Span<Int16>, appendingTo samples: inout [Int16]) throws(ResamplerError) {
            if pcm.isEmpty { return }
            let room = pcm.count * Int(output.sampleRate) / Int(input.sampleRate) + 1_024
            guard let source = AVAudioPCMBuffer(input, pcm),
                let target = AVAudioPCMBuffer(pcmFormat: output, frameCapacity: AVAudioFrameCount(room))
            else { throw .library(code: Int(kAudio_MemFullError)) }
            do { try converter.convert(source, to: target) } catch { throw .library(code: error.code) }
            samples += target.interleavedSamples
        }
    }

    /// An `AVAudioConverter` that is fed one buffer at a time.
    final class BufferConverter {
        private let converter: AVAudioConverter

        /// - Returns: nil if the system cannot convert these formats.
        init?(from input: AVAudioFormat, to output: AVAudioFormat) {
            guard let converter = AVAudioConverter(from: input, to: output) else { return nil }
            // Output is aligned with the input: only the end of the input is held back.
            converter.primeMethod = .normal
            self.converter = converter
        }

        var inputFormat: AVAudioFormat { converter.inputFormat }
        var outputFormat: AVAudioFormat { converter.outputFormat }
        var leadingFrames: Int { Int(converter.primeInfo.leadingFrames) }
        var trailingFrames: Int { Int(converter.primeInfo.trailingFrames) }

        func setBitRate(_ bitsPerSecond: Int) {
            converter.bitRate = bitsPerSecond
        }

        /// - Parameter quality: 0 to 10, as `Resampler` states it.
        func setResamplingQuality(_ quality: Int) {
            converter.sampleRateConverterQuality = Int(quality < 5 ? AVAudioQuality.medium.rawValue : AVAudioQuality.max.rawValue)
        }

        func reset() {
            converter.reset()
        }

        /// Converts one buffer and fills `output` with what is available.
        func convert(_ input: AVAudioBuffer, to output: AVAudioBuffer) throws(ConversionError) {
            let supply = BufferSupply(input)
            var error: NSError?
            let status = unsafe converter.convert(to: output, error: &error) { _, status in
                let buffer = supply.take()
                unsafe status.pointee = buffer == nil ? .noDataNow : .haveData
                return buffer
            }
            if status == .error { throw ConversionError(code: error?.code ?? Int(kAudioConverterErr_UnspecifiedError)) }
        }
    }

    struct ConversionError: Error {
        var code: Int
    }

    /// Supplies one buffer to a converter. Used only during `convert`, on the thread that calls it.
    private final class BufferSupply: @unchecked Sendable {
        private var buffer: AVAudioBuffer?

        init(_ buffer: AVAudioBuffer) {
            self.buffer = buffer
        }

        func take() -> AVAudioBuffer? {
            defer { buffer = nil }
            return buffer
        }
    }

    extension AVAudioFormat {
        convenience init?(pcm16 sampleRate: Int, channels: Int) {
            self.init(
                commonFormat: .pcmFormatInt16, sampleRate: Double(sampleRate), channels: AVAudioChannelCount(channels), interleaved: true)
        }
    }

    extension AVAudioPCMBuffer {
        /// A copy of interleaved samples; nil if memory is short.
        convenience init?(_ format: AVAudioFormat, _ pcm: Span<Int16>) {
            let frames = AVAudioFrameCount(pcm.count / Int(format.channelCount))
            self.init(pcmFormat: format, frameCapacity: frames)
            guard let room = unsafe int16ChannelData?.pointee else { return nil }
            for index in pcm.indices { unsafe room[index] = pcm[index] }
            frameLength = frames
        }

        var interleavedSamples: [Int16] {
            guard let start = unsafe int16ChannelData?.pointee else { return [] }
            return unsafe Array(UnsafeBufferPointer(start: start, count: Int(frameLength) * Int(format.channelCount)))
        }
    }
#endif
