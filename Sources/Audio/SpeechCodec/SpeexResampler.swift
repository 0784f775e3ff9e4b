#if !canImport(AVFAudio)
    internal import CSpeexDSP

    /// speexdsp's resampler: a band-limited windowed sinc.
    @safe struct SpeexResampler: ~Copyable, SpeechCodec.Resampling {
        private let state: OpaquePointer
        private let channels: Int
        private var scratch: [Int16]

        init(from inputRate: Int, to outputRate: Int, channels: Int, quality: Int) throws(ResamplerError) {
            var code: Int32 = 0
            let made = unsafe speex_resampler_init(
                UInt32(channels), UInt32(inputRate), UInt32(outputRate), Int32(quality), &code)
            guard let made = unsafe made, code == 0 else { throw .library(code: Int(code)) }
            self.channels = channels
            self.scratch = [Int16](repeating: 0, count: 4_096 * channels)
            unsafe state = made
            unsafe speex_resampler_skip_zeros(made)
        }

        deinit {
            unsafe speex_resampler_destroy(state)
        }

        /// Half the filter's length.
        var latency: Int { Int(unsafe speex_resampler_get_input_latency(state)) }

        mutating func process(_ pcm: Span<Int16>, appendingTo output: inout [Int16]) throws(ResamplerError) {
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
#endif
