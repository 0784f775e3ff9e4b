import Audio
import Backend
import PatchbayAgents
import Store
import Synchronization
import Wire

/// Generates speech clips with the embedded synthesizer, which is loaded with the first clip.
final class EmbeddedSpeechGenerator: SpeechGenerator {
    private let models: ModelsFolder
    private let synthesizer = Mutex<EmbeddedSynthesizer?>(nil)

    /// - Returns: nil if the models are not installed.
    init?(models: ModelsFolder = .standard) {
        guard models.problem == nil else { return nil }
        self.models = models
    }

    func generate(
        _ text: String, voice: String, provider: String, progress: @escaping @Sendable (_ percent: Int) -> Void
    ) async throws -> GeneratedSpeech {
        guard provider == "embedded" else { throw SpeechGenerationError("there is no provider \(provider)", isRetryable: false) }
        let synthesizer = synthesizer.withLock { synthesizer in
            if let synthesizer { return synthesizer }
            let loaded = EmbeddedSynthesizer(models: models)
            synthesizer = loaded
            return loaded
        }
        var splitter = SentenceSplitter()
        let sentences = splitter.append(text) + splitter.finish()
        var samples: [Int16] = []
        var words: [SpokenWord] = []
        for (index, sentence) in sentences.enumerated() {
            let start = samples.count
            for try await piece in synthesizer.synthesize(sentence, voice: voice) {
                samples += try PCMBuffer(samples: piece.samples, sampleRate: piece.sampleRate).resampled(to: Self.sampleRate).samples
                words += (piece.words ?? []).map { word in
                    let offset = start * 1_000 / Self.sampleRate
                    return SpokenWord(
                        word.text, startMs: offset + Int(word.start.inMilliseconds), endMs: offset + Int(word.end.inMilliseconds))
                }
            }
            progress((index + 1) * 100 / sentences.count)
        }
        return GeneratedSpeech(samples: samples, sampleRate: Self.sampleRate, words: words.isEmpty ? nil : words)
    }

    private static let sampleRate = 48_000
}
