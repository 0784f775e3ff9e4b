public import Wire

/// Converts speech to text. Thread-safe: one instance serves all calls of a process.
public protocol SpeechRecognizer: Sendable {
    /// Recognizes a segment of speech.
    ///
    /// The pipeline calls this several times for one utterance: while the user speaks, for partial results of the audio so far, and at its
    /// end. Each call is independent. Cancelling the reading task abandons the request.
    ///
    /// - Returns: results in the order of their revision; the last one is final. The stream throws `ProviderError`.
    func recognize(_ segment: SpeechSegment) -> AsyncThrowingStream<Recognition, any Error>
}

/// A segment of a user's speech.
public struct SpeechSegment: Sendable {
    public static let sampleRate = 16_000

    /// 16 kHz, mono, −1 to 1.
    public var samples: [Float]
    /// When the segment began; the same for every request about one utterance.
    public var start: Instant
    /// BCP 47 tag of the expected language; empty if unknown.
    public var language: String
    /// Whether the user may still be speaking: a result is needed soon, but only a partial one.
    public var isPartial: Bool

    public init(samples: [Float], start: Instant, language: String = "", isPartial: Bool = false) {
        self.samples = samples
        self.start = start
        self.language = language
        self.isPartial = isPartial
    }

    public var duration: Duration { .nanoseconds(Int64(samples.count) * 1_000_000_000 / Int64(Self.sampleRate)) }
}

/// The result of a recognition.
public struct Recognition: Sendable, Hashable {
    /// Empty if there was no speech in the segment.
    public var text: String
    public var isFinal: Bool
    /// BCP 47 tag; empty if unknown.
    public var language: String

    public init(text: String, isFinal: Bool = true, language: String = "") {
        self.text = text
        self.isFinal = isFinal
        self.language = language
    }
}

/// A spoken word and its time.
public struct TimedWord: Sendable, Hashable, Codable {
    /// As written in the text, with or without its punctuation.
    public var text: String
    /// Relative to the beginning of the audio.
    public var start: Duration
    public var end: Duration

    public init(_ text: String, start: Duration, end: Duration) {
        self.text = text
        self.start = start
        self.end = end
    }
}

/// Detects speech in a stream of PCM at 16 kHz, mono.
///
/// An instance keeps the state of one track and belongs to one task; `VoiceActivityDetectorFactory` makes one for each track.
public protocol VoiceActivityDetector: AnyObject {
    /// Samples per window at 16 kHz, 512 (32 ms) for Silero.
    var windowSize: Int { get }

    /// The probability, 0 to 1, that `window` contains speech.
    ///
    /// - Parameter window: the next `windowSize` samples, −1 to 1.
    /// - Throws: `ProviderError`.
    func probability(of window: [Float]) throws -> Float
}

/// Makes a detector for each track. Thread-safe.
public protocol VoiceActivityDetectorFactory: Sendable {
    /// - Throws: `ProviderError` if the model cannot be loaded.
    func makeDetector() throws -> any VoiceActivityDetector
}

/// Judges by its sound whether a speaker has finished. Thread-safe: one instance serves all calls of a process.
public protocol TurnDetector: Sendable {
    /// The probability, 0 to 1, that the speaker has finished, for which tens of milliseconds are spent.
    ///
    /// - Parameter samples: the utterance so far, or its end, with the first tenth of a second of the pause after it; 16 kHz, mono, −1 to 1.
    /// - Throws: `ProviderError`.
    func probabilityOfEnd(of samples: [Float]) async throws -> Float
}

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

    var duration: Duration { .nanoseconds(Int64(samples.count) * 1_000_000_000 / Int64(max(sampleRate, 1))) }
}
