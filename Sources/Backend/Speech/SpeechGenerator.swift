package import Store

/// Converts a whole text to speech, for clips. Thread-safe.
package protocol SpeechGenerator: Sendable {
    /// Speaks a text of at most `SpeechService.textBytesMax` bytes.
    ///
    /// Must return soon after its task is cancelled.
    ///
    /// - Parameters:
    ///   - voice: a product voice, or a name that the provider defines.
    ///   - provider: `embedded`, or a name that the generator defines.
    ///   - progress: call with 0 to 100 as parts become available; from any thread.
    /// - Throws: `SpeechGenerationError`. Any other error counts as one that may pass.
    func generate(
        _ text: String, voice: String, provider: String, progress: @escaping @Sendable (_ percent: Int) -> Void
    ) async throws -> GeneratedSpeech
}

/// The audio of a text.
package struct GeneratedSpeech: Sendable {
    /// Mono.
    package var samples: [Int16]
    /// Hz.
    package var sampleRate: Int
    /// Nil if the provider has no word times.
    package var words: [SpokenWord]?

    package init(samples: [Int16], sampleRate: Int, words: [SpokenWord]? = nil) {
        self.samples = samples
        self.sampleRate = sampleRate
        self.words = words
    }
}

/// Why a text could not be spoken.
package struct SpeechGenerationError: Error, Sendable, Hashable {
    /// For the requester. Contains nothing of the text.
    package var message: String
    /// Whether another attempt may succeed.
    package var isRetryable: Bool

    package init(_ message: String, isRetryable: Bool) {
        self.message = message
        self.isRetryable = isRetryable
    }
}
