/// Converts text to speech. Thread-safe: one instance serves all calls of a process.
public protocol SpeechSynthesizer: Sendable {
    /// Speaks a text of one or a few sentences.
    ///
    /// Several texts may be in progress at once. Cancelling the reading task abandons the request.
    ///
    /// - Parameter voice: a product voice (`alloy`, `echo`, `fable`, `onyx`, `nova`, `shimmer`) or a name that the provider defines.
    /// - Returns: audio in order, in pieces as they become available. The stream throws `ProviderError`.
    func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error>
}

/// A piece of synthesized speech.
public struct SynthesizedSpeech: Sendable, Hashable {
    /// Mono.
    public var samples: [Int16]
    /// Hz; the same in all pieces of a text.
    public var sampleRate: Int
    /// The words that begin in this piece, with times relative to the beginning of the text's audio; nil if the provider has no word times.
    public var words: [TimedWord]?
    /// Spoken by a simpler voice because the intended one failed. Not kept for later calls.
    public var isFallback: Bool

    public init(samples: [Int16], sampleRate: Int, words: [TimedWord]? = nil, isFallback: Bool = false) {
        self.samples = samples
        self.sampleRate = sampleRate
        self.words = words
        self.isFallback = isFallback
    }
}
