import Audio
import Backend
import PatchbayAgents
import PatchbayClient
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
        // Nil as soon as a sentence has no word times.
        var words: [SpokenWord]? = []
        for (index, sentence) in sentences.enumerated() {
            let start = samples.count * 1_000 / Self.sampleRate
            var sound: PCMBuffer?
            for try await piece in synthesizer.synthesize(sentence, voice: voice) {
                sound = PCMBuffer(samples: (sound?.samples ?? []) + piece.samples, sampleRate: piece.sampleRate)
                words = piece.words.flatMap { new in
                    words.map { known in
                        known
                            + new.map {
                                SpokenWord(
                                    $0.text, startMs: start + Int($0.start.inMilliseconds), endMs: start + Int($0.end.inMilliseconds))
                            }
                    }
                }
            }
            samples += try sound?.resampled(to: Self.sampleRate).samples ?? []
            progress((index + 1) * 100 / sentences.count)
        }
        return GeneratedSpeech(samples: samples, sampleRate: Self.sampleRate, words: words)
    }

    private static let sampleRate = 48_000
}

/// Plays clips into rooms of this process's gateway, through its own port.
final class RoomClipPlayer: ClipPlayer {
    private struct NotListening: Error {}

    private let url = Mutex<String?>(nil)

    /// Call once the gateway's port is bound.
    ///
    /// - Parameter host: the numeric address that the gateway listens on.
    func connect(toHost host: String, port: Int) {
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host
        url.withLock { $0 = "wss://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
    }

    func play(_ file: [UInt8], token: String, started: @escaping @Sendable () -> Void) async throws {
        guard let url = url.withLock({ $0 }) else { throw NotListening() }
        // The certificate is for the public name. This process listens at the address, so nobody else can answer there.
        let options = RoomOptions(trust: .anybody, autoSubscribe: false, reconnect: .never)
        try await RoomConnection.play(file, url: url, token: token, options: options, started: started)
    }
}
