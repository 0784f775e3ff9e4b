#if canImport(AVFAudio)
    internal import AVFAudio
    internal import AudioToolbox
    internal import Wire

    /// AudioToolbox's Opus encoder. It chooses complexity itself and has neither DTX nor in-band FEC, so those settings have no effect.
    @safe struct AudioToolboxEncoder: ~Copyable, SpeechCodec.Encoding {
        private let settings: SpeechCodec.EncoderSettings
        private let sound: AVAudioFormat
        /// A converter for frames as long as the latest one.
        private var converter: BufferConverter?
        private var samplesPerFrame = 0

        init(_ settings: SpeechCodec.EncoderSettings) throws(OpusError) {
            self.settings = settings
            sound = try AVAudioFormat.opusPCM(sampleRate: settings.sampleRate, channels: settings.channels)
            try prepare(samples: settings.sampleRate / 50)
        }

        var lookahead: Int { converter?.leadingFrames ?? 0 }

        mutating func encode(_ pcm: Span<Int16>, samples: Int, appendingTo packet: inout [UInt8]) throws(OpusError) -> Int {
            try prepare(samples: samples)
            guard let converter, let input = AVAudioPCMBuffer(sound, pcm) else { throw .library(code: Int(kAudio_MemFullError)) }
            let output = AVAudioCompressedBuffer(
                format: converter.outputFormat, packetCapacity: 1, maximumPacketSize: OpusEncoder.packetBytesLimit)
            do { try converter.convert(input, to: output) } catch { throw .library(code: error.code) }
            let length = Int(output.byteLength)
            guard length > 0 else { throw .library(code: Int(kAudioConverterErr_UnspecifiedError)) }
            unsafe packet.append(contentsOf: UnsafeRawBufferPointer(start: output.data, count: length))
            return length
        }

        mutating func reset() {
            converter?.reset()
        }

        private mutating func prepare(samples: Int) throws(OpusError) {
            guard samplesPerFrame != samples else { return }
            let opus = try AVAudioFormat.opus(
                sampleRate: settings.sampleRate, channels: settings.channels, samplesPerPacket: samples)
            guard let converter = BufferConverter(from: sound, to: opus) else {
                throw .library(code: Int(kAudioConverterErr_FormatNotSupported))
            }
            if let rate = settings.bitsPerSecond { converter.setBitRate(rate) }
            self.converter = converter
            samplesPerFrame = samples
        }
    }

    /// AudioToolbox's Opus decoder. It has no loss concealment, so `LossConcealment` provides it.
    @safe struct AudioToolboxDecoder: ~Copyable, SpeechCodec.Decoding {
        private let channels: Int
        private let sampleRate: Int
        private let sound: AVAudioFormat
        private var concealment: LossConcealment
        /// A converter for packets as long as the latest one.
        private var converter: BufferConverter?
        private var samplesPerPacket = 0
        /// Decoded samples in excess of the durations of the packets decoded so far.
        private var surplus: [Int16] = []

        init(sampleRate: Int, channels: Int) throws(OpusError) {
            self.channels = channels
            self.sampleRate = sampleRate
            sound = try AVAudioFormat.opusPCM(sampleRate: sampleRate, channels: channels)
            concealment = LossConcealment(sampleRate: sampleRate, channels: channels)
        }

        mutating func decode(_ packet: RawSpan, samples: Int, appendingTo pcm: inout [Int16]) throws(OpusError) -> Int {
            // A packet without audio (DTX): the sender is silent.
            if OpusPacket.isDTX(byteCount: packet.byteCount) {
                concealment.conceal(samples: samples, appendingTo: &pcm)
                return samples
            }
            try prepare(samples: samples)
            guard let converter, let output = AVAudioPCMBuffer(pcmFormat: sound, frameCapacity: AVAudioFrameCount(2 * samples))
            else { throw .library(code: Int(kAudio_MemFullError)) }
            let input = AVAudioCompressedBuffer(
                format: converter.inputFormat, packetCapacity: 1, maximumPacketSize: packet.byteCount)
            input.fill(with: packet)
            do { try converter.convert(input, to: output) } catch { throw .library(code: error.code) }
            surplus += output.interleavedSamples
            // The first packets may decode to fewer samples. Silence at the beginning preserves the timing.
            let missing = max(samples * channels - surplus.count, 0)
            pcm.append(contentsOf: repeatElement(0, count: missing))
            let ready = surplus.prefix(samples * channels - missing)
            pcm.append(contentsOf: ready)
            surplus.removeFirst(ready.count)
            concealment.heard(pcm.suffix(samples * channels))
            return samples
        }

        mutating func conceal(samples: Int, following: RawSpan?, appendingTo pcm: inout [Int16]) throws(OpusError) {
            concealment.conceal(samples: samples, appendingTo: &pcm)
        }

        mutating func reset() {
            converter?.reset()
            surplus = []
            concealment.reset()
        }

        private mutating func prepare(samples: Int) throws(OpusError) {
            guard samplesPerPacket != samples else { return }
            let opus = try AVAudioFormat.opus(sampleRate: sampleRate, channels: channels, samplesPerPacket: samples)
            guard let converter = BufferConverter(from: opus, to: sound) else {
                throw .library(code: Int(kAudioConverterErr_FormatNotSupported))
            }
            self.converter = converter
            samplesPerPacket = samples
        }
    }

    extension AVAudioFormat {
        fileprivate static func opusPCM(sampleRate: Int, channels: Int) throws(OpusError) -> AVAudioFormat {
            guard let format = AVAudioFormat(pcm16: sampleRate, channels: channels) else {
                throw .library(code: Int(kAudioConverterErr_FormatNotSupported))
            }
            return format
        }

        fileprivate static func opus(sampleRate: Int, channels: Int, samplesPerPacket: Int) throws(OpusError) -> AVAudioFormat {
            var description = AudioStreamBasicDescription(
                mSampleRate: Double(sampleRate), mFormatID: kAudioFormatOpus, mFormatFlags: 0, mBytesPerPacket: 0,
                mFramesPerPacket: UInt32(samplesPerPacket), mBytesPerFrame: 0, mChannelsPerFrame: UInt32(channels), mBitsPerChannel: 0,
                mReserved: 0)
            guard let format = unsafe AVAudioFormat(streamDescription: &description) else {
                throw .library(code: Int(kAudioConverterErr_FormatNotSupported))
            }
            return format
        }
    }

    extension AVAudioCompressedBuffer {
        /// Makes this buffer one packet.
        fileprivate func fill(with packet: RawSpan) {
            unsafe packet.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                unsafe data.copyMemory(from: start, byteCount: bytes.count)
            }
            byteLength = UInt32(packet.byteCount)
            packetCount = 1
            unsafe packetDescriptions?.pointee = AudioStreamPacketDescription(
                mStartOffset: 0, mVariableFramesInPacket: 0, mDataByteSize: UInt32(packet.byteCount))
        }
    }

    extension SpeechCodec {
        /// An `OSStatus` as its four characters, if it has them.
        static func explanation(of code: Int) -> String {
            let bytes = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: code >> $0) }
            guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return "AudioToolbox" }
            return "AudioToolbox '\(String(decoding: bytes, as: UTF8.self))'"
        }
    }
#endif
