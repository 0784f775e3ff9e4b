internal import Dispatch

/// The turn detector smart-turn v3.2, a model for many languages.
///
/// A judgement takes about 35 ms of CPU time. Judgements wait for one another on a queue of their own, so that they never occupy the threads of
/// Swift's concurrency; the queue is bounded by the calls of the process, each of which has one utterance per user.
public final class SmartTurnDetector: TurnDetector {
    /// The model hears 8 s.
    static let samplesMax = 8 * SpeechSegment.sampleRate

    private let features: ONNXSession
    private let model: ONNXSession
    private let queue = DispatchQueue(label: "patchbay.turn-detector")

    /// Loads the model, about 0.1 s.
    ///
    /// - Throws: `ProviderError` with code `unavailable`.
    public init(models: ModelsFolder = .standard) throws {
        try models.require(.turnDetector)
        let runtime = try ONNXRuntime.shared(models)
        features = try ONNXSession(models.turnFeatures, runtime: runtime, inputs: ["audio"], outputs: ["input_features"])
        model = try ONNXSession(models.turnModel, runtime: runtime, inputs: ["input_features"], outputs: ["logits"])
    }

    public func probabilityOfEnd(of samples: [Float]) async throws -> Float {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Result { try probability(samples) }) }
        }
    }

    private func probability(_ samples: [Float]) throws -> Float {
        // Silence precedes shorter utterances. A single value that is not a number would make the result so.
        let speech = samples.suffix(Self.samplesMax).map { $0.isFinite ? min(max($0, -1), 1) : 0 }
        let audio = [Float](repeating: 0, count: Self.samplesMax - speech.count) + speech
        let spectrogram = try features.run([.float(audio, shape: [1, 1, Int64(Self.samplesMax)])])[0]
        let result = try model.run([.float(spectrogram, shape: [1, 80, 800])])[0]
        guard let probability = result.first, probability.isFinite else {
            throw ProviderError(.invalidResponse, "The turn detector returned no result.")
        }
        return min(max(probability, 0), 1)
    }
}
