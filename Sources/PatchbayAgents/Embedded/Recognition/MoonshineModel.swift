/// A Moonshine transcriber through the C functions of libmoonshine (moonshine-c-api.h, version 2.0).
///
/// Not thread-safe, and slow: results belong to the model until the next call, and a call takes 6 to 20 % of the audio's duration.
@safe final class MoonshineModel {
    /// `moonshine_option_t`.
    private typealias Option = (name: UnsafePointer<CChar>?, value: UnsafePointer<CChar>?)
    private typealias Load = @convention(c) (UnsafePointer<CChar>, UInt32, UnsafeRawPointer?, UInt64, Int32) -> Int32
    private typealias Transcribe =
        @convention(c) (Int32, UnsafePointer<Float>, UInt64, Int32, UInt32, UnsafeMutablePointer<UnsafeRawPointer?>) -> Int32
    private typealias Free = @convention(c) (Int32) -> Void
    private typealias Describe = @convention(c) (Int32) -> UnsafePointer<CChar>?

    /// `MOONSHINE_HEADER_VERSION`: the layout of the structures below.
    private static let version: Int32 = 20_000
    /// `MOONSHINE_MODEL_ARCH_TINY`.
    private static let tiny: UInt32 = 0
    /// Follows the audio of each call: without it the model guesses last words that end at once (41 instead of 72 errors in 1,935 words).
    private static let silence = [Float](repeating: 0, count: 3 * SpeechSegment.sampleRate / 10)
    /// `sizeof(transcript_line_t)`; the text is its first member.
    private static let lineStride = 88

    private let handle: Int32
    private let transcribe: Transcribe
    private let free: Free
    private let describe: Describe

    /// Loads the model, 0.3 to 0.7 s.
    ///
    /// - Throws: `ProviderError` with code `unavailable`.
    init(_ models: ModelsFolder) throws(ProviderError) {
        let library = try DynamicLibrary(models.recognizerLibrary)
        let load = unsafe try library.function("moonshine_load_transcriber_from_files", as: Load.self)
        unsafe transcribe = try library.function("moonshine_transcribe_without_streaming", as: Transcribe.self)
        unsafe free = try library.function("moonshine_free_transcriber", as: Free.self)
        unsafe describe = try library.function("moonshine_error_to_string", as: Describe.self)
        // Its own segmentation nearly doubles the word error rate (8.3 instead of 4.4 %); segments are made by the pipeline.
        let options: [(StaticString, StaticString)] = [
            ("vad_threshold", "0.0"), ("word_timestamps", "false"), ("identify_speakers", "false"), ("return_audio_data", "false"),
        ]
        let list: [Option] = unsafe options.map { name, value in
            unsafe (name: Self.characters(name), value: Self.characters(value))
        }
        handle = unsafe list.withUnsafeBytes { list in
            unsafe load(models.recognizerModel, Self.tiny, list.baseAddress, UInt64(options.count), Self.version)
        }
        guard handle >= 0 else {
            throw ProviderError(.unavailable, "Cannot load \(models.recognizerModel): \(unsafe Self.text(describe(handle)))")
        }
    }

    deinit {
        free(handle)
    }

    /// - Parameter samples: 16 kHz, at most about 20 s; memory grows with the length.
    /// - Throws: `ProviderError` with code `invalidResponse`.
    func text(of samples: ArraySlice<Float>) throws(ProviderError) -> String {
        guard !samples.isEmpty else { return "" }
        let samples = samples + Self.silence
        var transcript: UnsafeRawPointer?
        let code = unsafe samples.withUnsafeBufferPointer { samples in
            unsafe transcribe(handle, samples.baseAddress!, UInt64(samples.count), Int32(SpeechSegment.sampleRate), 0, &transcript)
        }
        guard code == 0, let transcript = unsafe transcript else {
            throw ProviderError(.invalidResponse, "The speech recognizer failed: \(unsafe Self.text(describe(code)))")
        }
        // transcript_t: lines, line_count.
        let count = unsafe transcript.load(fromByteOffset: 8, as: UInt64.self)
        guard count > 0, let lines = unsafe transcript.load(as: UnsafeRawPointer?.self) else { return "" }
        let texts = (0..<Int(count)).map { index in
            unsafe Self.text((lines + index * Self.lineStride).load(as: UnsafePointer<CChar>?.self))
        }
        return texts.flatMap { $0.split(separator: " ") }.joined(separator: " ")
    }

    private static func text(_ characters: UnsafePointer<CChar>?) -> String {
        guard let characters = unsafe characters else { return "" }
        return unsafe String(cString: characters)
    }

    private static func characters(_ text: StaticString) -> UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
