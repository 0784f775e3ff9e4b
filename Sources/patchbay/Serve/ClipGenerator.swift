import Audio
import Backend
import Logging
import PatchbayAgents
import Store
import Synchronization
import Wire

/// Generates speech clips with the embedded synthesizer, which is loaded on first use, or with the configured server.
final class ClipGenerator: SpeechGenerator {
    private static let sampleRate = 48_000
    /// The interval between estimates of the progress within a sentence.
    private static let estimateInterval = Duration.milliseconds(250)

    let providers: [SpeechProvider]
    private let models: ModelsFolder
    private let server: (any SpeechSynthesizer)?
    private let embedded = Mutex<EmbeddedSynthesizer?>(nil)
    private let log = Logger(label: "patchbay.speech")

    /// - Parameter server: a provider in addition to the embedded one.
    /// - Returns: nil if there is no server and the models are not installed.
    init?(models: ModelsFolder = .standard, server: SpeechServer? = nil) {
        providers = (models.problem == nil ? [.embedded] : []) + (server.map { [$0.provider] } ?? [])
        guard !providers.isEmpty else { return nil }
        self.models = models
        self.server = server?.synthesizer
    }

    func generate(
        _ text: String, voice: String, provider: String, progress: @escaping @Sendable (_ percent: Int) -> Void
    ) async throws -> GeneratedSpeech {
        guard let synthesizer = synthesizer(of: provider) else {
            // The clip was queued under another configuration.
            throw SpeechGenerationError("the provider is no longer configured", isRetryable: false)
        }
        do {
            // The embedded synthesizer speaks English; the language of the server's speech is unknown.
            let language = provider == SpeechProvider.embedded.name ? "en" : ""
            return try await Self.speak(text, in: language, voice, synthesizer, progress)
        } catch let error as ProviderError {
            log.warning("a speech provider failed", metadata: ["provider": "\(provider)", "error": "\(error)"])
            throw SpeechGenerationError("the speech provider \(Self.faults[error.code] ?? "failed")", isRetryable: error.isRetryable)
        }
    }

    /// Descriptions of provider errors for requesters, which reveal nothing about the server.
    private static let faults: [ProviderError.Code: String] = [
        .unavailable: "is unavailable", .timeout: "did not answer in time", .overloaded: "is overloaded; try again later",
        .rejected: "rejected the text or the voice", .invalidResponse: "answered with something else than speech",
        .disconnected: "did not finish",
    ]

    private func synthesizer(of provider: String) -> (any SpeechSynthesizer)? {
        guard providers.contains(where: { $0.name == provider }) else { return nil }
        guard provider == SpeechProvider.embedded.name else { return server }
        return embedded.withLock { embedded in
            if let embedded { return embedded }
            let loaded = EmbeddedSynthesizer(models: models)
            embedded = loaded
            return loaded
        }
    }

    private static func speak(
        _ text: String, in language: String, _ voice: String, _ synthesizer: any SpeechSynthesizer,
        _ report: @escaping @Sendable (Int) -> Void
    ) async throws -> GeneratedSpeech {
        var splitter = SentenceSplitter()
        let sentences = splitter.append(text) + splitter.finish()
        let estimate = Mutex(SpeechProgress(of: sentences))
        let began = ContinuousClock.now
        let note = { @Sendable (change: (inout SpeechProgress, Duration) -> Void) in
            report(
                estimate.withLock { estimate in
                    let elapsed = ContinuousClock.now - began
                    change(&estimate, elapsed)
                    return estimate.percent(at: elapsed)
                })
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    try await Task.sleep(for: estimateInterval)
                    note { _, _ in }
                }
            }
            defer { group.cancelAll() }
            var samples: [Int16] = []
            // Nil once a sentence has no word times.
            var words: [SpokenWord]? = []
            for sentence in sentences {
                let start = samples.count * 1_000 / sampleRate
                var sound: PCMBuffer?
                let text = SpokenText(sentence, language: language)
                var times = SpokenWordTimes(text)
                // Marks alone are spoken as they are, because a clip has audio.
                for try await spoken in synthesizer.synthesize(text.isSilent ? sentence : text.text, voice: voice) {
                    let piece = times.written(spoken)
                    sound = PCMBuffer(samples: (sound?.samples ?? []) + piece.samples, sampleRate: piece.sampleRate)
                    words = piece.words.flatMap { new in words.map { $0 + new.map { SpokenWord($0, after: start) } } }
                    let duration = sound?.duration ?? .zero
                    note { estimate, _ in estimate.received(duration) }
                }
                let rest = times.rest?.words ?? []
                words = words.map { $0 + rest.map { SpokenWord($0, after: start) } }
                samples += try sound?.resampled(to: sampleRate).samples ?? []
                note { estimate, elapsed in estimate.finishSentence(at: elapsed) }
            }
            return GeneratedSpeech(samples: samples, sampleRate: sampleRate, words: words)
        }
    }
}

