#if !canImport(AVFAudio)
    internal import COpus

    /// libopus's encoder.
    @safe struct LibopusEncoder: ~Copyable, SpeechCodec.Encoding {
        private let state: OpaquePointer
        private var scratch = [UInt8](repeating: 0, count: OpusEncoder.packetBytesLimit)

        init(_ settings: SpeechCodec.EncoderSettings) throws(OpusError) {
            var code = OPUS_OK
            let made = unsafe opus_encoder_create(
                Int32(settings.sampleRate), Int32(settings.channels), settings.application.code, &code)
            guard let made = unsafe made, code == OPUS_OK else { throw .library(code: Int(code)) }
            unsafe state = made
            Self.expectOK(unsafe patchbay_opus_encoder_set_dtx(made, settings.dtx ? 1 : 0))
            Self.expectOK(unsafe patchbay_opus_encoder_set_inband_fec(made, settings.inbandFEC ? 1 : 0))
            Self.expectOK(unsafe patchbay_opus_encoder_set_expected_loss(made, Int32(settings.expectedLossPercent)))
            Self.expectOK(unsafe patchbay_opus_encoder_set_complexity(made, Int32(settings.complexity)))
            if let rate = settings.bitsPerSecond { Self.expectOK(unsafe patchbay_opus_encoder_set_bitrate(made, Int32(rate))) }
        }

        deinit {
            unsafe opus_encoder_destroy(state)
        }

        var lookahead: Int {
            var samples: Int32 = 0
            Self.expectOK(unsafe patchbay_opus_encoder_get_lookahead(state, &samples))
            return Int(samples)
        }

        mutating func encode(_ pcm: Span<Int16>, samples: Int, appendingTo packet: inout [UInt8]) throws(OpusError) -> Int {
            let state = unsafe self.state
            let length = unsafe pcm.withUnsafeBufferPointer { input in
                unsafe scratch.withUnsafeMutableBufferPointer { output in
                    guard let sound = input.baseAddress, let room = output.baseAddress else { return OPUS_BAD_ARG }
                    return unsafe opus_encode(state, sound, Int32(samples), room, Int32(output.count))
                }
            }
            guard length > 0 else { throw .library(code: Int(length)) }
            packet.append(contentsOf: scratch[..<Int(length)])
            return Int(length)
        }

        mutating func reset() {
            Self.expectOK(unsafe patchbay_opus_encoder_reset(state))
        }

        /// Traps on an error: settings are validated before they reach libopus.
        private static func expectOK(_ code: Int32) {
            precondition(code == OPUS_OK, "libopus rejected a setting within its range: code \(code)")
        }
    }

    extension OpusEncoder.Application {
        fileprivate var code: Int32 {
            switch self {
            case .voip: OPUS_APPLICATION_VOIP
            case .audio: OPUS_APPLICATION_AUDIO
            case .lowDelay: OPUS_APPLICATION_RESTRICTED_LOWDELAY
            }
        }
    }

    /// libopus's decoder.
    @safe struct LibopusDecoder: ~Copyable, SpeechCodec.Decoding {
        private let state: OpaquePointer
        private let channels: Int
        /// A buffer for the longest packet, 120 ms.
        private var scratch: [Int16]

        init(sampleRate: Int, channels: Int) throws(OpusError) {
            var code = OPUS_OK
            let made = unsafe opus_decoder_create(Int32(sampleRate), Int32(channels), &code)
            guard let made = unsafe made, code == OPUS_OK else { throw .library(code: Int(code)) }
            self.channels = channels
            self.scratch = [Int16](repeating: 0, count: OpusPacket.ticksLimit * sampleRate / 48_000 * channels)
            unsafe state = made
        }

        deinit {
            unsafe opus_decoder_destroy(state)
        }

        mutating func decode(_ packet: RawSpan, samples: Int, appendingTo pcm: inout [Int16]) throws(OpusError) -> Int {
            try run(packet, fec: false, samples: samples, appendingTo: &pcm)
        }

        mutating func conceal(samples: Int, following: RawSpan?, appendingTo pcm: inout [Int16]) throws(OpusError) {
            if let following {
                _ = try run(following, fec: true, samples: samples, appendingTo: &pcm)
            } else {
                _ = try run(RawSpan(), fec: false, samples: samples, appendingTo: &pcm)
            }
        }

        mutating func reset() {
            let code = unsafe patchbay_opus_decoder_reset(state)
            precondition(code == OPUS_OK, "libopus failed to reset a decoder: code \(code)")
        }

        /// Decodes a packet. libopus interprets an empty packet as lost.
        private mutating func run(
            _ packet: RawSpan, fec: Bool, samples: Int, appendingTo pcm: inout [Int16]
        ) throws(OpusError) -> Int {
            let state = unsafe self.state
            let decoded = unsafe packet.withUnsafeBytes { bytes in
                let input = unsafe bytes.isEmpty ? nil : bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                return unsafe scratch.withUnsafeMutableBufferPointer { output in
                    guard let room = output.baseAddress else { return OPUS_BUFFER_TOO_SMALL }
                    return unsafe opus_decode(state, input, Int32(bytes.count), room, Int32(samples), fec ? 1 : 0)
                }
            }
            guard decoded >= 0 else { throw .library(code: Int(decoded)) }
            pcm.append(contentsOf: scratch[..<(Int(decoded) * channels)])
            return Int(decoded)
        }
    }

    extension SpeechCodec {
        /// Describes an error code of libopus.
        static func explanation(of code: Int) -> String {
            unsafe String(cString: opus_strerror(Int32(truncatingIfNeeded: code)))
        }
    }
#endif
