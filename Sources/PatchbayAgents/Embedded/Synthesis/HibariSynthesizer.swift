public import Logging
internal import Wire

/// Neural English speech synthesis with Hibari on this machine, 24 kHz, with word times.
///
/// The model's text front end is a Python package, which runs in a helper process. The first audio of a sentence takes 20 to 60 ms; audio is
/// returned sentence by sentence. Silence before the first word is removed.
public final class HibariSynthesizer: SpeechSynthesizer {
    /// How the model's only voice is changed.
    struct Style: Hashable, Sendable {
        /// Speaking rate; 1 is the model's own.
        var speed = 1.0
        /// Factor of the fundamental frequency.
        var pitch = 1.0
        /// Factor of the formant frequencies; below 1 for a longer vocal tract. A multiple of 0.01.
        var formant = 1.0
        /// Above 1, the pitch varies more than the model's own.
        var intonation = 1.0
    }

    /// Maximum length of a text in UTF-8, in bytes; about half an hour of speech.
    static let textBytesMax = 40_000
    private static let name = "speech synthesizer"

    let helper: HelperProcess

    /// Starts the helper process; it is ready after about 1 s, and requests wait for it.
    ///
    /// - Throws: `ProviderError` with code `unavailable` if the model is not installed.
    public convenience init(models: ModelsFolder = .standard, logger: Logger = Logger(label: "patchbay.agents")) throws {
        try self.init(models: models, settings: .init(), logger: logger)
    }

    init(models: ModelsFolder, settings: HelperRequests.Settings, logger: Logger) throws {
        try models.require(.synthesizer)
        helper = HelperProcess(
            .init(
                name: Self.name, executable: models.synthesizerPython,
                arguments: ["-I", "-u", models.synthesizerHelper, models.synthesizerModel]),
            settings: settings, logger: logger
        ) { body in
            let ready = try? JSON.decode(Ready.self, from: body, names: .asDeclared)
            guard ready?.format == ModelsFolder.format else {
                throw ProviderError(.unavailable, "has another version; run `scripts/setup-models`")
            }
        }
    }

    /// - Parameter voice: a product voice; anything else is spoken with the model's own voice, `alloy`.
    public func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
        synthesize(text, style: EmbeddedVoice(rawValue: voice)?.style ?? Style())
    }

    func synthesize(_ text: String, style: Style) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
        .filled { [helper] pieces in
            guard text.utf8.count <= Self.textBytesMax else {
                throw ProviderError(.rejected, "A text has at most \(Self.textBytesMax) bytes, not \(text.utf8.count).")
            }
            let request = Request(text: text, style)
            for try await part in helper.request(try JSON.encode(request, names: .asDeclared)) { pieces.yield(try Self.speech(part)) }
        }
    }

    // MARK: Messages

    private struct Ready: Decodable {
        var format: Int
    }

    private struct Request: Encodable {
        var text: String
        var speed: Double
        var pitch: Double
        var formant: Double
        var intonation: Double

        init(text: String, _ style: Style) {
            self.text = text
            speed = style.speed
            pitch = style.pitch
            formant = style.formant
            intonation = style.intonation
        }
    }

    private struct Head: Decodable {
        struct Word: Decodable {
            var text: String
            /// In seconds.
            var start: Double
            var end: Double
        }

        /// Hz.
        var rate: Int
        var words: [Word]
    }

    /// - Parameter body: the length of the head (4 bytes, big-endian), the head in JSON, samples (16 bits, little-endian).
    private static func speech(_ body: [UInt8]) throws -> SynthesizedSpeech {
        guard let length = body.bigEndian(at: 0).map(Int.init), body.count >= 4 + length,
            let head = try? JSON.decode(Head.self, from: Array(body[4..<4 + length]), names: .asDeclared), head.rate > 0
        else { throw ProviderError(.invalidResponse, "The \(name) sent a malformed message.") }
        let start = 4 + length
        let samples = (0..<(body.count - start) / 2).map { index in
            Int16(truncatingIfNeeded: Int(body[start + 2 * index]) | Int(body[start + 2 * index + 1]) << 8)
        }
        let words = head.words.map { TimedWord($0.text, start: .seconds($0.start), end: .seconds($0.end)) }
        return SynthesizedSpeech(samples: samples, sampleRate: head.rate, words: words)
    }
}