extension SpokenWord {
    fileprivate init(_ word: TimedWord, after start: Int) {
        self.init(word.text, startMs: start + Int(word.start.inMilliseconds), endMs: start + Int(word.end.inMilliseconds))
    }
}

/// A server that implements OpenAI's `POST /audio/speech`, as configured by the settings `speech.…`.
struct SpeechServer: Sendable {
    /// Timeout for the beginning of the response, including retries, and for each pause within it. In milliseconds.
    private static let timeoutMs = 30_000

    var provider: SpeechProvider
    var synthesizer: OpenAISynthesizer

    /// - Throws: `ProviderError` with a message that names the setting to correct.
    init(name: String, voices: [String], url: String, model: String, key: String?) throws(ProviderError) {
        provider = SpeechProvider(name: name, voices: voices)
        // Assistants' definitions cannot refer to this secret, because it is only in this process.
        let secret = "speech.api_key"
        let settings = ProviderSettings(baseUrl: url, apiKeyEnv: key == nil ? nil : secret, model: model, timeoutMs: Self.timeoutMs)
        synthesizer = try OpenAISynthesizer(settings, secrets: key.map { [secret: $0] } ?? [:])
    }
}

/// Estimates the spoken part of a text: from finished sentences, and within a sentence from its audio so far or, if that arrives in one
/// piece, from the time that earlier sentences took. Deterministic.
struct SpeechProgress {
    /// Initial estimates until the first sentence is finished: the duration of its audio, and the time to generate it.
    private static let audioPerCharacter = Duration.milliseconds(65)
    private static let timePerCharacter = Duration.milliseconds(15)
    /// The maximum progress within a sentence before it is finished.
    private static let fractionMax = 0.95

    /// The lengths of the unfinished sentences in characters.
    private var lengths: ArraySlice<Int>
    private let total: Int
    private var finished = 0
    private var finishedAudio = Duration.zero
    private var finishedTime = Duration.zero
    /// The duration of the current sentence's audio.
    private var audio = Duration.zero

    init(of sentences: [String]) {
        lengths = sentences.map(\.count)[...]
        total = max(lengths.reduce(0, +), 1)
    }

    /// - Parameter audio: the duration of the current sentence's audio so far.
    mutating func received(_ audio: Duration) { self.audio = audio }

    /// - Parameter time: the time since the beginning.
    mutating func finishSentence(at time: Duration) {
        finished += lengths.popFirst() ?? 0
        finishedAudio += audio
        finishedTime = time
        audio = .zero
    }

    /// - Parameter time: the time since the beginning.
    func percent(at time: Duration) -> Int {
        guard let length = lengths.first else { return 100 }
        let expected = (
            audio: finishedAudio > .zero ? finishedAudio / finished : Self.audioPerCharacter,
            time: finishedTime > .zero ? finishedTime / finished : Self.timePerCharacter
        )
        let fraction = max(audio / (expected.audio * length), (time - finishedTime) / (expected.time * length))
        return Int(100 * (Double(finished) + min(max(fraction, 0), Self.fractionMax) * Double(length)) / Double(total))
    }
}
