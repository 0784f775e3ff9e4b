import Audio
import Backend
import Logging
import PatchbayAgents
import Store
import Synchronization
import Wire

/// Generates speech clips with the embedded synthesizer, which is loaded with the first clip, and with a server of the configuration.
final class ClipGenerator: SpeechGenerator {
    private static let sampleRate = 48_000
    /// How often progress is estimated within a sentence.
    private static let estimateInterval = Duration.milliseconds(250)

    let providers: [SpeechProvider]
    private let models: ModelsFolder
    private let server: (any SpeechSynthesizer)?
    private let embedded = Mutex<EmbeddedSynthesizer?>(nil)
    private let log = Logger(label: "patchbay.speech")

    /// - Parameter server: another provider, beside the embedded one.
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
            // A clip that was queued under another configuration.
            throw SpeechGenerationError("the provider is no longer configured", isRetryable: false)
        }
        do {
            return try await Self.speak(text, voice, synthesizer, progress)
        } catch let error as ProviderError {
            log.warning("a speech provider failed", metadata: ["provider": "\(provider)", "error": "\(error)"])
            throw SpeechGenerationError("the speech provider \(Self.faults[error.code] ?? "failed")", isRetryable: error.isRetryable)
        }
    }

    /// For requesters, who need not know the server.
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
        _ text: String, _ voice: String, _ synthesizer: any SpeechSynthesizer, _ report: @escaping @Sendable (Int) -> Void
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
            // Nil as soon as a sentence has no word times.
            var words: [SpokenWord]? = []
            for sentence in sentences {
                let start = samples.count * 1_000 / sampleRate
                var sound: PCMBuffer?
                for try await piece in synthesizer.synthesize(sentence, voice: voice) {
                    sound = PCMBuffer(samples: (sound?.samples ?? []) + piece.samples, sampleRate: piece.sampleRate)
                    words = piece.words.flatMap { new in words.map { $0 + new.map { SpokenWord($0, after: start) } } }
                    let duration = sound?.duration ?? .zero
                    note { estimate, _ in estimate.received(duration) }
                }
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

/// A server with OpenAI's `POST /audio/speech`, as the settings `speech.…` describe it.
struct SpeechServer: Sendable {
    /// Until the answer begins, with all repetitions, and the longest pause within it. In milliseconds.
    private static let timeoutMs = 30_000

    var provider: SpeechProvider
    var synthesizer: OpenAISynthesizer

    /// - Throws: `ProviderError` whose message names the setting to correct.
    init(name: String, voices: [String], url: String, model: String, key: String?) throws(ProviderError) {
        provider = SpeechProvider(name: name, voices: voices)
        // Definitions of assistants cannot name this secret: an agent's process has others.
        let secret = "speech.api_key"
        let settings = ProviderSettings(baseUrl: url, apiKeyEnv: key == nil ? nil : secret, model: model, timeoutMs: Self.timeoutMs)
        synthesizer = try OpenAISynthesizer(settings, secrets: key.map { [secret: $0] } ?? [:])
    }
}

/// Estimates how much of a text has been spoken: by sentences that are finished, within a sentence by its audio so far, and where that comes as
/// a whole, by the time that earlier sentences took. Deterministic.
struct SpeechProgress {
    /// Assumed until the first sentence is finished: of audio, and of the time to make it.
    private static let audioPerCharacter = Duration.milliseconds(65)
    private static let timePerCharacter = Duration.milliseconds(15)
    /// A sentence is not complete before it is finished.
    private static let fractionMax = 0.95

    /// In characters, of each sentence that is not finished.
    private var lengths: ArraySlice<Int>
    private let total: Int
    private var finished = 0
    private var finishedAudio = Duration.zero
    private var finishedTime = Duration.zero
    /// Of the current sentence.
    private var audio = Duration.zero

    init(of sentences: [String]) {
        lengths = sentences.map(\.count)[...]
        total = max(lengths.reduce(0, +), 1)
    }

    /// - Parameter audio: of the current sentence so far.
    mutating func received(_ audio: Duration) { self.audio = audio }

    /// - Parameter time: since the beginning.
    mutating func finishSentence(at time: Duration) {
        finished += lengths.popFirst() ?? 0
        finishedAudio += audio
        finishedTime = time
        audio = .zero
    }

    /// - Parameter time: since the beginning.
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
